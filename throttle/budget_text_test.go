package throttle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

func TestParseBudget(t *testing.T) {
	for text, want := range map[string]throttle.Budget{
		"token":               new(throttle.TokenBudget),
		"token(capacity=100)": &throttle.TokenBudget{Capacity: 100},
		"token(capacity=100, retrycost=5, timeoutcost=10, throttledcost=2, reward=3)": &throttle.TokenBudget{
			Capacity: 100, RetryCost: 5, TimeoutCost: 10, ThrottledCost: 2, Reward: 3},
		"ratio": new(throttle.RatioBudget),
		"ratio(ratio=0.1, minpersecond=-1, ttl=1m0s)": &throttle.RatioBudget{Ratio: 0.1, MinPerSecond: -1, TTL: time.Minute},
		"failure":                                new(throttle.FailureBudget),
		"failure(maxtokens=100, tokenratio=0.5)": &throttle.FailureBudget{MaxTokens: 100, TokenRatio: 0.5},
		"inflight":                               new(throttle.InFlightBudget),
		"inflight(ratio=0.5, minretries=-1)":     &throttle.InFlightBudget{Ratio: 0.5, MinRetries: -1},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := throttle.ParseBudget(text)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, text, got.(fmt.Stringer).String())
			again, err := throttle.ParseBudget(text)
			require.NoError(t, err)
			require.NotSame(t, got, again)
		})
	}
	for text, same := range map[string]string{
		"  Token ": "token", "TOKEN()": "token", "token( )": "token", "Ratio(TTL = 10s ,\n\tratio=0.20)": "ratio(ratio=0.2, ttl=10s)",
		"token(capacity=0)": "token", "inflight(ratio=0)": "inflight",
	} {
		got, err := throttle.ParseBudget(text)
		require.NoError(t, err, text)
		require.Equal(t, same, fmt.Sprint(got))
	}
}

func TestBudgetStringOfNil(t *testing.T) {
	for _, b := range []fmt.Stringer{
		(*throttle.TokenBudget)(nil), (*throttle.RatioBudget)(nil), (*throttle.FailureBudget)(nil), (*throttle.InFlightBudget)(nil),
	} {
		require.Equal(t, "none", b.String())
	}
}

func TestParseBudgetErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 `throttle: name = "": unknown budget; known are token, ratio, failure, inflight`,
		"tokens":                           `throttle: name = "tokens": unknown budget; known are token, ratio, failure, inflight`,
		"none":                             `throttle: name = "none": unknown budget; known are token, ratio, failure, inflight`,
		"token(capacity=1":                 `throttle: text = token(capacity=1: must end with a closing parenthesis`,
		"token)":                           `throttle: name = "token)": unknown budget; known are token, ratio, failure, inflight`,
		"token(100)":                       `throttle: token = "100": must be of the form field=value; fields are capacity, retrycost, timeoutcost, throttledcost, reward`,
		"token(capacity=100,)":             `throttle: token = "": must be of the form field=value; fields are capacity, retrycost, timeoutcost, throttledcost, reward`,
		"ratio(min=1)":                     `throttle: ratio.min = 1: unknown field; known are ratio, minpersecond, ttl`,
		"ratio(ratio=1, Ratio=2)":          `throttle: ratio.Ratio = 2: must not be given twice`,
		"token(capacity=1.5)":              `throttle: token.Capacity = "1.5": must be a whole number, such as 100`,
		"token(capacity=99e99)":            `throttle: token.Capacity = "99e99": must be a whole number, such as 100`,
		"ratio(ttl=10)":                    `throttle: ratio.TTL = "10": must be a duration with a unit, such as 10s`,
		"ratio(ratio=1_5)":                 `throttle: ratio.Ratio = "1_5": must be a number, such as 0.1`,
		"ratio(ratio=NaN)":                 `throttle: RatioBudget.Ratio = NaN: must be at most 1000`,
		"ratio(minpersecond=Inf)":          `throttle: RatioBudget.MinPerSecond = +Inf: must be a finite number`,
		"token(capacity=-1)":               `throttle: TokenBudget.Capacity = -1: must not be negative`,
		"token(capacity=3)":                `throttle: TokenBudget.Capacity = 3: must not be below what a retry costs`,
		"failure(maxtokens=1e9)":           `throttle: FailureBudget.MaxTokens = 1e+09: must be from 0.001 to 1000`,
		"inflight(ratio=2)":                `throttle: InFlightBudget.Ratio = 2: must be at most 1`,
		"ratio(ratio=-1, minpersecond=-1)": `throttle: RatioBudget.Ratio = -1: must not be none where MinPerSecond is none too`,
	} {
		b, err := throttle.ParseBudget(text)
		require.Nil(t, b, text)
		var invalid *throttle.ConfigError
		require.ErrorAs(t, err, &invalid, text)
		require.EqualError(t, err, want)
	}
}

// FuzzParseBudget: whatever is read is written so that it is read again as the same.
func FuzzParseBudget(f *testing.F) {
	for _, seed := range []string{"token", "ratio(ratio=0.1, ttl=1s)", "failure(maxtokens=100)", "inflight(minretries=-1)", "token((", "ratio(ratio=,)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := throttle.ParseBudget(text)
		if err != nil {
			require.Nil(t, b)
			require.True(t, strings.HasPrefix(err.Error(), "throttle: "))
			return
		}
		again, err := throttle.ParseBudget(fmt.Sprint(b))
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}
