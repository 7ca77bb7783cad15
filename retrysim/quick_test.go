//go:build !slow

package retrysim_test

// How many trials the tables are simulated with. The tests with the tag slow take those of the published figures.
const (
	occTrials      = 40
	chanceTrials   = 3
	collapseTrials = 60
	outageSeeds    = 2
)
