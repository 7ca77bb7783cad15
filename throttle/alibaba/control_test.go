package alibaba_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

func TestValidate(t *testing.T) {
	for text, c := range map[string]alibaba.Control{
		"throttle: alibaba.Control.Gate = <nil>: must be given, unless Disabled":               {},
		"throttle: alibaba.Control.MaxDelay = -1ns: must not be negative":                      {MaxDelay: -1, Disabled: true},
		"throttle: alibaba.Control.MaxAttempts = -3: must not be negative":                     {MaxAttempts: -3, Disabled: true},
		"throttle: Gate.MaxKeys = -1: must not be negative":                                    {Gate: &throttle.Gate{MaxKeys: -1}},
		"throttle: alibaba.Control.MaxAttempts = -1: must not be negative":                     {MaxAttempts: -1, MaxDelay: -1},
		"throttle: alibaba.Control.MaxDelay = -2562047h47m16.854775808s: must not be negative": {Gate: new(throttle.Gate), MaxDelay: -longest - 1},
	} {
		require.EqualError(t, c.Validate(), text)
		_, err := retry.New(c.Options()...)
		require.ErrorIs(t, err, retry.ErrConfig)
		require.ErrorContains(t, err, text)
		_, is := errors.AsType[*throttle.ConfigError](err)
		require.True(t, is, text)
		require.ErrorIs(t, retry.Run(t.Context(), nil, c.Options()...), retry.ErrConfig)
	}
	for _, c := range []alibaba.Control{
		describe(), {Disabled: true}, {Gate: new(throttle.Gate)}, {Gate: &throttle.Gate{Replace: true}, Slack: -1},
		{Gate: new(throttle.Gate), MaxDelay: longest, MaxAttempts: int(^uint(0) >> 1), Slack: longest},
	} {
		require.NoError(t, c.Validate())
		_, err := retry.New(c.Options()...)
		require.NoError(t, err)
	}
}

// TestDefaults holds the documentation to what the options do.
func TestDefaults(t *testing.T) {
	require.Equal(t, 4, alibaba.DefaultMaxAttempts)
	require.Equal(t, 120*sec, alibaba.DefaultMaxDelay)
	require.Equal(t, 100*ms, alibaba.DefaultSlack)
	for draw, want := range map[float64][]time.Duration{
		0: {100 * ms, 200 * ms, 400 * ms}, belowOne: {200 * ms, 400 * ms, 800 * ms},
	} {
		c := describe()
		flow := retry.MustNew(append(c.Options(), drawn(draw))...).Begin(t0, time.Time{}, nil)
		now, ctx := t0, t.Context()
		var waits []time.Duration
		for {
			require.Equal(t, retry.Go, flow.Next(ctx, now).Action)
			step := flow.Report(ctx, now, throttle.Outcome{Err: failed(now, 503)})
			if step.Action == retry.Done {
				require.Equal(t, retry.ErrExhausted, step.Reason)
				break
			}
			waits = append(waits, step.Delay)
			now = now.Add(step.Delay)
		}
		require.Equal(t, want, waits)
	}
	// MaxDelay: 120 s are waited for, a nanosecond more is not.
	for extra, want := range map[time.Duration]retry.Action{0: retry.Wait, 1: retry.Done} {
		c := describe()
		_, api := c.Keys()
		c.Gate.Block(t0, alibaba.DefaultMaxDelay+extra, api)
		flow := retry.MustNew(c.Options()...).Begin(t0, time.Time{}, nil)
		require.Equal(t, want, flow.Next(t.Context(), t0).Action)
	}
	// The curve ends at 2 minutes, whatever MaxDelay is, and at a MaxDelay below that.
	for limit, most := range map[time.Duration]time.Duration{time.Hour: 2 * time.Minute, 0: 2 * time.Minute, sec: sec} {
		c := describe()
		c.MaxDelay, c.MaxAttempts = limit, 100
		flow := retry.MustNew(append(c.Options(), drawn(belowOne))...).Begin(t0, time.Time{}, nil)
		var step retry.Step
		for range 40 {
			flow.Next(t.Context(), t0)
			step = flow.Report(t.Context(), t0, throttle.Outcome{Err: failed(t0, 503)})
		}
		require.Equal(t, most, step.Delay)
	}
}

