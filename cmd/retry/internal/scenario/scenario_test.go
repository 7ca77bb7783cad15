package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/scenario"
	"github.com/seed-89b3229b/retry/retrysim"
)

const sample = `name: sample
length: 60s
drain: 5s
step: 500ms
clients: 200
load: {open: 600/s}
timeout: 500ms
deadline: 3s
network: fixed(1ms)
server: {queue: {workers: 10, service: "lognormal(median=10ms, sigma=0.25)", limit: 7, lifo: true, drop_expired: true}}
faults:
  - {from: 10s, to: 20s, capacity: 50%}
  - {from: 1s, to: 2s, fail: 0.5, fast: true, latency: 3x, blackhole: true}
policies:
  - {name: full jitter, strategy: "fulljitter(base=200ms, max=20s)", attempts: 3}
  - {name: one budget, attempts: 3, budget: token, scope: fleet}
  - {name: a budget each, attempts: unlimited, budget: "token(capacity=100)", scope: client, throttle: ["adaptive(k=2, window=10s)", gate]}
assert: ["one budget: recovery <= 1s", "full jitter: recovery == never"]
`

func read(text string, settings ...scenario.Setting) (*scenario.File, error) {
	return scenario.Read("x.yaml", []byte(text), settings...)
}

func TestRead(t *testing.T) {
	f, err := read(sample)
	require.NoError(t, err)
	require.Equal(t, retrysim.Scenario{
		Name: "sample", Length: time.Minute, Drain: 5 * time.Second, Step: 500 * time.Millisecond, Clients: 200,
		Load: retrysim.Open{Rate: retrysim.PerSecond(600)}, Timeout: 500 * time.Millisecond, Deadline: 3 * time.Second,
		Network: retrysim.Fixed(time.Millisecond),
		Server:  retrysim.Queue{Workers: 10, Service: retrysim.LogNormal(10*time.Millisecond, 0.25), Limit: 7, LIFO: true, DropExpired: true},
		Faults: []retrysim.Fault{
			{From: 10 * time.Second, To: 20 * time.Second, Capacity: 0.5},
			{From: time.Second, To: 2 * time.Second, Fail: 0.5, Fast: true, Latency: 3, Blackhole: true},
		},
	}, f.Scenario)
	c := f.Contenders()
	require.Len(t, c, 3)
	require.True(t, c[1].Shared)
	require.False(t, c[2].Shared)
	require.Equal(t, "full jitter", f.Assert[1].Contender)
}

func TestReadForms(t *testing.T) {
	second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	for text, want := range map[string]retrysim.Load{
		"{open: [{at: 0s, rate: 10/m}, {at: 5s, rate: 7200/h}]}": retrysim.Open{Rate: retrysim.Steps(retrysim.RatePoint{PerSecond: 10.0 / 60}, retrysim.RatePoint{At: second(5), PerSecond: 2})},
		"{ramp: [{at: 0s, rate: 1/s}, {at: 5s, rate: 2/s}]}":     retrysim.Open{Rate: retrysim.Ramp(retrysim.RatePoint{PerSecond: 1}, retrysim.RatePoint{At: second(5), PerSecond: 2})},
		"{closed: {rate: 10/s}}":                                 retrysim.Closed{Rate: 10},
		"{closed: {think: exponential(1s)}}":                     retrysim.Closed{Think: retrysim.Exponential(second(1))},
		"{burst: 0s}":                                            retrysim.Burst{},
	} {
		f, err := read("length: 10s\nserver: row\nload: " + text)
		require.NoError(t, err, text)
		require.Equal(t, want, f.Scenario.Load)
	}
	queue := retrysim.Queue{Workers: 1, Service: retrysim.Fixed(time.Millisecond)}
	for text, want := range map[string]retrysim.Server{
		"row": retrysim.Row{}, "{row: {}}": retrysim.Row{}, "{chance: 20%}": retrysim.Chance{P: 0.2}, "{chance: 1}": retrysim.Chance{P: 1},
		"{slope: {base: 1s, per_in_flight: 10ms}}":                                                                retrysim.Slope{Base: second(1), PerInFlight: second(0.01)},
		"{quota: {rate: 5/s, burst: 3, retry_after: header, server: {queue: {workers: 1, service: fixed(1ms)}}}}": retrysim.Quota{Server: queue, Rate: 5, Burst: 3, RetryAfter: retrysim.TellSeconds},
		"{quota: {rate: 5/s, retry_after: wrong, server: row}}":                                                   retrysim.Quota{Server: retrysim.Row{}, Rate: 5, RetryAfter: retrysim.TellWrong},
		"{layers: {between: 2, timeout: 1s, server: {chance: 0}}}":                                                retrysim.Layers{Between: 2, Timeout: second(1), Server: retrysim.Chance{}},
	} {
		f, err := read("length: 10s\nload: {burst: 0s}\nserver: " + text)
		require.NoError(t, err, text)
		require.Equal(t, want, f.Scenario.Server)
	}
	f, err := read("length: 10s\nload: {burst: 0s}\nserver: {queue: {workers: 3}}\nfaults: [{from: 0s, to: 1s, capacity: 0%}]")
	require.NoError(t, err)
	require.Negative(t, f.Scenario.Faults[0].Capacity, "none is left, and not all")
}

