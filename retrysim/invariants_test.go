package retrysim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// small draws a small scenario, with everything that there is in one or the other.
func small(r *rand.Rand) retrysim.Scenario {
	pick := func(n int) bool { return r.IntN(n) == 0 }
	d := func(most time.Duration) time.Duration { return time.Duration(r.Int64N(int64(most))) }
	dists := []retrysim.Dist{
		{}, retrysim.Fixed(d(20 * ms)), retrysim.Uniform(ms, 1+ms+d(20*ms)), retrysim.Exponential(d(20 * ms)), retrysim.LogNormal(d(20*ms), r.Float64()),
		retrysim.AbsNormal(d(20*ms), d(20*ms)), retrysim.Empirical([]time.Duration{d(ms), d(50 * ms)}),
	}
	dist := func() retrysim.Dist { return dists[r.IntN(len(dists))] }
	s := retrysim.Scenario{
		Length: ms + d(3*time.Second), Step: ms + d(time.Second), Clients: 1 + r.IntN(20), Network: dist(), Load: retrysim.Burst{},
		Timeout: d(300*ms) * time.Duration(r.IntN(2)), Deadline: d(time.Second) * time.Duration(r.IntN(2)), Drain: d(2*time.Second) * time.Duration(r.IntN(2)),
	}
	switch r.IntN(4) {
	case 0:
		s.Load = retrysim.Open{Rate: retrysim.PerSecond(200 * r.Float64())}
	case 1:
		s.Load = retrysim.Open{Rate: retrysim.Ramp(retrysim.RatePoint{PerSecond: 100 * r.Float64()}, retrysim.RatePoint{At: 1 + d(time.Second), PerSecond: 100 * r.Float64()})}
	case 2:
		s.Load = retrysim.Closed{Rate: 20 * r.Float64(), Think: retrysim.Exponential(10 * ms)}
	}
	servers := []retrysim.Server{
		retrysim.Queue{Workers: 1 + r.IntN(4), Service: dist(), Limit: r.IntN(3) * 10, LIFO: pick(2), DropExpired: pick(2)},
		retrysim.Slope{Base: d(50 * ms), PerInFlight: d(5 * ms)}, retrysim.Row{}, retrysim.Chance{P: r.Float64()},
	}
	s.Server = servers[r.IntN(len(servers))]
	_, queue := s.Server.(retrysim.Queue)
	for range r.IntN(3) {
		f := retrysim.Fault{From: d(time.Second), Fail: r.Float64(), Fast: pick(2), Blackhole: pick(3) && s.Timeout+s.Deadline > 0}
		if queue && pick(2) {
			f.Capacity, f.Latency = r.Float64(), 3*r.Float64()
		}
		f.To = f.From + 1 + d(time.Second)
		s.Faults = append(s.Faults, f)
	}
	if pick(4) {
		s.Server = retrysim.Quota{Server: s.Server, Rate: 1 + 100*r.Float64(), Burst: r.IntN(5), RetryAfter: retrysim.RetryAfter(r.IntN(3))}
	}
	if pick(4) {
		s.Server = retrysim.Layers{Between: 1 + r.IntN(2), Server: s.Server, Timeout: d(300 * ms)}
	}
	return s
}

