package retrysim_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestDeterministic: the same bytes on every platform, and however many processors there are. `make portable` runs it on 386 and
// js/wasm too. A change of these hashes is a change of what users measured: it needs a line in the changelog.
func TestDeterministic(t *testing.T) {
	quota := outage(5)
	quota.Server = retrysim.Quota{Server: quota.Server, Rate: 800, Burst: 50, RetryAfter: retrysim.TellSeconds}
	layers := chance(0.3)
	layers.Length, layers.Server = 5*time.Second, retrysim.Layers{Between: 2, Server: layers.Server, Timeout: 80 * ms}
	slope := retrysim.Scenario{
		Length: 40 * time.Second, Load: retrysim.Open{Rate: retrysim.Ramp(retrysim.RatePoint{PerSecond: 40}, retrysim.RatePoint{At: 20 * time.Second, PerSecond: 80})},
		Network: retrysim.Exponential(100 * ms), Timeout: 3 * time.Second, Server: retrysim.Slope{Base: time.Second, PerInFlight: 10 * ms},
	}
	row := retrysim.Scenario{Length: time.Second, Clients: 60, Load: retrysim.Burst{}, Network: retrysim.AbsNormal(10*ms, 2*ms), Server: retrysim.Row{}}
	closed := chance(0.2)
	closed.Load, closed.Length = retrysim.Closed{Rate: 10}, 10*time.Second
	for name, row := range map[string]struct {
		s    retrysim.Scenario
		hash string
	}{
		"queue":  {outage(20), "80e2c2aafa781ccc"},
		"quota":  {quota, "c9219bee0867e4a7"},
		"layers": {layers, "7729eedd06d983c3"},
		"slope":  {slope, "6adc6cc461fe7c11"},
		"row":    {row, "8816a1ba29c9b6c6"},
		"closed": {closed, "beb471e67a5b4c2d"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, processors := range []int{1, 4} {
				before := runtime.GOMAXPROCS(processors)
				h := hashOf(run(t, row.s, 7, 3,
					retrysim.Fleet("limd", func(retrysim.Client) *retry.Policy {
						return retry.MustNew(retry.WithMaxAttempts(4), retry.WithStrategy(&strategy.LIMD{})) // its level is each trial's own
					}),
					retrysim.Each("budget", with(func() throttle.Budget { return throttle.NewRatioBudget() }, retry.WithMaxAttempts(4))),
					retrysim.Fleet("gate", func(c retrysim.Client) *retry.Policy {
						gate := &throttle.Gate{Rand: c.Rand}
						return retry.MustNew(retry.WithMaxAttempts(3), retry.WithThrottle(gate.For("x"), &throttle.Adaptive{Rand: c.Rand}))
					}),
				))
				runtime.GOMAXPROCS(before)
				require.Equal(t, row.hash, h)
			}
		})
	}
}

// hashOf is the hash of everything that a report says, to the last bit.
func hashOf(r *retrysim.Report) string {
	h := sha256.New()
	_ = r.WriteText(h)
	for i := range r.Results {
		one := &r.Results[i]
		fmt.Fprintln(h, one.Name, one.Counts, one.Endings)
		for _, m := range retrysim.Metrics() {
			fmt.Fprintf(h, "%x %x\n", one.Value(m), one.Error(m))
		}
		for _, s := range one.Series {
			fmt.Fprintf(h, "%v %x\n", s, s.Budget)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