// TestReadErrors: each names the line, and what is allowed.
func TestReadErrors(t *testing.T) {
	head := "length: 10s\nload: {burst: 0s}\nserver: row\n"
	for text, want := range map[string]string{
		"":                       "x.yaml: is empty",
		"a: [":                   "x.yaml: line 1: did not find expected node content",
		"- 1":                    "x.yaml:1: must have keys: about, assert, clients, deadline, drain, faults, length, load, map, name, network, policies, server, step, timeout, trials",
		head + "---\na: 1":       "x.yaml: must be one document",
		head + "polices: []":     `x.yaml:4: unknown key "polices"; known are about, assert, clients, deadline, drain, faults, length, load, map, name, network, policies, server, step, timeout, trials`,
		head + "length: 2s":      `x.yaml:4: key "length" must not be given twice`,
		head + "clients: many":   `x.yaml:4: clients: must be a whole number, not "many"`,
		head + "clients: -1":     "x.yaml:4: retrysim: Clients = -1: must be at most a million",
		head + "timeout: 500":    `x.yaml:4: timeout: must be a duration with a unit, such as 500ms, not "500"`,
		head + "timeout: -1s":    "x.yaml:4: retrysim: Timeout = -1s: must not be negative",
		head + "timeout:":        "x.yaml:4: timeout: must be a single value",
		head + "network: foo(1)": "x.yaml:4: network: retrysim: name = foo: unknown distribution; known are fixed, uniform, exponential, lognormal, absnormal, empirical",
		"length: 10s\nload: {open: 600}\nserver: row":                      `x.yaml:2: load.open: must be a rate, such as 600/s, 10/m or 1/h, not "600"`,
		"length: 10s\nload: {open: NaN/s}\nserver: row":                    `x.yaml:2: load.open: must be a rate, such as 600/s, 10/m or 1/h, not "NaN/s"`,
		"length: 10s\nload: {open: 1/s, burst: 0s}\nserver: row":           "x.yaml:2: load: must have exactly one of the keys burst, closed, open, ramp",
		"length: 10s\nserver: row":                                         "x.yaml:1: retrysim: Load = <nil>: must be Open, Closed or Burst",
		"length: 10s\nload: {burst: 0s}\nserver: {queue:\n  {workers: 0}}": "x.yaml:3: retrysim: Server.Queue.Workers = 0: must be from 1 to a million",
		head + "faults:\n- {from: 1s, to: 1s, fail: 1}":                    "x.yaml:4: retrysim: Faults[0].To = 1s: must be after From",
		head + "faults: [{from: 1s, to: 2s, fail: lots}]":                  `x.yaml:4: faults[0].fail: must be a share, such as 50% or 0.5, not "lots"`,
		head + "policies:\n- {name: a}\n- {name: b,\n   atempts: 3}":       `x.yaml:7: policies[1]: unknown key "atempts"; known are attempt_timeout, attempts, base_delay, budget, hint, inner, jitter, max_attempts, max_delay, max_elapsed, max_hint, name, retry_on, scope, strategy, throttle`,
		head + "policies: [{name: a, attempts: 0}]":                        `x.yaml:4: policies[0].attempts: must be a whole number of at least 1, or "unlimited", not 0`,
		head + "policies: [{name: a}, {name: a}]":                          `x.yaml:1: policies[1]: "a" must not be the name of two`,
		head + "policies: [{attempts: 3}]":                                 "x.yaml:1: policies[0]: needs a name",
		head + "policies: [{name: a, scope: all}]":                         `x.yaml:4: policies[0].scope: must be fleet or client, not "all"`,
		head + "policies: [{name: a, budget: tokens}]":                     `x.yaml:4: policies[0]: budget: throttle: name = "tokens": unknown budget; known are token, ratio, failure, inflight`,
		head + "policies: [{name: a, throttle: [adaptive(k=0.5)]}]":        "x.yaml:4: policies[0]: throttle: throttle: Adaptive.K = 0.5: must be a finite number of at least 1",
		head + "policies: [{name: a, throttle: [wall]}]":                   `x.yaml:4: policies[0]: throttle: unknown throttle "wall"; known are adaptive, gate, pace, limit`,
		head + "policies: [{name: a, retry_on: [permanent]}]":              `x.yaml:4: policies[0]: retry_on: must be some of transient, timeout, throttled, not "permanent"`,
		head + "policies: [{name: a, hint: maybe}]":                        `x.yaml:4: policies[0]: hint: must be atleast, exact, ignore or clamp(5s), not "maybe"`,
		head + "policies: [{name: a, inner: {budget: x}}]":                 `x.yaml:4: policies[0]: inner: budget: throttle: name = "x": unknown budget; known are token, ratio, failure, inflight`,
		head + "assert: [\"succes > 1\"]":                                  "x.yaml:4: assert[0]: retrysim: assertion = succes > 1: unknown metric \"succes\"",
		head + "map: {loads: 10%..5%/5%}":                                  `x.yaml:4: map.loads: must be a range that ascends in at most 1000 steps, not "10%..5%/5%"`,
	} {
		t.Run(text, func(t *testing.T) {
			_, err := read(text)
			require.Error(t, err)
			require.Contains(t, err.Error(), want)
			var placed *scenario.Error
			require.ErrorAs(t, err, &placed)
			require.Equal(t, "x.yaml", placed.File)
		})
	}
}

