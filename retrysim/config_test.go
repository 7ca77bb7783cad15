package retrysim_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/throttle"
)

const longest = time.Duration(math.MaxInt64)

// TestConfigErrors: what cannot be used is named, with its value, before anything runs.
func TestConfigErrors(t *testing.T) {
	type scenario = retrysim.Scenario
	queue := retrysim.Queue{Workers: 1, Service: retrysim.Fixed(ms)}
	for want, change := range map[string]func(*scenario){
		"retrysim: Length = 0s: must be above 0 and at most 30 years":                          func(s *scenario) { s.Length = 0 },
		"retrysim: Length = -1s: must be above 0 and at most 30 years":                         func(s *scenario) { s.Length = -time.Second },
		"retrysim: Length = 2562047h47m16.854775807s: must be above 0 and at most 30 years":    func(s *scenario) { s.Length = longest },
		"retrysim: Drain = -1ns: must not be negative":                                         func(s *scenario) { s.Drain = -1 },
		"retrysim: Step = -1ns: must not be negative":                                          func(s *scenario) { s.Step = -1 },
		"retrysim: Step = 1ns: must not make more than 100000 steps":                           func(s *scenario) { s.Step = 1 },
		"retrysim: Timeout = -1ns: must not be negative":                                       func(s *scenario) { s.Timeout = -1 },
		"retrysim: Deadline = -1ns: must not be negative":                                      func(s *scenario) { s.Deadline = -1 },
		"retrysim: Clients = -1: must be at most a million":                                    func(s *scenario) { s.Clients = -1 },
		"retrysim: Clients = 9223372036854775807: must be at most a million":                   func(s *scenario) { s.Clients = math.MaxInt },
		"retrysim: Load = <nil>: must be Open, Closed or Burst":                                func(s *scenario) { s.Load = nil },
		"retrysim: Load.Rate.Points = []: must not be empty":                                   func(s *scenario) { s.Load = retrysim.Open{} },
		"retrysim: Load.Rate.Points[0].PerSecond = NaN: must be a number from 0 to 10 million": func(s *scenario) { s.Load = retrysim.Open{Rate: retrysim.PerSecond(math.NaN())} },
		"retrysim: Load.Rate.Points[0].PerSecond = -1: must be a number from 0 to 10 million":  func(s *scenario) { s.Load = retrysim.Open{Rate: retrysim.PerSecond(-1)} },
		"retrysim: Load.Rate.Points[1].At = 0s: must be after that of the point before": func(s *scenario) {
			s.Load = retrysim.Open{Rate: retrysim.Steps(retrysim.RatePoint{}, retrysim.RatePoint{})}
		},
		"retrysim: Load = 1e+09 calls: must not make more than 100 million calls":                              func(s *scenario) { s.Length, s.Load = 100*time.Second, retrysim.Open{Rate: retrysim.PerSecond(1e7)} },
		"retrysim: Load.Rate = +Inf: must be a number from 0 to 10 million":                                    func(s *scenario) { s.Load = retrysim.Closed{Rate: math.Inf(1)} },
		"retrysim: Load.Think.mean = -1ns: must not be negative":                                               func(s *scenario) { s.Load = retrysim.Closed{Think: retrysim.Exponential(-1)} },
		"retrysim: Load.At = -1ns: must not be negative":                                                       func(s *scenario) { s.Load = retrysim.Burst{At: -1} },
		"retrysim: Load.At = 1s: must be before Length":                                                        func(s *scenario) { s.Load = retrysim.Burst{At: time.Second} },
		"retrysim: Network.sigma = NaN: must be from 0 to 10":                                                  func(s *scenario) { s.Network = retrysim.LogNormal(ms, math.NaN()) },
		"retrysim: Network.max = 1ns: must not be below min":                                                   func(s *scenario) { s.Network = retrysim.Uniform(2, 1) },
		"retrysim: Server = <nil>: must be Queue, Slope, Row, Chance, Quota or Layers":                         func(s *scenario) { s.Server = nil },
		"retrysim: Server.Queue.Workers = 0: must be from 1 to a million":                                      func(s *scenario) { s.Server = retrysim.Queue{} },
		"retrysim: Server.Queue.Limit = -1: must not be negative":                                              func(s *scenario) { s.Server = retrysim.Queue{Workers: 1, Limit: -1} },
		"retrysim: Server.Queue.Service.samples = []: must not be empty":                                       func(s *scenario) { s.Server = retrysim.Queue{Workers: 1, Service: retrysim.Empirical(nil)} },
		"retrysim: Server.Slope.Base = -1ns: must not be negative":                                             func(s *scenario) { s.Server = retrysim.Slope{Base: -1} },
		"retrysim: Server.Chance.P = NaN: must be from 0 to 1":                                                 func(s *scenario) { s.Server = retrysim.Chance{P: math.NaN()} },
		"retrysim: Server.Quota.Rate = 0: must be above 0 and at most 10 million":                              func(s *scenario) { s.Server = retrysim.Quota{Server: queue} },
		"retrysim: Server.Quota.Server = <nil>: must be a Queue, Slope, Row or Chance":                         func(s *scenario) { s.Server = retrysim.Quota{Rate: 1} },
		"retrysim: Server.Quota.RetryAfter = 9: must be TellNothing, TellSeconds or TellWrong":                 func(s *scenario) { s.Server = retrysim.Quota{Rate: 1, Server: queue, RetryAfter: 9} },
		"retrysim: Server.Layers.Between = 0: must be from 1 to 8":                                             func(s *scenario) { s.Server = retrysim.Layers{Server: queue} },
		"retrysim: Server.Layers.Server = <nil>: must be a Queue, Slope, Row, Chance or Quota":                 func(s *scenario) { s.Server = retrysim.Layers{Between: 1} },
		"retrysim: Faults[0].To = 0s: must be after From":                                                      func(s *scenario) { s.Faults = []retrysim.Fault{{Fail: 1}} },
		"retrysim: Faults[0].Fail = NaN: must be from 0 to 1":                                                  func(s *scenario) { s.Faults = []retrysim.Fault{{To: 1, Fail: math.NaN()}} },
		"retrysim: Faults[0].Capacity = NaN: must be at most 1":                                                func(s *scenario) { s.Faults = []retrysim.Fault{{To: 1, Capacity: math.NaN()}} },
		"retrysim: Faults[0].Latency = -1: must be from 0 to a million":                                        func(s *scenario) { s.Faults = []retrysim.Fault{{To: 1, Latency: -1}} },
		"retrysim: Faults[0].Fault = 0s..1ns: must do something: Fail, Capacity, Latency or Blackhole":         func(s *scenario) { s.Faults = []retrysim.Fault{{To: 1}} },
		"retrysim: Faults[0].Capacity = 0.5: is the share of a Queue's workers: this server has none":          func(s *scenario) { s.Faults = []retrysim.Fault{{To: 1, Capacity: 0.5}} },
		"retrysim: Faults[0].Latency = 2: lengthens the work at a Queue or a Slope: this server takes no time": func(s *scenario) { s.Faults = []retrysim.Fault{{To: 1, Latency: 2}} },
		"retrysim: Faults[0].Blackhole = true: needs a Timeout or a Deadline: a call whose answer vanishes would never end": func(s *scenario) {
			s.Faults = []retrysim.Fault{{To: 1, Blackhole: true}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			s := retrysim.Scenario{Length: time.Second, Load: retrysim.Burst{}, Server: retrysim.Chance{}}
			change(&s)
			asked := 0
			_, err := retrysim.Run(t.Context(), s, 1, 1, retrysim.Fleet("x", func(retrysim.Client) *retry.Policy { asked++; return nil }))
			var invalid *retrysim.ConfigError
			require.ErrorAs(t, err, &invalid)
			require.EqualError(t, err, want)
			require.Zero(t, asked)
		})
	}
	s := retrysim.Scenario{Length: time.Second, Load: retrysim.Burst{}, Server: retrysim.Chance{}}
	for want, try := range map[string]func() error{
		"retrysim: trials = 0: must be from 1 to a million":       func() error { _, err := retrysim.Run(t.Context(), s, 1, 0, retrysim.Fleet("x", nil)); return err },
		"retrysim: contenders = none: there must be one at least": func() error { _, err := retrysim.Run(t.Context(), s, 1, 1); return err },
		`retrysim: Contender[0].Name = "": must not be empty`:     func() error { _, err := retrysim.Run(t.Context(), s, 1, 1, retrysim.Contender{}); return err },
		`retrysim: Contender[1].Name = "x": must not be that of another`: func() error {
			_, err := retrysim.Run(t.Context(), s, 1, 1, retrysim.Fleet("x", nil), retrysim.Each("x", nil))
			return err
		},
		"retrysim: Contender[0].Timeout = -1ns: must not be negative": func() error {
			_, err := retrysim.Run(t.Context(), s, 1, 1, retrysim.Contender{Name: "x", Timeout: -1})
			return err
		},
		"retrysim: Server = retrysim.Chance: must be a Queue: only that has a capacity": func() error {
			_, err := retrysim.Stability(t.Context(), s, nil, nil, 1, 1, nil, retrysim.Fleet("x", nil))
			return err
		},
		"retrysim: loads, outages = none: there must be one of each at least": func() error {
			_, err := retrysim.Stability(t.Context(), law(0.1), nil, nil, 1, 1, nil, retrysim.Fleet("x", nil))
			return err
		},
		"retrysim: loads[0] = NaN: must be above 0 and at most 10 times the capacity": func() error {
			_, err := retrysim.Stability(t.Context(), law(0.1), []float64{math.NaN()}, []time.Duration{1}, 1, 1, nil, retrysim.Fleet("x", nil))
			return err
		},
	} {
		require.EqualError(t, try(), want)
	}
	require.Equal(t, "retrysim: invalid", (*retrysim.ConfigError)(nil).Error())
}

