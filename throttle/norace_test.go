//go:build !race

package throttle_test

// loadCalls is how many calls the tests of amplification make.
const loadCalls = 100_000
