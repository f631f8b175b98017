// Package recording keeps what a console would have shown around a drill or an
// incident, and plays it back.
//
// Use, to record: one [Recorder] watches an engine's Control for as long as it
// runs and holds the last seconds in memory, so that a recording begins before
// what it is about. A recording is begun and ended by the id of its drill:
//
//	rec := recording.NewRecorder(hub, dir, warn)
//	go rec.Run(ctx)
//	path, err := rec.Begin(id) // with the 15 s before
//	...
//	rec.End(id)                // goes on for 10 s, then closes the file
//
// [Create] gives a [Writer] alone, for those who have the updates.
//
// Use, to play back: [Open] returns a [Player], which is a [control.Control] as any
// other, so that the same console shows it, and a [control.Player] to move in it.
// It needs no engine and no network, and refuses every command.
//
// A recording is ID.rec.gz beside the record: gzip over a JSON document a line,
// a head first, then {"t_ms", "snapshot", "events"}. What one snapshot has in
// common with the one before it costs next to nothing so. It is flushed every
// second: a process that is killed leaves what it had written, and that is read.
// It is bounded: four snapshots a second for ten minutes, then one, after an hour
// one in five seconds, and at most 256 MiB before compression. The recordings in
// a directory are bounded too, the oldest go first.
//
// A recording is no evidence: it is in no chain, and the record holds the figures.
package recording
