//go:build race

package tui

const raced = true // the race detector allocates too
