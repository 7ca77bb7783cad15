package throttle_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/throttle"
)

type (
	carrying struct {
		error
		signal throttle.Signal
		ok     bool
	}
	waiting  time.Duration
	counting struct{ ms *int64 }
	// both is a Carrier and has the plain method.
	both struct {
		carrying
		wait time.Duration
	}
	opaque struct{ error }
	nilFn  func()
)

func (c carrying) ThrottleSignal() (throttle.Signal, bool) { return c.signal, c.ok }
func (w waiting) Error() string                            { return "told to wait" }
func (w waiting) RetryAfter() time.Duration                { return time.Duration(w) }
func (c counting) Error() string                           { return "told to wait" }
func (c counting) GetRetryAfter() *int64                   { return c.ms }
func (b both) RetryAfter() time.Duration                   { return b.wait }
func (o opaque) Unwrap() error                             { return o.error }
func (o opaque) OpaqueRetry()                              {}
func (f nilFn) Error() string                              { f(); return "" }
func (f nilFn) RetryAfter() time.Duration                  { f(); return 0 }

func millis(n int64) counting { return counting{&n} }

func TestFromError(t *testing.T) {
	pushback := throttle.Signal{Retry: throttle.No, Rule: throttle.Exact(), Source: "grpc-retry-pushback-ms"}
	method := func(d time.Duration) throttle.Signal {
		return throttle.Signal{Delay: d, HasDelay: true, Source: "RetryAfter()"}
	}
	getter := func(d time.Duration) throttle.Signal {
		return throttle.Signal{Delay: d, HasDelay: true, Source: "GetRetryAfter()"}
	}
	none := throttle.Signal{}
	for name, c := range map[string]struct {
		err  error
		want throttle.Signal
	}{
		"nil":   {nil, none},
		"plain": {boom, none},

		"carrier":                       {carrying{boom, pushback, true}, pushback},
		"carrier without a word":        {carrying{boom, pushback, false}, none},
		"carrier speaks for its error":  {both{carrying{boom, pushback, true}, sec}, pushback},
		"carrier denies for its error":  {both{carrying{boom, pushback, false}, sec}, none},
		"carrier denies, below tells":   {fmt.Errorf("%w %w", carrying{boom, pushback, false}, waiting(sec)), method(sec)},
		"wait":                          {waiting(sec), method(sec)},
		"wait of 0":                     {waiting(0), method(0)},
		"longest wait":                  {waiting(longest), method(longest)},
		"negative wait":                 {waiting(-1), none},
		"negative wait, below tells":    {errors.Join(waiting(-1), waiting(3)), method(3)},
		"milliseconds":                  {millis(1500), getter(1500 * ms)},
		"milliseconds, 0":               {millis(0), getter(0)},
		"milliseconds, nil":             {counting{}, none},
		"milliseconds, negative":        {millis(-1), none},
		"milliseconds, least":           {millis(math.MinInt64), none},
		"milliseconds, last that fits":  {millis(9223372036854), getter(9223372036854 * ms)},
		"milliseconds, first too large": {millis(9223372036855), getter(longest)},
		"milliseconds, largest":         {millis(math.MaxInt64), getter(longest)},

		"wrapped":                {fmt.Errorf("a: %w", fmt.Errorf("b: %w", waiting(sec))), method(sec)},
		"joined":                 {errors.Join(boom, errors.Join(boom, millis(7)), waiting(sec)), getter(7 * ms)},
		"first in the tree":      {errors.Join(fmt.Errorf("deep: %w", waiting(sec)), waiting(2*sec)), method(sec)},
		"outer before inner":     {&throttle.Error{Remaining: 5 * sec, Err: waiting(sec)}, method(5 * sec)},
		"below an opaque error":  {opaque{waiting(sec)}, none},
		"beside an opaque error": {errors.Join(opaque{waiting(sec)}, waiting(2*sec)), method(2 * sec)},

		"nil pointer":         {(*nilError)(nil), none},
		"nil pointer wrapped": {fmt.Errorf("a: %w", error((*throttle.Error)(nil))), none},
		"nil pointer joined":  {errors.Join((*nilError)(nil), waiting(sec)), method(sec)},
		"nil function":        {nilFn(nil), none},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := throttle.FromError(c.err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, !c.want.IsZero(), ok)
		})
	}
}

func TestFromErrorKeepsASignalThatSaysNothing(t *testing.T) {
	got, ok := throttle.FromError(carrying{boom, throttle.Signal{}, true})
	assert.True(t, ok, "a Carrier's true is a hit")
	assert.True(t, got.IsZero())
}

func TestFromErrorDoesNotAllocate(t *testing.T) {
	for name, err := range map[string]error{
		"miss":       fmt.Errorf("a: %w", errors.Join(boom, opaque{waiting(sec)}, (*nilError)(nil))),
		"carrier":    fmt.Errorf("a: %w", errors.Join(boom, carrying{boom, throttle.Signal{HasDelay: true}, true})),
		"wait":       fmt.Errorf("a: %w", waiting(sec)),
		"count":      errors.Join(boom, millis(7)),
		"typed nil":  (*nilError)(nil),
		"plain miss": boom,
	} {
		assert.Zero(t, testing.AllocsPerRun(200, func() { throttle.FromError(err) }), name)
	}
}

func BenchmarkFromError(b *testing.B) {
	for name, err := range map[string]error{
		"miss": fmt.Errorf("a: %w", errors.Join(boom, boom)),
		"hit":  fmt.Errorf("a: %w", errors.Join(boom, waiting(sec))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				throttle.FromError(err)
			}
		})
	}
}
