package strategy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// The waits of three other retriers, rebuilt from strategies and jitters. Zeros mean "never wait" there and the default
// here: Constant{} is what never waits.

type originalWaits struct {
	Java []struct {
		Base    int64 `json:"base_ms"`
		Max     int64 `json:"max_ms"`
		Retries int   `json:"retries_attempted"`
		Low     int64 `json:"want_low_ms"`
		High    int64 `json:"want_high_ms"`
	} `json:"alibaba_equal_jitter"`
	Dara []struct {
		Policy   string
		Period   int64 `json:"period_ms"`
		Cap      int64 `json:"cap_ms"`
		Retries  int   `json:"retries_attempted"`
		Low      int64 `json:"want_low_ms"`
		High     int64 `json:"want_high_ms"`
		Original string
		PortLow  int64  `json:"port_low_ms"`
		PortHigh int64  `json:"port_high_ms"`
		Error    string `json:"want_error"`
	} `json:"alibaba_go_backoff"`
	HTTP []struct {
		Attempt    int
		Min        int64    `json:"min_ns"`
		Max        int64    `json:"max_ns"`
		RetryAfter []string `json:"retry_after"`
		Status     int
		Want       int64 `json:"want_ns"`
	} `json:"retryablehttp_backoff"`
	Linear []struct {
		Attempt int
		Min     int64 `json:"min_ns"`
		Max     int64 `json:"max_ns"`
		Low     int64 `json:"want_min_ns"`
		High    int64 `json:"want_max_ns"`
	} `json:"retryablehttp_linear"`
}

