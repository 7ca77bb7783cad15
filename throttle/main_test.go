package throttle_test

import (
	"math"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry/internal/throttletest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ms      = time.Millisecond
	sec     = time.Second
	longest = time.Duration(math.MaxInt64)
)

// What the tests of more than one package need goes by short names here.
var (
	boom   = throttletest.Boom
	t0     = throttletest.Start
	told   = throttletest.Told
	always = throttletest.Always
	script = throttletest.Script
	ready  = throttletest.Ready
)

type (
	jumping  = throttletest.Clock
	nilError = throttletest.NilError
)

// undrawn fails the test if it is asked for a number.
func undrawn(t *testing.T) func() float64 {
	return func() float64 {
		t.Helper()
		t.Error("drew a number that cannot matter")
		return 0
	}
}
