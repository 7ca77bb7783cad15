package throttle_test

import (
	"math"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ms      = time.Millisecond
	sec     = time.Second
	longest = time.Duration(math.MaxInt64)
)

// t0 is where a virtual clock may well start. It has no monotonic reading.
var t0 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// always draws u.
func always(u float64) func() float64 { return func() float64 { return u } }

// undrawn fails the test if it is asked for a number.
func undrawn(t *testing.T) func() float64 {
	return func() float64 {
		t.Helper()
		t.Error("drew a number that cannot matter")
		return 0
	}
}
