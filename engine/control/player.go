package control

import "time"

// Player is a Control whose state comes from a recording: what a console needs
// to move in it.
type Player interface {
	// Play sets the speed, 0 (paused) to 20 times.
	Play(speed float64)
	// Seek moves to a moment after the beginning of the recording.
	Seek(to time.Duration)
	// Position is where the recording stands.
	Position() Position
}

// Position is where a recording stands.
type Position struct {
	Name   string        // id of the drill or incident
	At     time.Duration // since the beginning
	Length time.Duration
	Speed  float64 // 0: paused
}