func waits(t *testing.T) (v originalWaits) {
	data, err := os.ReadFile("testdata/original_waits.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Java, 156)
	require.Len(t, v.Dara, 106)
	require.Len(t, v.HTTP, 41)
	require.Len(t, v.Linear, 3)
	return v
}

// ends returns the shortest and the longest wait that s can draw for a failure. jitter, if not nil, is put on top.
func ends(s strategy.Strategy, number int, jitter strategy.Jitter) (low, high time.Duration) {
	at := func(r float64) time.Duration {
		delay, ok := s.Next(strategy.State{Number: number, Rand: func() float64 { return r }})
		if !ok {
			return -1
		}
		if jitter != nil {
			limit := time.Duration(math.MaxInt64)
			if c, ok := s.(interface {
				Ceiling(strategy.State) time.Duration
			}); ok && c.Ceiling(strategy.State{}) > 0 {
				limit = c.Ceiling(strategy.State{})
			}
			delay = jitter(delay, limit, r)
		}
		return delay
	}
	return at(0), at(math.Nextafter(1, 0))
}

// TestVectorsOfAlibabaEqualJitter: that SDK counts whole milliseconds and halves them, so it loses the last one of an odd
// ceiling, 1..2 ms for 1.5..3. It reads a base or maximum of more than a day as a day.
func TestVectorsOfAlibabaEqualJitter(t *testing.T) {
	odd := 0
	for _, c := range waits(t).Java {
		const day = 24 * time.Hour
		base, most := min(time.Duration(c.Base)*ms, day), min(time.Duration(c.Max)*ms, day)
		var s strategy.Strategy = strategy.EqualJitter{Base: base, Max: most}
		if base == 0 || most == 0 {
			s = strategy.Constant{}
		}
		low, high := ends(s, c.Retries+1, nil)
		if high%(2*ms) != 0 {
			odd++
			require.Equal(t, ms/2, low%ms, "%+v", c)
			low, high = low-ms/2, high-ms
		}
		require.Equal(t, time.Duration(c.Low)*ms, low, "%+v", c)
		require.Equal(t, time.Duration(c.High)*ms, high, "%+v", c)
	}
	require.Equal(t, 2, odd)
}

// TestVectorsOfDara: n is the number of calls made, so the wait after failure n is that of Number n+1 where the original
// doubles, and of Number n where it multiplies by n. Where it draws below a ceiling, in whole milliseconds, the ceiling
// itself can be drawn here. It panics on an empty range, and the port waits for nothing.
func TestVectorsOfDara(t *testing.T) {
	for _, c := range waits(t).Dara {
		period, most := time.Duration(c.Period)*ms, time.Duration(c.Cap)*ms
		var (
			s      strategy.Strategy
			jitter strategy.Jitter
			number = c.Retries + 1
			below  bool // the original does not reach the upper end
		)
		switch c.Policy {
		case "Fixed":
			s = strategy.Constant{Delay: period}
		case "Random":
			s, jitter, number, below = strategy.Linear{Initial: period, Max: most}, strategy.Full, c.Retries, true
			if c.Retries == 0 {
				s = strategy.Constant{} // nothing has failed yet
			}
		case "Exponential":
			s = strategy.Exponential{Base: period, Max: most}
		case "EqualJitter", "ExponentialWithEqualJitter":
			s = strategy.EqualJitter{Base: period, Max: most}
		case "FullJitter", "ExponentialWithFullJitter":
			s, below = strategy.FullJitter{Base: period, Max: most}, true
		default:
			require.Equal(t, "unknown policy type", c.Error)
			_, err := strategy.Parse(c.Policy)
			require.Error(t, err)
			continue
		}
		if period == 0 {
			s = strategy.Constant{}
		}
		wantLow, wantHigh := time.Duration(c.Low)*ms, time.Duration(c.High)*ms
		if c.Original == "panic" {
			wantLow, wantHigh = time.Duration(c.PortLow)*ms, time.Duration(c.PortHigh)*ms
		} else if below {
			wantHigh += ms
		}
		low, high := ends(s, number, jitter)
		require.Equal(t, wantLow, low, "%+v", c)
		require.Equal(t, wantHigh, high, "%+v", c)
	}
}

// TestVectorsOfRetryableHTTP: the curve. A wait that the server named takes its place in the executor, so those cases are
// not asked here.
func TestVectorsOfRetryableHTTP(t *testing.T) {
	known := map[string]time.Duration{
		"2000 after 0s":  0,           // 0·Inf is NaN in the original, and then the maximum
		"-1 after 1s":    time.Second, // half of the minimum there: here, what is below the first failure is the first
		"-1 after 333ns": 333,         // the maximum there, because half of it is no whole number
	}
	told, curve := 0, 0
	for _, c := range waits(t).HTTP {
		if len(c.RetryAfter) > 0 {
			told++
			continue
		}
		curve++
		least, most := time.Duration(c.Min), time.Duration(c.Max)
		var s strategy.Strategy = strategy.Exponential{Base: least, Max: most}
		if least == 0 || most == 0 {
			s = strategy.Constant{}
		}
		want := time.Duration(c.Want)
		if other, ok := known[fmt.Sprintf("%d after %v", c.Attempt, least)]; ok {
			require.NotEqual(t, want, other)
			want = other
		}
		low, high := ends(s, c.Attempt+1, nil)
		require.Equal(t, want, low, "%+v", c)
		require.Equal(t, want, high, "%+v", c)
	}
	require.Equal(t, []int{20, 21}, []int{told, curve})
}

// TestVectorsOfRetryableHTTPLinear: what grows by a random step from minimum to maximum is a Linear by the middle of the two,
// with a Proportional jitter that reaches both. A maximum below the minimum counts as the minimum.
func TestVectorsOfRetryableHTTPLinear(t *testing.T) {
	for _, c := range waits(t).Linear {
		least, most := time.Duration(c.Min), time.Duration(max(c.Min, c.Max))
		middle := least + (most-least)/2
		spread := float64(most-least) / 2 / float64(middle)
		low, high := ends(strategy.Linear{Initial: middle}, c.Attempt+1, strategy.Proportional(spread))
		require.Equal(t, time.Duration(c.Low), low, "%+v", c)
		require.Equal(t, time.Duration(c.High), high, "%+v", c)
	}
}
