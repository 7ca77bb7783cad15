package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

var recStart = time.Date(2030, time.March, 1, 12, 0, 0, 0, time.UTC)

const recMost = 1 - 1.0/(1<<53) // the largest number that a random source draws

// recFloats are numbers that no random source should draw.
var recFloats = []float64{-1, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}

// recDraws is a random source that draws r every time.
func recDraws(r float64) func() float64 { return func() float64 { return r } }

// recSteps is a Flow with the clock that it lives by.
type recSteps struct {
	t    *testing.T
	flow retry.Flow
	now  time.Time
}

func newRecSteps(t *testing.T, opts ...retry.Option) *recSteps {
	t.Helper()
	policy, err := retry.New(opts...)
	require.NoError(t, err)
	return &recSteps{t: t, flow: policy.Begin(recStart, time.Time{}, nil), now: recStart}
}

// next wants the flow to Go.
func (s *recSteps) next() *recSteps {
	s.t.Helper()
	require.Equal(s.t, retry.Step{Action: retry.Go}, s.flow.Next(s.t.Context(), s.now))
	return s
}

// fails lets an attempt take a time and fail with o.
func (s *recSteps) reports(after time.Duration, o throttle.Outcome) retry.Step {
	s.t.Helper()
	s.now = s.now.Add(after)
	return s.flow.Report(s.t.Context(), s.now, o)
}

// fails makes an attempt that fails with err at once, and lets the wait after it pass.
func (s *recSteps) fails(err error) retry.Step {
	s.t.Helper()
	step := s.next().reports(0, throttle.Outcome{Err: err})
	if step.Action == retry.Wait {
		s.now = s.now.Add(step.Delay)
	}
	return step
}

// exhausts makes attempts that fail at once until the flow is done, at most 100. It returns the waits between them.
func (s *recSteps) exhausts() (waits []time.Duration, end retry.Step) {
	s.t.Helper()
	for range 100 {
		if end = s.fails(errRec); end.Action == retry.Done {
			return waits, end
		}
		waits = append(waits, end.Delay)
	}
	return waits, end
}

// recWaits returns the waits of a call that keeps failing, and its end.
func recWaits(t *testing.T, opts ...retry.Option) ([]time.Duration, retry.Step) {
	t.Helper()
	return newRecSteps(t, opts...).exhausts()
}
