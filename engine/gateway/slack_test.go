//go:build !race

package gateway

// slack stretches the clocks of the tests.
const slack = 1