// FuzzScenarios: a small scenario drawn at random ends, and everything in it adds up: Run itself sees to calls, attempts and Little's
// law; what budgets and tickets gave has come back.
func FuzzScenarios(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := small(r)
		var budgets []*settled
		tickets := new(counting)
		budgeted := func(c retrysim.Client) *retry.Policy {
			all := []throttle.Budget{throttle.NewTokenBudget(), throttle.NewRatioBudget(), throttle.NewFailureBudget(), throttle.NewInFlightBudget()}
			b := &settled{inner: c.Watch(all[seed%4])}
			budgets = append(budgets, b)
			return retry.MustNew(retry.WithBudget(b), retry.WithMaxAttempts(4), retry.WithThrottle(tickets))
		}
		gated := func(c retrysim.Client) *retry.Policy {
			gate := &throttle.Gate{Rand: c.Rand}
			return retry.MustNew(retry.WithThrottle(gate.For("x"), &throttle.Adaptive{Rand: c.Rand}), retry.WithStrategy(strategy.EqualJitter{}))
		}
		for _, c := range []retrysim.Contender{
			retrysim.Fleet("default", nil), {Name: "budget", Policy: budgeted, Inner: budgeted}, retrysim.Fleet("gate", gated),
			retrysim.Fleet("at once", policy(atOnce, retry.WithMaxAttempts(3))),
		} {
			report, err := retrysim.Run(t.Context(), s, seed, 1, c)
			require.NoError(t, err, "%+v", s)
			one := &report.Results[0]
			ended := 0
			for _, e := range one.Endings {
				ended += e.Calls
			}
			require.Equal(t, one.Calls, ended)
			sum := [3]int{}
			for _, step := range one.Series {
				sum[0], sum[1], sum[2] = sum[0]+step.Calls, sum[1]+step.Attempts, sum[2]+step.Succeeded
			}
			require.Equal(t, [3]int{one.Calls, one.Attempts, one.Succeeded}, sum)
			for _, m := range retrysim.Metrics() {
				require.False(t, one.Value(m) != one.Value(m) || one.Value(m) < 0, "%s: %v", m.Name, one.Value(m))
			}
			require.NotEmpty(t, s.Describe())
			require.NoError(t, report.WriteText(discard{}))
		}
		for _, b := range budgets {
			require.Equal(t, b.started, b.ended, "budget given = settled")
			require.Equal(t, b.given, b.returned)
		}
		require.Zero(t, tickets.open)
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// counting counts the tickets that are out.
type counting struct{ open int }

func (c *counting) Admit(_ context.Context, _ time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	if t == nil {
		c.open++
	}
	return c, 0, nil
}
func (c *counting) Done(context.Context, time.Time, throttle.Ticket, throttle.Outcome) { c.open-- }

// TestDoesNotEnd: what would never end is refused with the reason, before it runs where that can be told.
func TestDoesNotEnd(t *testing.T) {
	unlimited := retrysim.Fleet("x", policy(retry.WithUnlimitedAttempts()))
	s := retrysim.Scenario{Length: time.Second, Load: retrysim.Open{Rate: retrysim.PerSecond(10)}, Server: retrysim.Chance{P: 1}}
	refused := func(s retrysim.Scenario, c retrysim.Contender, field, problem string) {
		t.Helper()
		_, err := retrysim.Run(t.Context(), s, 1, 1, c)
		var invalid *retrysim.ConfigError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, field, invalid.Field)
		require.Contains(t, invalid.Problem, problem)
	}
	refused(s, unlimited, "Contender", "its calls may never end")
	refused(outage(1), unlimited, "Contender", "its calls may never end")
	limited := s
	limited.Deadline = 5 * time.Second
	run(t, limited, 1, 1, unlimited)
	limited = s
	limited.Drain = 5 * time.Second
	require.Equal(t, "unfinished", run(t, limited, 1, 1, unlimited).Results[0].Endings[0].Reason)
	run(t, s, 1, 1, retrysim.Fleet("x", policy(retry.WithUnlimitedAttempts(), retry.WithMaxElapsed(time.Minute))))
	// A budget that runs out ends it too.
	run(t, s, 1, 1, retrysim.Fleet("x", with(func() throttle.Budget { return throttle.NewTokenBudget() }, retry.WithUnlimitedAttempts())))

	// Time stands still: no wait, no network, no work.
	refused(limited, retrysim.Fleet("x", policy(retry.WithUnlimitedAttempts(), atOnce)), "Scenario", "one call made 100000 attempts")
	think := retrysim.Scenario{Length: time.Second, Load: retrysim.Closed{}, Server: retrysim.Chance{}}
	refused(think, retrysim.Fleet("x", nil), "Scenario", "time stands still")
	layers := retrysim.Scenario{Length: time.Second, Load: retrysim.Burst{}, Server: retrysim.Layers{Between: 1, Server: retrysim.Chance{P: 1}}}
	inner := retrysim.Contender{Name: "x", Shared: true, Inner: policy(retry.WithUnlimitedAttempts())}
	refused(layers, inner, "Contender", "its calls may never end")
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	done := 0
	_, err := retrysim.RunProgress(ctx, outage(1), 1, 100, func(p retrysim.Progress) {
		done++
		require.Equal(t, retrysim.Progress{Done: done, Total: 100}, p)
		if done == 2 {
			cancel(why)
		}
	}, retrysim.Fleet("x", nil))
	require.ErrorIs(t, err, why)
	require.Less(t, done, 100)
	_, err = retrysim.Run(ctx, outage(1), 1, 1, retrysim.Fleet("x", nil))
	require.ErrorIs(t, err, why)
}

func ExampleRun() {
	scenario := retrysim.Scenario{
		Length:  20 * time.Second,
		Load:    retrysim.Open{Rate: retrysim.PerSecond(1000)},
		Network: retrysim.Fixed(time.Millisecond),
		Timeout: 100 * time.Millisecond,
		Server:  retrysim.Queue{Workers: 22, Service: retrysim.LogNormal(10*time.Millisecond, 0.25)},
		Faults:  []retrysim.Fault{{From: 2 * time.Second, To: 4 * time.Second, Fail: 1}},
	}
	report, err := retrysim.Run(context.Background(), scenario, 1, 1,
		retrysim.Fleet("three attempts", func(retrysim.Client) *retry.Policy {
			return retry.MustNew(retry.WithMaxAttempts(3))
		}),
		retrysim.Fleet("with a budget", func(retrysim.Client) *retry.Policy {
			return retry.MustNew(retry.WithMaxAttempts(3), retry.WithBudget(throttle.NewTokenBudget()))
		}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Check("three attempts: recovery == never", "with a budget: recovery == 0s"))
	// Output: <nil>
}
