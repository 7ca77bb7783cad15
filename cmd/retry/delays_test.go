package main_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVectorsOfAlgorithmBackoff asks the program what the real Algorithm::Backoff 0.010 was asked, as show-backoff-delays: once as
// the original answers, and once without its quirk, which is the default.
func TestVectorsOfAlgorithmBackoff(t *testing.T) {
	data, err := os.ReadFile("../../strategy/testdata/algorithm_backoff.json")
	require.NoError(t, err)
	var cases []struct {
		ID, Algorithm string
		Args          map[string]float64
		Start         float64
		Events        []struct {
			Kind      string
			T         float64
			Want      float64
			WantFixed *float64 `json:"want_fixed"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	require.GreaterOrEqual(t, len(cases), 163)
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	for _, c := range cases {
		for _, compat := range []bool{false, true} {
			args := []string{"delays", "-a", c.Algorithm, "--json", "--start", number(c.Start)}
			for name, value := range c.Args {
				flag := "--" + strings.ReplaceAll(name, "_", "-")
				if name == "consider_actual_delay" {
					if value != 0 {
						args = append(args, flag)
					}
					continue
				}
				args = append(args, flag+"="+number(value))
			}
			if compat {
				args = append(args, "--compat-010")
			}
			for _, e := range c.Events {
				kind := "0"
				if e.Kind == "success" {
					kind = "1"
				}
				args = append(args, kind+":"+number(e.T))
			}
			r := retryRun(t, args...)
			require.Zero(t, r.code, "%s: %s", c.ID, r.err)
			var got []float64
			require.NoError(t, json.Unmarshal([]byte(r.out), &got))
			require.Len(t, got, len(c.Events))
			for i, e := range c.Events {
				want := e.Want
				if !compat && e.WantFixed != nil {
					want = *e.WantFixed
				}
				require.InDelta(t, want, got[i], max(1e-6, 1e-7*math.Abs(want)), "%s, event %d, compat %t", c.ID, i, compat)
			}
		}
	}
}

func TestDelays(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		// The manual's own example.
		{"-a LIMD --initial-delay 2 --min-delay 1 --delay-increment-on-failure 4 --delay-multiple-on-success 0.2 0 0 0 1 1 1 0 0 0", "2 6 10 2 1 1 5 9 13"},
		{"-a limd --initial-delay 6 --delay-increment-on-failure=-4 --delay-multiple-on-success 0.2 0 0 0", "6 2 0"},
		{"-a exponential --initial-delay 1 --exponent-base 1.5 --max-attempts 4 0 0 0 0 0 1 0", "1 1.5 2.25 -1 -1 0 1"},
		{"-a Constant --delay 2 --max-delay 0 0", "0"},
		{"-a Constant --delay 10 --consider-actual-delay 0 0:+4 0:+14", "10 16 12"},
		{"-a Constant --delay 3 --delay-on-success 1.25 1 0", "1.25 3"},
		{"-a Fibonacci --initial-delay1 1 --initial-delay2 2 --json 0 0 0 0", "[1,2,3,5]"},
		{"exponential(base=200ms) -n 4", "200ms 400ms 800ms 1.6s"},
		{"exponential(base=200ms) -n 4 --max-delay 500ms", "200ms 400ms 500ms 500ms"},
		{"exponential(base=200ms) -n 0", ""},
		{"sequence(delays=[1s,2s])", "1s 2s"},
		{"exponential(base=200ms) -n 3 --json", "[0.2,0.4,0.8]"},
		{"sequence(delays=[1s,2s]) -n 0 --json", "[]"},
		{"exponential(base=200ms) -n 3 --csv", "n,delay_s,sum_s 1,0.2,0.2 2,0.4,0.6 3,0.8,1.4"},
		{"limd(initial=2s,incrementonfailure=4s) 0 0 1 0:+1.5", "2s 6s 3s 7s"},
		{"limd(initial=2s,incrementonfailure=4s) 0 0 1 --json", "[2,6,3]"},
		{"constant(delay=1s) 0 0 0 --max-attempts 3 --min-delay 2s", "2s 2s -1"},
		{"constant(delay=1s) 0:100 0:104 0:106 --max-actual-duration 5s", "1s 1s -1"},
		{"constant(delay=1s) 0:100 --max-actual-duration 5s --start 95", "-1"},
		{"fulljitter(base=1s) -n 2 --seed 7", strings.Join(strings.Fields(retryRun(t, "delays", "fulljitter(base=1s)", "-n", "2", "--seed", "7").out), " ")},
	} {
		r := retryRun(t, append([]string{"delays"}, strings.Fields(c.args)...)...)
		require.Zero(t, r.code, "%s: %s", c.args, r.err)
		require.Equal(t, c.want, strings.Join(strings.Fields(r.out), " "), c.args)
	}
}

func TestDelaysUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "delays needs a strategy"},
		{"slow", "unknown strategy"},
		{"-a Foo 0", "--algorithm Foo: must be Constant"},
		{"-a Constant 0", "--algorithm Constant needs --delay"},
		{"-a Constant --delay 1", "--algorithm Constant needs events"},
		{"-a Constant --delay 1 --initial-delay 1 0", "--initial-delay is not an attribute of Constant"},
		{"-a LIMD --initial-delay 1 --delay-increment-on-failure 1 --delay-multiple-on-success 1 --delay-on-success 1 0", "--delay-on-success is not an attribute of LIMD"},
		{"-a Constant --delay=-1 0", "--delay -1: must not be negative"},
		{"-a Constant --delay NaN 0", "--delay NaN: is not a number of seconds"},
		{"-a Constant --delay 1 --max-delay 5s 0", "--max-delay 5s: must be a number of seconds"},
		{"-a Constant --delay 1 --jitter-factor NaN 0", "JitterFactor"},
		{"constant 0 --max-delay 5", "--max-delay 5: needs a unit, such as 5s"},
		{"constant 2", "event 2: must be 0 for a failure or 1 for a success"},
		{"constant 0:+x", "the time must be +SECONDS or seconds since 1970"},
		{"constant 0:+-1", "the time must be"},
		{"constant --initial-delay 3", "--initial-delay needs --algorithm"},
		{"constant --max-attempts 3", "need events"},
		{"constant --samples 3", "needs a strategy that draws its waits"},
		{"fulljitter --jitter full", "the strategy draws its waits itself"},
		{"constant --samples=-1", "--samples -1: must not be negative"},
		{"constant --json --csv", "--csv and --json can't be used together"},
	} {
		r := retryRun(t, append([]string{"delays"}, strings.Fields(c.args)...)...)
		require.Equal(t, 125, r.code, c.args)
		require.True(t, strings.HasPrefix(r.err, "retry: "), r.err)
		require.Contains(t, r.err, c.want, c.args)
		require.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
		require.Empty(t, r.out)
	}
}

func TestDelaysPictures(t *testing.T) {
	r := retryRun(t, "delays", "exponential(base=1s)", "-n", "3", "--plot")
	require.Equal(t, ""+
		"1  1s  "+strings.Repeat("█", 17)+"▎"+strings.Repeat(" ", 51)+"  1s\n"+
		"2  2s  "+strings.Repeat("█", 34)+"▌"+strings.Repeat(" ", 34)+"  3s\n"+
		"3  4s  "+strings.Repeat("█", 69)+"  7s\n", r.out, "80 columns where there is no terminal")
	for _, args := range [][]string{{"--plot"}, {}} {
		r = retryRun(t, append([]string{"delays", "fulljitter(base=1s, max=1m)", "-n", "6", "--samples", "2000", "--seed", "1"}, args...)...)
		require.Zero(t, r.code)
		for line := range strings.Lines(r.out) {
			require.LessOrEqual(t, len([]rune(line)), 81)
		}
	}
	var list []map[string]float64
	r = retryRun(t, "delays", "fulljitter(base=1s)", "-n", "2", "--samples", "2000", "--seed", "1", "--json")
	require.NoError(t, json.Unmarshal([]byte(r.out), &list), r.out)
	require.Len(t, list, 2)
	require.InDelta(t, 0.5, list[0]["mean_s"], 0.03)
	require.InDelta(t, 1.9, list[1]["p95_s"], 0.05)
	// Nothing grows out of the row, whatever the waits are.
	r = retryRun(t, "delays", fmt.Sprintf("sequence(delays=[0s, 1ns, %dh])", 2_000_000), "--plot")
	require.Zero(t, r.code, r.err)
}