func TestSettings(t *testing.T) {
	parse := func(text string) scenario.Setting {
		s, err := scenario.ParseSetting(text)
		require.NoError(t, err)
		return s
	}
	f, err := read(sample, parse("timeout=300ms"), parse("server.queue.workers = 20"), parse("load={burst: 1s}"), parse("faults.0.to=15s"),
		parse("policies.one budget.attempts=7"), parse("drain=0s"), parse("faults.1.blackhole=false"))
	require.NoError(t, err)
	require.Equal(t, 300*time.Millisecond, f.Scenario.Timeout)
	require.Equal(t, 20, f.Scenario.Server.(retrysim.Queue).Workers)
	require.Equal(t, retrysim.Burst{At: time.Second}, f.Scenario.Load)
	require.Equal(t, 15*time.Second, f.Scenario.Faults[0].To)
	for setting, want := range map[string]string{
		"timout=1s":              `unknown key "timout"`,
		"faults.7.to=1s":         "--set faults.7.to: there is no faults.7",
		"policies.none.budget=x": "--set policies.none.budget: there is no policies.none",
		"timeout.x=1":            "timeout: must be a single value",
		"timeout=soon":           `timeout: must be a duration`,
		"server.queue.workers=0": "Server.Queue.Workers = 0",
	} {
		_, err := read(sample, parse(setting))
		require.ErrorContains(t, err, want, setting)
	}
	for _, bad := range []string{"", "x", "=1", " = "} {
		_, err := scenario.ParseSetting(bad)
		require.Error(t, err, bad)
	}
}

