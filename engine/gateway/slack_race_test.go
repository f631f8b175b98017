//go:build race

package gateway

// slack stretches the clocks of the tests: the race detector makes everything slow.
const slack = 4
