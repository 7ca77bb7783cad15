package strategy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// The vectors are in seconds, as floating-point numbers, and -1 is giving up. A case is met within 1 µs, or one part in ten
// million where that is more.

type pacerVector struct {
	ID, Algorithm string
	Args          map[string]float64
	Start         float64
	Tags          []string
	Events        []struct {
		Kind      string
		T         float64
		Want      float64
		WantFixed *float64 `json:"want_fixed"`
	}
}

func readVectors(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// secs is a Duration of s seconds.
func secs(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// moment is when the vectors' clock shows s.
func moment(s float64) time.Time { return time.Unix(0, int64(secs(s))) }

// args are the arguments of an algorithm, by their names there. What was not asked for is an error: see done.
type args struct {
	t    testing.TB
	from map[string]float64
	used int
	tiny int // zeros that are real
}

func (a *args) has(name string) bool { _, ok := a.from[name]; return ok }

func (a *args) number(name string) float64 {
	v, ok := a.from[name]
	if ok {
		a.used++
	}
	return v
}

func (a *args) span(name string) time.Duration { return secs(a.number(name)) }

// real is a span whose zero, if given, is a real one.
func (a *args) real(name string) time.Duration {
	if a.has(name) && a.from[name] == 0 {
		a.used++
		a.tiny++
		return 1
	}
	return a.span(name)
}

func (a *args) done() { require.Len(a.t, a.from, a.used, "arguments that the test does not know") }

// pacer is the Pacer of an algorithm's arguments.
func (a *args) pacer(algorithm string) *strategy.Pacer {
	return &strategy.Pacer{
		Strategy:            a.strategy(algorithm),
		DelayOnSuccess:      a.span("delay_on_success"),
		MinDelay:            a.span("min_delay"),
		MaxDelay:            a.real("max_delay"),
		JitterFactor:        a.number("jitter_factor"),
		MaxAttempts:         int(a.number("max_attempts")),
		MaxDuration:         a.span("max_actual_duration"),
		ConsiderActualDelay: a.number("consider_actual_delay") != 0,
	}
}

func (a *args) strategy(algorithm string) strategy.Strategy {
	switch algorithm {
	case "Constant":
		return strategy.Constant{Delay: a.span("delay")}
	case "Exponential":
		base, factor := a.real("initial_delay"), a.number("exponent_base")
		if factor > 0 && factor < 1 { // Exponential refuses that
			return strategy.Func(func(s strategy.State) (time.Duration, bool) {
				return secs(base.Seconds() * math.Pow(factor, float64(s.Number-1))), true
			})
		}
		return strategy.Exponential{Base: base, Factor: factor}
	case "Fibonacci":
		return strategy.Fibonacci{First: a.real("initial_delay1"), Second: a.real("initial_delay2")}
	case "LILD":
		return &strategy.LILD{
			Initial: a.real("initial_delay"), IncrementOnFailure: a.real("delay_increment_on_failure"), IncrementOnSuccess: a.real("delay_increment_on_success"),
		}
	case "LIMD":
		return &strategy.LIMD{
			Initial: a.real("initial_delay"), IncrementOnFailure: a.real("delay_increment_on_failure"), MultipleOnSuccess: a.number("delay_multiple_on_success"),
		}
	case "MILD":
		return &strategy.MILD{
			Initial: a.real("initial_delay"), MultipleOnFailure: a.number("delay_multiple_on_failure"), IncrementOnSuccess: a.real("delay_increment_on_success"),
		}
	case "MIMD":
		return &strategy.MIMD{
			Initial: a.real("initial_delay"), MultipleOnFailure: a.number("delay_multiple_on_failure"), MultipleOnSuccess: a.number("delay_multiple_on_success"),
		}
	}
	a.t.Fatalf("unknown algorithm %q", algorithm)
	return nil
}

// tell is one event of a vector; -1 is giving up.
func tell(p *strategy.Pacer, kind string, at float64) float64 {
	if kind == "success" {
		return p.Success(moment(at)).Seconds()
	}
	delay, ok := p.Failure(moment(at))
	if !ok {
		return -1
	}
	return delay.Seconds()
}

func near(t testing.TB, want, got float64, describe ...any) {
	t.Helper()
	require.InDelta(t, want, got, max(1e-6, 1e-7*math.Abs(want)), describe...)
}

func TestVectorsOfAlgorithmBackoff(t *testing.T) {
	var cases []pacerVector
	readVectors(t, "algorithm_backoff.json", &cases)
	events, fixed, tiny := 0, 0, 0
	for _, c := range cases {
		// compat is whether the case is to be met to the letter, quirks included.
		for _, compat := range []bool{false, true} {
			a := args{t: t, from: c.Args}
			p := a.pacer(c.Algorithm)
			a.done()
			p.Start, p.Compat010 = moment(c.Start), compat
			p.Rand = func() float64 { t.Error("drew a number"); return 0 }
			require.NoError(t, p.Validate(), c.ID)
			for i, e := range c.Events {
				want := e.Want
				if e.WantFixed != nil && !compat {
					want = *e.WantFixed
				}
				near(t, want, tell(p, e.Kind, e.T), "%s, event %d, compat %v", c.ID, i+1, compat)
			}
			if !compat {
				tiny += min(a.tiny, 1)
				continue
			}
			events += len(c.Events)
			if slices.Contains(c.Tags, "quirk-consider-actual-family") {
				fixed++
			}
		}
	}
	require.Len(t, cases, 163)
	require.Equal(t, []int{1360, 23, 5}, []int{events, fixed, tiny}, "events, cases with a quirk, cases with a real zero")
}

func TestVectorsOfRetryTimeouts(t *testing.T) {
	var cases []struct {
		ID             string
		Args           map[string]float64
		Start          float64
		InitialTimeout float64 `json:"initial_timeout"`
		Events         []struct {
			Kind        string
			T           float64
			WantDelay   float64 `json:"want_delay"`
			WantTimeout float64 `json:"want_timeout"`
		}
	}
	readVectors(t, "retrytimeouts.json", &cases)
	events := 0
	for _, c := range cases {
		given := map[string]float64{
			"max_attempts": 8, "max_actual_duration": 50, "jitter_factor": 0.1, "initial_delay": math.Sqrt2, "exponent_base": math.Sqrt2,
			"consider_actual_delay": 1, "adjust_timeout_factor": 0.5, "min_adjust_timeout": 5, "timeout_jitter_factor": 0.1,
		}
		for name, value := range c.Args {
			given[name] = value
		}
		a := args{t: t, from: given}
		p := a.pacer("Exponential")
		p.TimeoutShare, p.MinTimeout, p.TimeoutJitter = a.number("adjust_timeout_factor"), a.span("min_adjust_timeout"), a.number("timeout_jitter_factor")
		a.done()
		p.Start = moment(c.Start)
		require.NoError(t, p.Validate(), c.ID)
		near(t, max(c.InitialTimeout, 0), p.Timeout().Seconds(), c.ID)
		for i, e := range c.Events {
			name := fmt.Sprintf("%s, event %d", c.ID, i+1)
			want := e.WantDelay
			if e.Kind == "success" {
				want = max(want, 0) // the original answers negative delays once the time is over
			}
			near(t, want, tell(p, e.Kind, e.T), name)
			near(t, max(e.WantTimeout, 0), p.Timeout().Seconds(), name) // there, -1 is no timeout
			events++
		}
	}
	require.Len(t, cases, 36)
	require.Equal(t, 324, events)
}