func TestParsePolicy(t *testing.T) {
	p, err := scenario.ParsePolicy("x=strategy=constant(delay=1s);attempts=3; budget=token(capacity=20, retrycost=2) ;throttle=adaptive(k=2, window=1s),gate;scope=client;retry_on=transient,timeout")
	require.NoError(t, err)
	require.Equal(t, "x", p.Name)
	require.True(t, p.Client)
	for text, want := range map[string]string{
		"":                  `"": must be of the form NAME=KEY=VALUE;KEY=VALUE`,
		"x":                 `"x": must be of the form`,
		"x=attempts":        `policy "x": attempts: must be of the form KEY=VALUE`,
		"x=name=y":          `policy "x": unknown key "name"`,
		"x=attempts=none":   `policy "x": attempts: must be a whole number`,
		"x=strategy=foo":    `unknown strategy`,
		"x=jitter=2":        `policy "x": jitter: must be full, equal or a factor from 0 to 1, not "2"`,
		"x=throttle=limit":  `policy "x": throttle: limit: needs a rate above 0`,
		"x=throttle=gate(a": `policy "x": throttle: "gate(a": must end with a closing parenthesis`,
	} {
		_, err := scenario.ParsePolicy(text)
		require.ErrorContains(t, err, want, text)
	}
	for _, good := range []string{"x=", "x=attempts=unlimited;max_elapsed=1m", "x=throttle=pace(strategy=limd(min=1s))", "x=throttle=limit(rate=10/s, burst=3)", "x=hint=clamp(5s);max_hint=0s", "x=jitter=0.2"} {
		_, err := scenario.ParsePolicy(good)
		if good == "x=jitter=0.2" {
			require.NoError(t, err)
			continue
		}
		require.NoError(t, err, good)
	}
}

func TestLoads(t *testing.T) {
	loads, err := scenario.Loads("10%..95%/5%")
	require.NoError(t, err)
	require.Len(t, loads, 18)
	require.Equal(t, 0.95, loads[17])
	loads, err = scenario.Loads("10%, 0.5")
	require.NoError(t, err)
	require.Equal(t, []float64{0.1, 0.5}, loads)
	for _, bad := range []string{"", "x", "10%..", "1..2/0", "0..9e9/1e-9", "10%..5%/1%", "1..2/-1"} {
		_, err := scenario.Loads(bad)
		require.Error(t, err, bad)
	}
}

func TestLoad(t *testing.T) {
	_, err := scenario.Load("outag")
	require.ErrorContains(t, err, `unknown scenario "outag"; known are brownout, chance`)
	_, err = scenario.Load("./none.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	name := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(name, []byte(sample), 0o600))
	_, err = scenario.Load(name)
	require.NoError(t, err)
}

// FuzzRead: whatever stands in a file, it is read or refused with its name, and what was read can be simulated as far as it says so.
func FuzzRead(f *testing.F) {
	f.Add(sample)
	for _, name := range scenario.Names() {
		data, _ := scenario.Source(name)
		f.Add(string(data))
	}
	f.Add("a: &a {x: *a}")
	f.Add("server: {quota: {server: {quota: {server: row}}}}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := read(text)
		if err != nil {
			var placed *scenario.Error
			if !errors.As(err, &placed) || placed.File != "x.yaml" {
				t.Fatal(err)
			}
			return
		}
		if file.Map == nil {
			require.NoError(t, file.Scenario.Validate())
		}
		_ = fmt.Sprint(file.Scenario.Describe())
		file.Contenders()
	})
}
