package retrysim_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

const ms = time.Millisecond

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent"))
} // which js/wasm has

// policy makes a policy anew whenever it is asked.
func policy(o ...retry.Option) func(retrysim.Client) *retry.Policy {
	return func(retrysim.Client) *retry.Policy { return retry.MustNew(o...) }
}

// with is policy, with a budget made anew each time, which is watched.
func with(budget func() throttle.Budget, o ...retry.Option) func(retrysim.Client) *retry.Policy {
	return func(c retrysim.Client) *retry.Policy {
		return retry.MustNew(append(o[:len(o):len(o)], retry.WithBudget(&settled{inner: c.Watch(budget())}))...)
	}
}

var atOnce = retry.WithStrategy(strategy.Constant{})

// settled counts what a budget is told, so that a test can see whether all that it gave came back.
type settled struct {
	inner           throttle.Budget
	started, ended  int
	given, returned int
}

func (s *settled) Start(now time.Time) { s.started++; s.inner.Start(now) }
func (s *settled) Charge(now time.Time, c throttle.Class, held int, last bool) (int, bool) {
	cost, ok := s.inner.Charge(now, c, held, last)
	s.given += cost - held
	return cost, ok
}
func (s *settled) Settle(now time.Time, success bool, held int) {
	s.ended++
	s.returned += held
	s.inner.Settle(now, success, held)
}

// run simulates, and requires that there is no problem.
func run(t *testing.T, s retrysim.Scenario, seed uint64, trials int, c ...retrysim.Contender) *retrysim.Report {
	t.Helper()
	r, err := retrysim.Run(t.Context(), s, seed, trials, c...)
	require.NoError(t, err)
	for i := range r.Results {
		for _, m := range retrysim.Metrics() {
			require.False(t, math.IsNaN(r.Results[i].Value(m)), "%s: %s", r.Results[i].Name, m.Name)
		}
	}
	return r
}

func metric(t *testing.T, name string) retrysim.Metric {
	t.Helper()
	m, ok := retrysim.MetricOf(name)
	require.True(t, ok, name)
	return m
}

func value(t *testing.T, r *retrysim.Report, contender, name string) float64 {
	t.Helper()
	one, ok := r.Result(contender)
	require.True(t, ok, contender)
	return one.Value(metric(t, name))
}

// within4 requires that two means are no further apart than four standard errors of their difference. least is the smallest error
// that counts: published figures are rounded.
func within4(t *testing.T, what string, mean, err, want, wantErr, least float64) {
	t.Helper()
	if off := math.Abs(mean-want) / max(math.Hypot(err, wantErr), least); off > 4 {
		t.Errorf("%s: %.4g±%.2g, published %.4g±%.2g: %.1f standard errors apart", what, mean, err, want, wantErr, off)
	}
}

func meanOf(values []float64) (mean, err float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		err += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(err / float64(len(values)-1) / float64(len(values)))
}

type published struct {
	Occ []struct {
		Clients   int
		Policy    string
		Calls, Ms [2]float64
	}
	Chance []struct {
		P                           float64
		None, Four, Bucket, Breaker [2]float64
	}
	Closed []struct {
		P          float64
		FirstTries int `json:"first_tries"`
	}
	Collapse struct {
		Seconds []int
		Rows    []struct {
			Load        string
			Backoff     bool
			Ends        [][2]float64
			Tail, Share [2]float64
		}
	}
}

func readPublished(t *testing.T) (p published) {
	t.Helper()
	data, err := os.ReadFile("testdata/published.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &p))
	return p
}