// TestExtremes: the largest values that are allowed are simulated without overflow.
func TestExtremes(t *testing.T) {
	s := retrysim.Scenario{
		Length: time.Second, Clients: 3, Load: retrysim.Burst{}, Timeout: longest, Deadline: longest, Network: retrysim.Fixed(longest / 4),
		Server: retrysim.Queue{Workers: 1, Service: retrysim.LogNormal(longest, 10)},
		Faults: []retrysim.Fault{{To: longest, Fail: 0.5, Latency: 1e6}},
	}
	r := run(t, s, 1, 1, retrysim.Fleet("x", policy(retry.WithMaxAttempts(2))))
	require.Equal(t, 3, r.Results[0].Calls)
	s.Drain = longest
	run(t, s, 1, 1, retrysim.Fleet("x", policy(retry.WithMaxAttempts(2))))
}

func TestDistText(t *testing.T) {
	for text, d := range map[string]retrysim.Dist{
		"fixed(1ms)": retrysim.Fixed(ms), "uniform(min=1ms, max=5ms)": retrysim.Uniform(ms, 5*ms), "exponential(mean=10ms)": retrysim.Exponential(10 * ms),
		"lognormal(median=50ms, sigma=0.25)": retrysim.LogNormal(50*ms, 0.25), "absnormal(mean=10ms, sd=2ms)": retrysim.AbsNormal(10*ms, 2*ms),
		"empirical(samples=[9ms, 10ms])": retrysim.Empirical([]time.Duration{9 * ms, 10 * ms}),
	} {
		got, err := retrysim.ParseDist(text)
		require.NoError(t, err)
		require.Equal(t, d, got)
		require.Equal(t, text, got.String())
	}
	for text, same := range map[string]string{
		"1ms": "fixed(1ms)", " Exponential( 10ms ) ": "exponential(mean=10ms)", "LogNormal(sigma=1,Median=2s)": "lognormal(median=2s, sigma=1)", "empirical([1ms])": "empirical(samples=[1ms])",
	} {
		got, err := retrysim.ParseDist(text)
		require.NoError(t, err)
		require.Equal(t, same, got.String())
	}
	for text, want := range map[string]string{
		"":                               "unknown distribution",
		"normal(1ms)":                    "known are fixed, uniform, exponential, lognormal, absnormal, empirical",
		"fixed":                          "must be of the form name(field=value, ...)",
		"fixed(1)":                       `retrysim: fixed.value = 1: must be a duration with a unit`,
		"fixed(-1s)":                     "retrysim: fixed.value = -1s: must not be negative",
		"-1s":                            "retrysim: value = -1s: must not be negative",
		"uniform(min=1ms)":               "retrysim: uniform.max = : must be given",
		"uniform(min=2ms, max=1ms)":      "must not be below min",
		"lognormal(median=1ms, sd=1)":    "retrysim: lognormal.sd = 1: unknown field; known are median, sigma",
		"lognormal(median=1ms, sigma=x)": "must be a number, such as 0.25",
		"exponential(mean=1s, mean=2s)":  "must not be given twice",
		"empirical([])":                  "must not be empty",
		"empirical([1ms, x])":            "must be a duration with a unit",
		"empirical(values=[1ms])":        "unknown field; known are samples",
	} {
		_, err := retrysim.ParseDist(text)
		require.ErrorContains(t, err, want, text)
	}
	d, err := retrysim.FitLogNormal(0.5, 40*ms, 0.99, 180*ms)
	require.NoError(t, err)
	require.Equal(t, "lognormal(median=40ms, sigma=0.6465)", d.String())
	for _, bad := range [][2]float64{{0, 0.5}, {0.5, 0.5}, {0.5, 1}, {math.NaN(), 0.5}} {
		_, err := retrysim.FitLogNormal(bad[0], ms, bad[1], 2*ms)
		require.Error(t, err)
	}
}