func TestKeys(t *testing.T) {
	c := describe()
	account, api := c.Keys()
	require.Equal(t, throttle.Key("16dc714f7394c1dcc886ef86c673d8d4"), account)
	require.Equal(t, account+"::Ecs::2014-05-26::DescribeInstances::cn-hangzhou", api)

	// Every field makes another API; only Account makes another account.
	seen := map[throttle.Key]bool{api: true}
	for _, change := range []func(*alibaba.Control){
		func(c *alibaba.Control) { c.Product = "Rds" },
		func(c *alibaba.Control) { c.Version = "2014-08-15" },
		func(c *alibaba.Control) { c.Action = "CreateSnapshot" },
		func(c *alibaba.Control) { c.Region = "eu-central-1" },
		func(c *alibaba.Control) { c.Product, c.Version = "Ecs::2", "3" },
		func(c *alibaba.Control) { c.Product, c.Version = "Ecs", "2::3" },
		func(c *alibaba.Control) { c.Product, c.Version = "Ecs:", ":2::3" },
		func(c *alibaba.Control) { c.Product, c.Version = "Ecs%3A", "%3A2::3" },
	} {
		c := describe()
		change(&c)
		a, b := c.Keys()
		require.Equal(t, account, a)
		require.False(t, seen[b], "%s", b)
		seen[b] = true
	}
	c.Account += "2"
	other, otherAPI := c.Keys()
	require.NotEqual(t, account, other)
	require.False(t, seen[otherAPI])
}

// Without an access key the SDK's whole key is empty, so that all anonymous callers wait for one another.
func TestAnonymousCallersKeepApart(t *testing.T) {
	c := describe()
	c.Account = ""
	account, api := c.Keys()
	require.Empty(t, account)
	require.Equal(t, throttle.Key("anonymous::Ecs::2014-05-26::DescribeInstances::cn-hangzhou"), api)
	for _, header := range [][]string{
		{user, half}, {user, half, userAPI, short}, {user, short, userAPI, half},
	} {
		c.Gate.Clear(api)
		c.Observe(t0, failed(t0, 429, header...).Signal, nil)
		_, rest := lefts(c, t0)
		require.Equal(t, 800*ms, rest, "the longer of what there is")
		_, rest = lefts(sibling(c), t0)
		require.Zero(t, rest)
	}
}

// TestSecretsStayHidden prints what there is to print.
func TestSecretsStayHidden(t *testing.T) {
	c := describe()
	c.MaxAttempts = 1
	var out strings.Builder
	failure := retry.Run(t.Context(), func(ctxt) error { return failed(time.Now(), 429, user, minute, userAPI, minute) },
		append(c.Options(), retry.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))...)
	c.MaxDelay = sec
	refused := retry.Run(t.Context(), func(ctxt) error { return nil },
		append(c.Options(), retry.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))...)
	require.Error(t, failure)
	require.Error(t, refused)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("control", "c", c)
	slog.New(slog.NewTextHandler(&out, nil)).Info("control", "c", c)
	account, api := c.Keys()
	options := c.Options()
	bad := c
	bad.Gate = nil
	_, config := retry.New(bad.Options()...)
	for _, v := range []any{c, &c, account, api, options, failure, refused, config} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	encoded, _ := json.Marshal(bad)
	out.Write(encoded)
	require.NotContains(t, out.String(), accessKey)
	require.NotContains(t, out.String(), fmt.Sprintf("%x", accessKey))
	require.Contains(t, out.String(), "alibaba(16dc714f7394c1dcc886ef86c673d8d4::Ecs::2014-05-26::DescribeInstances::cn-hangzhou)")
	require.Contains(t, out.String(), "is cooling down for")
}

func TestSetHeader(t *testing.T) {
	for _, disabled := range []bool{false, true} {
		for _, debug := range []bool{false, true} {
			c := alibaba.Control{Disabled: disabled, Debug: debug}
			want := http.Header{}
			if !disabled {
				want["X-Sdk-Throttling-Control"] = []string{"enable"}
			}
			if debug {
				want["X-Ratelimit-Mode"] = []string{"debug"}
			}
			h := http.Header{}
			c.SetHeader(h)
			c.SetHeader(h)
			require.Equal(t, want, h)

			r := new(http.Request)
			c.SetRequest(r)
			require.Equal(t, want, r.Header)
			r.Header.Set("x-acs-action", "DescribeInstances")
			c.SetRequest(r)
			require.Equal(t, len(want)+1, len(r.Header))
			c.SetHeader(nil)
			c.SetRequest(nil)
		}
	}
}

// Options of a control on top of a policy, and options of one call on top of those.
func TestOptionsCompose(t *testing.T) {
	base := retry.MustNew(retry.WithName("ecs"), retry.WithMaxElapsed(time.Minute))
	c := describe()
	policy, err := retry.New(append([]retry.Option{base}, c.Options()...)...)
	require.NoError(t, err)
	err = retry.Run(t.Context(), func(ctxt) error { return failed(t0, 503) }, policy,
		retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{}), retry.WithClock(retrytest.NewClock()))
	require.EqualError(t, err, `alibaba: 503 (retry "ecs": gave up after 2 attempts: attempts exhausted)`)

	_, err = retry.New(append(c.Options(), retry.WithJitter(strategy.Full))...)
	require.ErrorIs(t, err, retry.ErrConfig, "the curve draws itself")

	var nobody alibaba.Control
	nobody.Observe(t0, failed(t0, 429, user, minute).Signal, nil)
}
