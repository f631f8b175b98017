// Package tui is baton's console: it shows snapshots of an engine and sends it
// commands, through a [control.Control] alone. Embedded in the engine's process
// and attached from elsewhere it is the same code.
//
// Use: [Run] takes the terminal until the operator leaves, the context ends or
// the terminal is gone, and says which; [Preview] renders one frame without a
// terminal.
//
// How it is built:
//  1. [Model] is the only bubbletea model; everything on the screen is a plain
//     struct of package draw, made anew for a frame and drawn as lines.
//  2. [Compute] places everything; drawing and hit tests use the same [Layout].
//  3. One goroutine ranges over Watch and leaves the newest state in an inbox;
//     a frame fetches it. Update does no IO: commands and questions run as
//     tea.Cmd with a deadline.
//  4. A frame has exactly as many lines as the terminal, each exactly as wide:
//     bubbletea would cut the top off otherwise.
//
// The package knows no engine, no HTTP and no files but the snapshots that
// ctrl+s writes.
package tui
