package pool_test

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
