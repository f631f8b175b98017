// Package chain makes a change to the records of drills show: each record carries
// the digest of the one before it and its own, and a file beside them, the chain,
// has a line for each, with the digests of its files.
//
// Use: [Append] gives a record that is closed its place, writes its files and
// enters them; [Verify] says which records have been changed, removed or
// inserted since. A record that is still open is written without it.
//
//	err := chain.Append(dir, report, func(r *control.Report) (map[string][]byte, error) {
//		doc, err := json.Marshal(r)
//		return map[string][]byte{r.ID + ".json": doc, r.ID + ".md": markdown(r)}, err
//	})
//	...
//	result, err := chain.Verify(dir)
//	for _, p := range result.Problems { fmt.Println(p) }
//
// The chain is the file chain.jsonl in their directory, a JSON document a line. A record that is
// appended again replaces its earlier version, and both are in the chain. Append
// may be called from several goroutines and processes.
//
// What it does not do: there is no key, so whoever may write the directory can
// make a whole new chain, or cut off its end, and nothing here can tell. For that,
// keep [Result.Head] somewhere else: in a ticket, in a mail. From a head that was
// kept, [Result.Knows] says whether everything up to it is still there.
package chain
