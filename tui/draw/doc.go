// Package draw turns what the console knows into lines of text.
//
// Every renderer is a pure function of (data, width, height, look) and gives
// exactly height lines of exactly width cells, whatever the data; texts that
// come from elsewhere lose their control characters on the way. A [Look] is
// the theme and the language.
//
// The package holds no state and reads no clock: what moves, the caller
// passes in.
package draw
