// Package store keeps in a SQLite file what outlives a run of baton: the weights
// as they stood, what people have set (pins, drains, limits, manual failover), what
// was learned of vendors, and the journal.
//
// Use: [Open] before anything else, give what it returns to the Hub and the
// engine, start [Store.Run], and hand it each event with [Store.Event].
//
// What it promises:
//  1. Nobody waits for the disk: Event only appends to a list in memory, and Run
//     writes twice a second, in one transaction, what has changed.
//  2. A process that is killed at any moment loses at most the last second and
//     leaves a sound file (a write-ahead log, where a transaction counts from its
//     last frame on). A machine that loses power loses no more, because every
//     commit is synced (synchronous=FULL). The NORMAL level would save that sync
//     and lose what came since the last checkpoint; with two commits a second at
//     most, and none at rest, the sync is cheap.
//  3. What cannot be written (a disk full or read-only, a directory that is gone)
//     is kept in memory, with one alert, and tried again every 5 s; then
//     everything is written that is still of use, and the alert ends.
//  4. A file that is corrupt, or none of ours, is set aside under another name,
//     never removed, and a new one begun.
//  5. An older file is brought forward, each version in a transaction of its own;
//     a newer one is refused ([NewerError]).
//  6. The journal keeps 30 days and 200,000 events, whichever is less. Numbers of
//     events never go back, not even after a crash that lost some: a run that did
//     not end well is followed by a gap.
//  7. The ledger takes attempts with [Store.Attempt], prices and rolls them up
//     apart from whoever made them, and writes them with the rest: the same second
//     at most is lost. A batch carries a name that is written with it, so that one
//     whose commit only seemed to fail is not counted twice. What memory has no room
//     for while nothing can be written is single attempts; sums are never dropped.
//
// The file belongs to one process, which holds the state directory's lock. It is
// opened in exclusive mode: the index of the log then lives in the heap, not in a
// mapped file whose loss would be a bus error. Mode 0600; nothing secret is in it.
//
// What went to vendors past the engine (a stress test) comes in by files
// ([WriteSpending]). It is no history of drills: that keeps files of its own.
package store
