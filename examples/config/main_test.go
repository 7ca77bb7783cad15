package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sethvargo/go-envconfig"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// environment reads lines NAME=value.
func environment(lines ...string) envconfig.Lookuper {
	vars := map[string]string{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		vars[name] = value
	}
	return envconfig.MapLookuper(vars)
}

func TestEnvironments(t *testing.T) {
	const fast = "API_BASE_TIMEOUT=2ms"
	for _, tc := range []struct {
		env      []string
		inForce  string
		requests string
		says     string
	}{
		{[]string{fast}, `{"max_attempts":4,"base_delay":"2ms","max_delay":"8s"}`, "4", "attempt 4 succeeded: Evening by the river"},
		{[]string{fast, "API_MAX_BACKOFF_TIME=3ms"}, `{"max_attempts":4,"base_delay":"2ms","max_delay":"3ms"}`, "4", "attempt 4 succeeded"},
		{[]string{fast, "API_MAX_RETRIES=9"}, `{"max_attempts":10,"base_delay":"2ms","max_delay":"8s"}`, "4", "attempt 4 succeeded"},
		{[]string{fast, "API_MAX_RETRIES=1"}, `{"max_attempts":2,"base_delay":"2ms","max_delay":"8s"}`, "2", "gave up after 2 attempts"},
		{[]string{fast, "API_MAX_RETRIES=0"}, `{"max_attempts":1,"base_delay":"2ms","max_delay":"8s"}`, "1", "gave up after 1 attempt"},
		{[]string{"API_MAX_RETRIES=1", "API_MAX_ATTEMPTS=unlimited", "API_BASE_DELAY=1ms", "API_MAX_DELAY=1s"}, `{"max_attempts":"unlimited","base_delay":"1ms","max_delay":"1s"}`, "4", "attempt 4 succeeded"},
		{[]string{"API_STRATEGY=equaljitter(base=2ms)", "API_MAX_BACKOFF_TIME=3ms"}, `{"max_attempts":4,"max_delay":"3ms","strategy":"equaljitter(base=2ms)"}`, "4", "attempt 4 succeeded"},
		{[]string{"API_STRATEGY=sequence(delays=[1ms, 2ms])", "API_MAX_RETRIES=9"}, `{"max_attempts":10,"max_delay":"8s","strategy":"sequence(delays=[1ms, 2ms])"}`, "3", "strategy"},
		{[]string{fast, "API_MAX_ELAPSED=1ns"}, `{"max_attempts":4,"base_delay":"2ms","max_delay":"8s","max_elapsed":"1ns"}`, "1", "(WithMaxElapsed)"},
		{[]string{fast, "API_ATTEMPT_TIMEOUT=1m", "API_MAX_RETRIES=", "API_MAX_ATTEMPTS="}, `{"max_attempts":4,"base_delay":"2ms","max_delay":"8s","attempt_timeout":"1m0s"}`, "4", "attempt 4 succeeded"},
		{[]string{fast, "API_ATTEMPT_TIMEOUT=1ns"}, `{"max_attempts":4,"base_delay":"2ms","max_delay":"8s","attempt_timeout":"1ns"}`, "0", "timed out"},
	} {
		t.Run(strings.Join(tc.env, " "), func(t *testing.T) {
			var out, problems strings.Builder
			status := run(t.Context(), &out, &problems, environment(tc.env...))
			require.Empty(t, problems.String())
			require.Zero(t, status)
			require.Contains(t, out.String(), "in force: "+tc.inForce+"\n")
			require.Regexp(t, `(?m)^`+tc.requests+` requests, \d+\.\d{3}s of waits: as set$`, out.String())
			require.Contains(t, out.String(), tc.says)
		})
	}
}

const wantOutput = `in force: {"max_attempts":4,"base_delay":"2ms","max_delay":"8s"}

 TIME  attempt 1 failed: EOF; waiting TIME
 TIME  attempt 2 failed: 500 Internal Server Error; waiting TIME
 TIME  attempt 3 failed: 503 Service Unavailable; waiting TIME
 TIME  attempt 4 succeeded: Evening by the river

4 requests, TIME of waits: as set
`

func TestOutput(t *testing.T) {
	var out, problems strings.Builder
	require.Zero(t, run(t.Context(), &out, &problems, environment("API_BASE_TIMEOUT=2ms")))
	require.Equal(t, wantOutput, regexp.MustCompile(` +\d+\.\d{3}s`).ReplaceAllString(out.String(), " TIME"))
}

func TestDefaults(t *testing.T) {
	s, err := load(t.Context(), environment())
	require.NoError(t, err)
	require.Equal(t, settings{MaxRetries: 3, BaseTimeout: 500 * time.Millisecond, MaxBackoffTime: 8 * time.Second}, s)
	shortest, longest, err := bounds(s.inForce(), 3)
	require.NoError(t, err)
	require.Equal(t, []time.Duration{0, 0, 0}, shortest)
	require.Equal(t, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, longest)
}

