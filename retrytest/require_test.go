package retrytest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

func TestRequire(t *testing.T) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	op := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Err: errDown}, {Value: 1}, {Times: retrytest.Forever}})
	_, err := retry.Do(t.Context(), op.Do, retry.WithClock(clk), seconds, retry.WithObserver(rec))
	require.NoError(t, err)
	course := "\ncall\n  0s: attempt 1: down\n  0s: wait 1s (policy)\n  1s: attempt 2: success\n  1s: ended: success"

	for _, tc := range []struct {
		name    string
		require func(t testing.TB)
		want    string // "": passes
	}{
		{"waits", func(t testing.TB) { clk.RequireWaits(t, time.Second) }, ""},
		{"waits/other", func(t testing.TB) { clk.RequireWaits(t, 2*time.Second) }, "waits: got [1s], want [2s]"},
		{"waits/none", func(t testing.TB) { clk.RequireWaits(t) }, "waits: got [1s], want []"},
		{"elapsed", func(t testing.TB) { clk.RequireElapsed(t, time.Second) }, ""},
		{"elapsed/other", func(t testing.TB) { clk.RequireElapsed(t, 0) }, "elapsed: got 1s, want 0s"},
		{"calls", func(t testing.TB) { op.RequireCalls(t, 2) }, ""},
		{"calls/other", func(t testing.TB) { op.RequireCalls(t, 3) }, "calls: got 2, want 3"},
		{"done", func(t testing.TB) { op.RequireDone(t) }, "calls: got 2, and the script goes on for 3"},
		{"attempts", func(t testing.TB) { rec.RequireAttempts(t, 2) }, ""},
		{"attempts/other", func(t testing.TB) { rec.RequireAttempts(t, 1) }, "attempts: got 2, want 1" + course},
		{"delays", func(t testing.TB) { rec.RequireDelays(t, time.Second) }, ""},
		{"delays/other", func(t testing.TB) { rec.RequireDelays(t) }, "delays: got [1s], want []" + course},
		{"ending", func(t testing.TB) { rec.RequireEnding(t, retry.EndSucceeded) }, ""},
		{"ending/other", func(t testing.TB) { rec.RequireEnding(t, retry.EndBudget) }, "endings: got [success], want [budget]" + course},
		{"errors", func(t testing.TB) { rec.RequireErrors(t, errDown, nil) }, ""},
		{"errors/few", func(t testing.TB) { rec.RequireErrors(t, errDown) }, `errors: got ["down" success], want ["down"]` + course},
		{"errors/other", func(t testing.TB) { rec.RequireErrors(t, nil, nil) }, `errors: got ["down" success], want [success success]` + course},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, failure(tc.require)) })
	}
}

func TestRequireNothing(t *testing.T) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	clk.RequireWaits(t)
	clk.RequireElapsed(t, 0)
	rec.RequireAttempts(t, 0)
	rec.RequireDelays(t)
	rec.RequireEnding(t)
	rec.RequireErrors(t)
	retrytest.NewScript[int](t, clk, nil).RequireDone(t)
}
