//go:build slow

package retrysim_test

// How many trials the tables are simulated with: those of the published figures. They take about a minute.
const (
	occTrials      = 500
	chanceTrials   = 20
	collapseTrials = 300
	outageSeeds    = 5
)
