//go:build !race

package condition_test

const raceEnabled = false
