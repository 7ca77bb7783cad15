//go:build race

package throttle_test

// loadCalls is how many calls the tests of amplification make: with the race detector fewer, for time.
const loadCalls = 20_000
