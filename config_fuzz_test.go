package retry_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle"
)

// cfgCheckUse wants New to take a Config exactly if Validate does, and its waits to keep their bounds.
func cfgCheckUse(t *testing.T, c retry.Config, draw float64) {
	t.Helper()
	policy, err := retry.New(c)
	if problem := c.Validate(); problem != nil {
		require.ErrorIs(t, problem, retry.ErrConfig)
		require.Equal(t, problem, err)
		return
	}
	require.NoError(t, err)
	now := time.Unix(1_800_000_000, 0)
	flow := policy.Begin(now, time.Time{}, func() float64 { return draw })
	limit := 5
	switch {
	case c.MaxAttempts != 0:
		limit = int(c.MaxAttempts)
	case c.MaxElapsed > 0:
		limit = math.MaxInt
	}
	for n := 1; n < 80; n++ {
		require.Equal(t, retry.Go, flow.Next(t.Context(), now).Action)
		step := flow.Report(t.Context(), now, throttle.Outcome{Err: errCfg})
		if step.Action == retry.Done {
			var gaveUp *retry.Error
			require.ErrorAs(t, step.Err, &gaveUp)
			require.LessOrEqual(t, n, limit)
			if errors.Is(gaveUp.Reason, retry.ErrExhausted) {
				require.Equal(t, limit, n)
			}
			return
		}
		require.Less(t, n, limit)
		require.GreaterOrEqual(t, step.Delay, time.Duration(0))
		if c.MaxDelay > 0 {
			require.LessOrEqual(t, step.Delay, c.MaxDelay)
		}
		if c.BaseDelay > 0 && n == 1 {
			require.LessOrEqual(t, step.Delay, c.BaseDelay)
		}
		if c.MaxElapsed > 0 {
			require.Less(t, step.Delay, c.MaxElapsed)
		}
	}
}

// cfgCheckJSON wants a Config to come back from JSON as it went in.
func cfgCheckJSON(t *testing.T, c retry.Config) {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	var back retry.Config
	require.NoError(t, json.Unmarshal(text, &back), "%s", text)
	require.Equal(t, c, back, "%s", text)
}

func FuzzConfigJSON(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, text := range []string{
		`{}`, `null`, `[]`, `"x"`, `{"max_attempts":3}`, `{"max_attempts":"unlimited"}`, `{"max_attempts":0}`, `{"max_attempts":-1}`,
		`{"max_attempts":"", "base_delay":"1.5s","max_delay":"1m","max_elapsed":"1h","attempt_timeout":"2s"}`,
		`{"base_delay":1}`, `{"base_delay":"1"}`, `{"base_delay":"-1s"}`, `{"max_delay":"9999999h"}`, `{"max_elapsed":[1,{"a":null}]}`,
		`{"strategy":"constant(delay=1s)"}`, `{"strategy":"sequence(delays=[1ns, 2h], repeat=true)"}`, `{"strategy":5}`, `{"strategy":"expo","base_delay":"1s"}`,
		`{"STRATEGY":"<&>\u2028\ud800"}`, `{"max_attempts":1e99}`, "{\"strategy\":\"\xff\"}", ` {"max_attempts" : " 3 " } `, `{"max_attempts":3,}`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c retry.Config
		direct := c.UnmarshalJSON(data)
		if direct != nil {
			require.ErrorIs(t, direct, retry.ErrConfig)
			require.Zero(t, c)
		}
		if !json.Valid(data) {
			require.Error(t, direct)
			return
		}
		var decoded retry.Config
		require.Equal(t, direct == nil, json.Unmarshal(data, &decoded) == nil)
		require.Equal(t, c, decoded)
		if direct == nil {
			cfgCheckJSON(t, c)
			cfgCheckUse(t, c, 0.5)
		}
	})
}

func FuzzConfigFields(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add(3, int64(time.Second), int64(8*time.Second), int64(0), int64(0), "", 0.5)
	f.Add(0, int64(0), int64(0), int64(time.Minute), int64(1), "exponential(base=1s, factor=1.5)", 0.0)
	f.Add(-1, int64(-1), int64(math.MinInt64), int64(-5), int64(-6), "expo", 1.0)
	f.Add(math.MaxInt, int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), " ", math.NaN())
	f.Add(2, int64(1), int64(0), int64(0), int64(0), "constant", math.Inf(1))
	f.Fuzz(func(t *testing.T, attempts int, base, most, elapsed, timeout int64, strategy string, draw float64) {
		c := retry.Config{
			MaxAttempts: retry.Attempts(attempts), BaseDelay: time.Duration(base), MaxDelay: time.Duration(most),
			MaxElapsed: time.Duration(elapsed), AttemptTimeout: time.Duration(timeout), Strategy: strategy,
		}
		cfgCheckUse(t, c, draw)
		text, err := json.Marshal(c)
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		if c.Validate() == nil {
			cfgCheckJSON(t, c)
		}
	})
}

func FuzzAttempts(tf *testing.F) {
	f := fuzzed.New(tf)
	for text := range cfgAttempts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var a, b, c, d retry.Attempts
		if err := a.UnmarshalText([]byte(text)); err != nil {
			cfgRequire(t, err, cfgProblem{"Config.MaxAttempts", text, cfgBadAttempts})
			require.Zero(t, a)
		}
		require.GreaterOrEqual(t, a, retry.Attempts(0))
		written, err := a.MarshalText()
		require.NoError(t, err)
		require.NoError(t, b.UnmarshalText(written))
		require.Equal(t, a, b)
		written, err = json.Marshal(a)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &c))
		require.Equal(t, a, c)
		if err := d.UnmarshalJSON([]byte(text)); err != nil {
			require.ErrorIs(t, err, retry.ErrConfig)
		}
	})
}
