// Package release says how callers that a cool-down held back are let go.
package release

import "time"

// Spread is the default of Window's spread.
const Spread = time.Second

// Window returns how long the release after a cool-down takes: a tenth of its length, at most spread. A spread of 0 is
// Spread; below 0, all callers are let go at once.
func Window(length, spread time.Duration) time.Duration {
	if spread == 0 {
		spread = Spread
	}
	return min(length/10, max(spread, 0))
}