func TestBadEnvironments(t *testing.T) {
	for env, want := range map[string][]string{
		"API_MAX_RETRIES=three":                   {"MaxRetries", `"three"`},
		"API_MAX_RETRIES=-1":                      {"API_MAX_RETRIES=-1: must be 0 or more; for no limit say API_MAX_ATTEMPTS=unlimited"},
		"API_BASE_TIMEOUT=500":                    {"BaseTimeout", `missing unit in duration "500"`},
		"API_BASE_TIMEOUT=0s":                     {"API_BASE_TIMEOUT=0s: must be more than 0"},
		"API_MAX_BACKOFF_TIME=-8s":                {"API_MAX_BACKOFF_TIME=-8s: must be more than 0"},
		"API_MAX_ATTEMPTS=0":                      {"MaxAttempts", "(0)", `must be a whole number of at least 1, or "unlimited"`},
		"API_MAX_ATTEMPTS=many":                   {"MaxAttempts", "many", `must be a whole number of at least 1, or "unlimited"`},
		"API_MAX_ELAPSED=-1m":                     {"Config.MaxElapsed(-1m0s): must not be negative (MAX_ELAPSED)"},
		"API_STRATEGY=expo":                       {`Config.Strategy("expo")`, "unknown strategy; known are constant, linear, exponential"},
		"API_STRATEGY=constant API_BASE_DELAY=1s": {"Config.BaseDelay(1s): must not be set together with Strategy"},
		"API_MAX_RETRIES=-1 API_BASE_TIMEOUT=-1s API_MAX_DELAY=-2s API_STRATEGY=x": {
			"API_MAX_RETRIES=-1", "API_BASE_TIMEOUT=-1s", "Config.MaxDelay(-2s)", `Config.Strategy("x")`},
	} {
		var out, problems strings.Builder
		require.Equal(t, 2, run(t.Context(), &out, &problems, environment(strings.Fields(env)...)), env)
		require.Empty(t, out.String(), env)
		for _, text := range append(want, "the settings cannot be used", "Variables:") {
			require.Contains(t, problems.String(), text, env)
		}
	}
}

// The program fails where something that it says does not hold.
func TestVerify(t *testing.T) {
	const s = time.Second
	set := retry.Config{MaxAttempts: 4, BaseDelay: s, MaxDelay: 3 * s}
	at := func(seconds ...int) (times []time.Time) {
		for _, n := range seconds {
			times = append(times, time.Unix(int64(n), 0))
		}
		return times
	}
	exhausted := &retry.Error{Reason: retry.ErrExhausted}
	for name, tc := range map[string]struct {
		went record
		says string
	}{
		"right":              {record{at(0, 1, 3, 6), []time.Duration{s, 2 * s, 3 * s}, 4, nil}, ""},
		"an unknown attempt": {record{at(0, 1, 3, 6, 6), []time.Duration{s, 2 * s, 3 * s}, 5, nil}, "5 attempts do not go with 3 waits"},
		"an unknown request": {record{at(0, 1, 3, 6), []time.Duration{s, 2 * s, 3 * s}, 5, nil}, "4 attempts do not go with 5 requests"},
		"a lost request":     {record{at(0, 1, 3, 6), []time.Duration{s, 2 * s, 3 * s}, 3, nil}, "4 attempts do not go with 3 requests"},
		"a long wait":        {record{at(0, 9, 9, 9), []time.Duration{s + 1, 0, 0}, 4, nil}, "wait 1 was 1.000000001s"},
		"above the cap":      {record{at(0, 1, 2, 9), []time.Duration{s, s, 3*s + 1}, 4, nil}, "wait 3 was 3.000000001s"},
		"a wait not taken":   {record{at(0, 1, 2, 9), []time.Duration{s, 2 * s, 3 * s}, 4, nil}, "wait 2 was to be 2s, and the next attempt came after 1s"},
		"success too early":  {record{at(0, 1), []time.Duration{s}, 2, nil}, "there should not have been 2 attempts"},
		"success too late":   {record{at(0, 1, 2, 3, 4), []time.Duration{s, s, s, s}, 5, nil}, "there should not have been 5 attempts"},
		"gave up too early":  {record{at(0, 1), []time.Duration{s}, 2, exhausted}, "there should not have been 2 attempts"},
		"no end was set":     {record{at(0, 1), []time.Duration{s}, 2, &retry.Error{Reason: retry.ErrNoDelay}}, "there should not have been 2 attempts"},
		"no limit was set":   {record{at(0, 1), []time.Duration{s}, 2, &retry.Error{Reason: retry.ErrMaxElapsed}}, "there should not have been 2 attempts"},
		"another error":      {record{at(0), nil, 1, errors.New("no route")}, "no route"},
	} {
		err := tc.went.verify(set)
		if tc.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, tc.says, name)
	}
	require.ErrorContains(t, record{attempts: at(0), requests: 1}.verify(retry.Config{Strategy: "expo"}), "unknown strategy")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, problems strings.Builder
	require.Equal(t, 1, run(ctx, &out, &problems, environment()))
	require.Contains(t, problems.String(), "not attempted: context canceled")
}
