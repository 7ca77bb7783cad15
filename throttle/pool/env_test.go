package pool_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// env is os.LookupEnv for lines of NAME=value.
func env(lines string) func(string) (string, bool) {
	values := map[string]string{}
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, ok := strings.Cut(strings.TrimLeft(line, "\t "), "="); ok {
			values[name] = value
		}
	}
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

func TestPoolFromEnv(t *testing.T) {
	for _, c := range []struct {
		name, prefix, lines string
		keys                []string
		by                  pool.Selection
		attempts            int
		base, max           time.Duration
	}{
		{"defaults", "PIXIVFE_", "PIXIVFE_TOKEN=a", []string{"a"}, pool.RoundRobin, 6, sec, 32 * sec},
		{"all", "PIXIVFE_", `PIXIVFE_TOKEN= a ,b,,c,a
			PIXIVFE_TOKEN_LOAD_BALANCING=least-recently-used
			PIXIVFE_TOKEN_MAX_RETRIES=7
			PIXIVFE_TOKEN_BASE_TIMEOUT=1500ms
			PIXIVFE_TOKEN_MAX_BACKOFF_TIME=1m`, []string{"a", "b", "c"}, pool.LeastRecentlyUsed, 8, 1500 * ms, time.Minute},
		{"former names", "PIXIVFE_", `PIXIVFE_TOKEN=a
			PIXIVFE_TOKEN_LOAD_BALANCING=random
			PIXIVFE_MAX_RETRIES=0
			PIXIVFE_BASE_TIMEOUT=2s
			PIXIVFE_MAX_BACKOFF_TIME=3s`, []string{"a"}, pool.Random, 1, 2 * sec, 3 * sec},
		{"new before former, if it says something", "PIXIVFE_", `PIXIVFE_TOKEN=a
			PIXIVFE_MAX_RETRIES=1
			PIXIVFE_TOKEN_MAX_RETRIES=2
			PIXIVFE_TOKEN_BASE_TIMEOUT=
			PIXIVFE_BASE_TIMEOUT= 5ms 
			PIXIVFE_TOKEN_LOAD_BALANCING= `, []string{"a"}, pool.RoundRobin, 3, 5 * ms, 32 * sec},
		{"other prefix", "", "TOKEN=a\nTOKEN_MAX_RETRIES=2147483646", []string{"a"}, pool.RoundRobin, math.MaxInt32, sec, 32 * sec},
		{"no cool-downs", "X_", "X_TOKEN=a\nX_TOKEN_BASE_TIMEOUT=0", []string{"a"}, pool.RoundRobin, 6, -1, 0},
		{"none either", "X_", "X_TOKEN=a\nX_TOKEN_MAX_BACKOFF_TIME=0s", []string{"a"}, pool.RoundRobin, 6, -1, 0},
	} {
		p, attempts, err := pool.FromEnv(c.prefix, env(c.lines))
		require.NoError(t, err, c.name)
		require.Equal(t, c.keys, p.Keys(), c.name)
		require.Equal(t, c.attempts, attempts, c.name)
		require.Equal(t, c.by, p.Selection, c.name)
		require.Equal(t, []time.Duration{c.base, c.max}, []time.Duration{p.Base, p.Max}, c.name)
		require.NoError(t, p.Validate())
	}
}

func TestPoolFromEnvErrors(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"", `throttle: P_TOKEN = unset: must name a key`},
		{"P_TOKEN= ,, ", `throttle: P_TOKEN = hidden: must name a key`},
		{"P_TOKEN=s3cr3t\nP_TOKEN_LOAD_BALANCING=Round-Robin", `throttle: P_TOKEN_LOAD_BALANCING = "Round-Robin": must be round-robin, random or least-recently-used`},
		{"P_TOKEN=s3cr3t\nP_TOKEN_MAX_RETRIES=-1", `throttle: P_TOKEN_MAX_RETRIES = "-1": must be a whole number from 0 to 2147483646`},
		{"P_TOKEN=s3cr3t\nP_MAX_RETRIES=2147483647", `throttle: P_MAX_RETRIES = "2147483647": must be a whole number from 0 to 2147483646`},
		{"P_TOKEN=s3cr3t\nP_TOKEN_MAX_RETRIES=5.5", `throttle: P_TOKEN_MAX_RETRIES = "5.5": must be a whole number from 0 to 2147483646`},
		{"P_TOKEN=s3cr3t\nP_BASE_TIMEOUT=1000", `throttle: P_BASE_TIMEOUT = "1000": must be a duration with a unit, such as 1000ms or 32s`},
		{"P_TOKEN=s3cr3t\nP_TOKEN_MAX_BACKOFF_TIME=-1s", `throttle: P_TOKEN_MAX_BACKOFF_TIME = -1s: must not be negative`},
		{"P_TOKEN=s3cr3t\nP_TOKEN_LOAD_BALANCING=lru\nP_TOKEN_BASE_TIMEOUT=soon", "throttle: P_TOKEN_LOAD_BALANCING = \"lru\": must be round-robin, random or least-recently-used\n" +
			`throttle: P_TOKEN_BASE_TIMEOUT = "soon": must be a duration with a unit, such as 1000ms or 32s`},
	} {
		p, attempts, err := pool.FromEnv("P_", env(c.lines))
		require.EqualError(t, err, c.want)
		require.Nil(t, p)
		require.Zero(t, attempts)
		config, ok := errors.AsType[*throttle.ConfigError](err)
		require.True(t, ok)
		require.Contains(t, config.Field, "P_")
		require.NotContains(t, err.Error(), "s3cr3t")
	}
	_, _, err := pool.FromEnv("P_", nil)
	require.EqualError(t, err, `throttle: P_TOKEN = unset: must name a key`)
}

func TestSelectionText(t *testing.T) {
	for s, name := range []string{"round-robin", "random", "least-recently-used"} {
		require.Equal(t, name, pool.Selection(s).String())
		text, err := pool.Selection(s).MarshalText()
		require.NoError(t, err)
		require.Equal(t, name, string(text))
		var read pool.Selection
		require.NoError(t, read.UnmarshalText(text))
		require.Equal(t, pool.Selection(s), read)
	}
	require.Equal(t, "invalid", pool.Selection(3).String())
	_, err := pool.Selection(3).MarshalText()
	require.EqualError(t, err, "throttle: Selection = 3: must be round-robin, random or least-recently-used")
	read := pool.Random
	require.EqualError(t, read.UnmarshalText([]byte("lru")), `throttle: Selection = "lru": must be round-robin, random or least-recently-used`)
	require.Equal(t, pool.Random, read)
}

func FuzzPoolFromEnv(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add("a,b", "random", "5", "1s", "32s")
	f.Add("", "", "", "", "")
	f.Add(" , ", "Random", "-9223372036854775808", "9223372036854775807ns", "1e9h")
	f.Fuzz(func(t *testing.T, tokens, balancing, retries, base, most string) {
		values := map[string]string{
			"TOKEN": tokens, "TOKEN_LOAD_BALANCING": balancing, "TOKEN_MAX_RETRIES": retries, "TOKEN_BASE_TIMEOUT": base, "MAX_BACKOFF_TIME": most,
		}
		p, attempts, err := pool.FromEnv("", func(name string) (string, bool) { value, ok := values[name]; return value, ok })
		if err != nil {
			require.Nil(t, p)
			return
		}
		require.NoError(t, p.Validate())
		require.Positive(t, attempts)
		require.Positive(t, p.Len())
	})
}
