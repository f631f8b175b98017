// Package scan reads JSON where it lies, without parsing it into values.
//
// The data plane needs four things of a body or an event: is it JSON, what do
// a few members say, where do their bytes lie, and how can one of them be
// replaced with everything else untouched. So:
//
//	err := scan.Object(body, func(key, value []byte, at int) bool { ... })
//	name, err := scan.String(value)
//	out := scan.Splice(nil, body, scan.Replace(at, len(value), scan.AppendString(nil, "deepseek-v3")))
//
// [Cursor] walks a document once, forwards, and is what the rest is made of. It
// agrees with encoding/json about what is valid (fuzzed), never allocates, and
// never writes to its input; everything that it hands out is a sub-slice of the
// input, or, for a key with escapes, a copy.
//
// Where a member occurs twice the last one counts, as with encoding/json: Object
// visits both, in order, and a visitor that keeps the last does right.
//
// It is not a decoder: numbers and nested values stay bytes.
package scan
