//go:build !race

package engine

import "time"

// resting is how long the engine is at rest: with -v a whole day. Under the race
// detector fake time costs ten times as much.
const resting = 4 * time.Hour