func TestAssertions(t *testing.T) {
	r := run(t, outage(1), 1, 1, retrysim.Fleet("one: two", policy(retry.WithMaxAttempts(1))), retrysim.Fleet("at once", policy(atOnce, retry.WithMaxAttempts(3))))
	require.NoError(t, r.Check("one: two: recovery == 0s", "at once: recovery == never", "at once:recovery>20s", "calls > 100", "success<=100%", "success >= 0.05", "p99 != never"))
	require.EqualError(t, r.Check("recovery <= 1s"), "at once: recovery is never, not <= 1s")
	require.ErrorContains(t, r.Check("at once: amplification < 1.5"), "at once: amplification is 2.7")
	for text, want := range map[string]string{
		"":                    "must be of the form [POLICY:] METRIC OP VALUE",
		"success":             "must be of the form",
		": success > 1":       "has no name before the colon",
		"success = 1":         "has no comparison that is known",
		"sucess > 1":          `unknown metric "sucess"; known are recovery, recovered, success`,
		"success > lots":      "success = lots: must be a number, such as 95% or 0.95",
		"calls > 5%":          "must be a number, such as 2.5",
		"calls > NaN":         "must be a number",
		"recovery < 5":        `must be a duration with a unit, such as 1.5s, or "never"`,
		"nobody: success > 1": `there is no policy "nobody"; there are ["one: two" "at once"]`,
		"stable > 5%":         "stable is known of a stability map only",
	} {
		require.ErrorContains(t, r.Check(text), want, text)
	}
}

// TestAllocations: the simulator itself allocates only to grow. What is left is the error with which the library ends a call that
// failed, one for each.
func TestAllocations(t *testing.T) {
	s := chance(0.5)
	allocs := testing.AllocsPerRun(1, func() {
		run(t, s, 1, 1, retrysim.Fleet("x", policy(retry.WithMaxAttempts(30), atOnce)))
	})
	require.Less(t, allocs/120_000, 0.01, "about 120 000 attempts, nearly all of whose calls succeed")
}

// TestWatch: the level of a budget is in the series.
func TestWatch(t *testing.T) {
	c := retrysim.Fleet("x", func(c retrysim.Client) *retry.Policy {
		return retry.MustNew(atOnce, retry.WithMaxAttempts(3), retry.WithBudget(c.Watch(throttle.NewTokenBudget())))
	})
	series := run(t, outage(1), 1, 2, c).Results[0].Series
	require.Equal(t, 1000.0, series[0].Budget, "500 in each of two trials")
	require.Less(t, series[2].Budget, 30.0)
	require.Equal(t, 1000.0, series[15].Budget)
	require.Nil(t, retrysim.Client{}.Watch(nil))
}
