package retrysim_test

import (
	"fmt"
	"testing"
	"time"
	"runtime"
	"syscall"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

const ms = time.Millisecond

func fixed(o ...retry.Option) func(retrysim.Client) *retry.Policy {
	return func(retrysim.Client) *retry.Policy { return retry.MustNew(o...) }
}

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6 + float64(u.Stime.Sec) + float64(u.Stime.Usec)/1e6
}

func storm() retrysim.Scenario {
	return retrysim.Scenario{Name: "outage", Length: 20 * time.Second, Load: retrysim.Open{Rate: retrysim.PerSecond(1000)}, Network: retrysim.Fixed(ms), Timeout: 100 * ms,
		Server: retrysim.Queue{Workers: 22, Service: retrysim.LogNormal(10*ms, .25)}, Faults: []retrysim.Fault{{From: 2 * time.Second, To: 4 * time.Second, Fail: 1}}}
}

func TestScratch(t *testing.T) {
	for _, n := range []int{10, 100, 200} {
		s := retrysim.Scenario{Length: time.Second, Clients: n, Load: retrysim.Burst{}, Network: retrysim.AbsNormal(10*ms, 2*ms), Server: retrysim.Row{}}
		r, err := retrysim.Run(t.Context(), s, 1, 100,
			retrysim.Fleet("none", fixed(retry.WithUnlimitedAttempts(), retry.WithStrategy(strategy.Constant{}))),
			retrysim.Fleet("full", fixed(retry.WithUnlimitedAttempts(), retry.WithStrategy(strategy.FullJitter{Base: 10 * ms, Max: 2 * time.Second}))))
		if err != nil {
			t.Fatal(err)
		}
		m, _ := retrysim.MetricOf("attempts")
		c, _ := retrysim.MetricOf("completion")
		for i := range r.Results {
			x := &r.Results[i]
			fmt.Println(n, x.Name, x.Mean(m), x.Error(m), x.Mean(c)/1e6, x.Error(c)/1e6)
		}
	}
	r, err := retrysim.Run(t.Context(), storm(), 1, 5,
		retrysim.Fleet("none", fixed(retry.WithMaxAttempts(1))),
		retrysim.Fleet("at once", fixed(retry.WithMaxAttempts(3), retry.WithStrategy(strategy.Constant{}))),
		retrysim.Fleet("token", func(c retrysim.Client) *retry.Policy {
			return retry.MustNew(retry.WithMaxAttempts(3), retry.WithStrategy(strategy.Constant{}), retry.WithBudget(c.Watch(throttle.NewTokenBudget())))
		}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Results {
		x := &r.Results[i]
		fmt.Println(x.Name, x.Recovery, x.Endings)
		for _, m := range retrysim.Metrics() {
			fmt.Print(" ", m.Name, "=", m.Format(x.Value(m)))
		}
		fmt.Println()
	}
}

func TestSpeed(t *testing.T) {
	runtime.GOMAXPROCS(1)
	for _, name := range []string{"chance", "queue"} {
		for range 3 {
			p := fixed(retry.WithStrategy(strategy.FullJitter{Base: 100 * ms, Max: time.Second}), retry.WithMaxAttempts(4))
			s := retrysim.Scenario{Length: 60 * time.Second, Clients: 100, Load: retrysim.Open{Rate: retrysim.PerSecond(1000)}, Network: retrysim.Exponential(10 * ms), Server: retrysim.Chance{P: .5}}
			if name == "queue" {
				p = func(c retrysim.Client) *retry.Policy {
					return retry.MustNew(retry.WithStrategy(strategy.FullJitter{Base: 100 * ms, Max: time.Second}), retry.WithMaxAttempts(3), retry.WithBudget(throttle.NewTokenBudget()))
				}
				s = storm()
				s.Length = 60 * time.Second
			}
			var a, b runtime.MemStats
			runtime.ReadMemStats(&a)
			at := cpu()
			r, err := retrysim.Run(t.Context(), s, 1, 8, retrysim.Fleet("x", p))
			if err != nil {
				t.Fatal(err)
			}
			d := cpu() - at
			runtime.ReadMemStats(&b)
			fmt.Printf("%s %.2f M/s allocs per attempt %.4f\n", name, float64(r.Results[0].Attempts)/d/1e6, float64(b.Mallocs-a.Mallocs)/float64(r.Results[0].Attempts))
		}
	}
}
