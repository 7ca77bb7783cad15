package hint_test

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
