package alibaba_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

type ctxt = context.Context

// A newer observation replaces the older one, shorter or longer, whatever the gate does for others.
func TestNewerObservationReplaces(t *testing.T) {
	for _, replace := range []bool{false, true} {
		c := describe()
		c.Gate.Replace = replace
		now := t0
		for _, left := range []int{5000, 9000, 2000, 2050, 1990, 0, 7000} {
			now = now.Add(10 * ms)
			c.Observe(now, failed(now, 429, user, fmt.Sprintf("Remain:0,TimeLeft:%d", left)).Signal, nil)
			account, api := lefts(c, now)
			require.Equal(t, ms*time.Duration(left+100), account)
			require.Zero(t, api, "per dimension")
		}
		c.Observe(now, failed(now, 200, user, "Remain:5,TimeLeft:100").Signal, nil)
		c.Observe(now, failed(now, 503, user, "Remain:-1,TimeLeft:100").Signal, nil)
		account, _ := lefts(c, now)
		require.Equal(t, 7100*ms, account, "what is not used up says nothing about a cool-down")
	}
}

func TestSlack(t *testing.T) {
	for slack, want := range map[time.Duration]time.Duration{
		0: 2100 * ms, 1: 2*sec + 1, sec: 3 * sec, -1: 2 * sec, math.MinInt64: 2 * sec, longest: longest,
	} {
		c := describe()
		c.Slack, c.Gate.MaxCooldown = slack, longest
		c.Observe(t0, failed(t0, 429, userAPI, "Remain:0,TimeLeft:2000").Signal, nil)
		_, api := lefts(c, t0)
		require.Equal(t, want, api)
	}
	c := describe()
	c.Slack = -1
	c.Observe(t0, failed(t0, 429, userAPI, "Remain:0,TimeLeft:2000").Signal, nil)
	c.Observe(t0, failed(t0, 429, userAPI, "Remain:0,TimeLeft:0").Signal, nil)
	_, api := lefts(c, t0)
	require.Zero(t, api, "without slack a window that is over ends the cool-down")

	c = describe()
	c.Observe(t0, throttle.Signal{Quotas: []throttle.Quota{{Name: user, Delay: -sec, HasDelay: true}}}, nil)
	account, _ := lefts(c, t0)
	require.Equal(t, 100*ms, account, "a wait below 0 is none")
}

// toldError is an error of an SDK that says how long to wait, and not which quota was used up.
type toldError struct {
	code  string
	after int64
}

func (e *toldError) Error() string         { return e.code }
func (e *toldError) GetCode() *string      { return &e.code }
func (e *toldError) GetRetryAfter() *int64 { return &e.after }

func TestWithoutDimensionTheAPICoolsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		calls, start := 0, time.Now()
		err := retry.Run(t.Context(), func(ctxt) error {
			if calls++; calls == 1 {
				return fmt.Errorf("describe: %w", &toldError{"Throttling.User", 400})
			}
			return nil
		}, c.Options()...)
		require.NoError(t, err)
		require.Equal(t, 500*ms, time.Since(start))

		c.MaxAttempts = 1
		err = retry.Run(t.Context(), func(ctxt) error { return &toldError{"Throttling", 400} }, c.Options()...)
		require.ErrorIs(t, err, retry.ErrExhausted)
		account, api := lefts(c, time.Now())
		require.Equal(t, []time.Duration{0, 500 * ms}, []time.Duration{account, api})
	})
}

// Quotas of other names are not this vendor's.
func TestForeignQuotas(t *testing.T) {
	c := describe()
	foreign := throttle.Signal{Quotas: []throttle.Quota{{Name: "burst", Delay: sec, HasDelay: true}}}
	c.Observe(t0, foreign, nil)
	account, api := lefts(c, t0)
	require.Zero(t, account+api)
	foreign.Delay, foreign.HasDelay = 3*sec, true
	c.Observe(t0, foreign, nil)
	account, api = lefts(c, t0)
	require.Equal(t, []time.Duration{0, 3100 * ms}, []time.Duration{account, api}, "as without a dimension")

	err := &alibaba.Error{Status: 400, Signal: foreign}
	flow := retry.MustNew(describe().Options()...).Begin(t0, time.Time{}, nil)
	flow.Next(t.Context(), t0)
	require.Equal(t, retry.Done, flow.Report(t.Context(), t0, throttle.Outcome{Err: err}).Action)
}

// A success that uses up a quota is recorded where that is asked for.
func TestOnSuccess(t *testing.T) {
	for _, on := range []bool{false, true} {
		c := describe()
		c.OnSuccess = on
		reply, err := retry.Do(t.Context(), func(ctxt) (reply, error) {
			return reply{"body", failed(t0, 200, user, "Remain:0,TimeLeft:50000", userAPI, "Remain:9,TimeLeft:60000").Signal}, nil
		}, append(c.Options(), retry.WithResults(retry.Results[reply]{Classify: func(r reply, err error) throttle.Outcome {
			return throttle.Outcome{Err: err, Signal: r.signal}
		}}))...)
		require.NoError(t, err)
		require.Equal(t, "body", reply.body)
		account, api := lefts(c, time.Now())
		require.Zero(t, api)
		if on {
			require.InDelta(t, 50100*ms, account, float64(50*sec))
		}
		require.Equal(t, on, account > 0)
	}
}

type reply struct {
	body   string
	signal throttle.Signal
}

// limits are the lengths of a cool-down beside a MaxDelay of 10.1 s.
var limits = []time.Duration{-sec, -500 * ms, -1, 0, 1, 150 * ms}

const limit = 10100 * ms

// Before first attempts: a cool-down that fits is waited for whatever place in the release was drawn, and one that does not
// is refused to all.
func TestMaxDelayBeforeFirstAttempts(t *testing.T) {
	for _, extra := range limits {
		synctest.Test(t, func(t *testing.T) {
			c := describe()
			c.MaxDelay = limit
			policy := retry.MustNew(c.Options()...)
			_, api := c.Keys()
			start := time.Now()
			c.Gate.Block(start, limit+extra, api)
			if extra > 0 {
				err := retry.Run(t.Context(), func(ctxt) error { return nil }, policy)
				require.ErrorIs(t, err, retry.ErrHintTooLong)
				require.Equal(t, limit+extra, refusal(t, err).Remaining)
				require.Equal(t, start, time.Now(), "at once")
				return
			}
			at := together(t, policy, 30, func(int, int) error { return nil })
			require.Equal(t, limit+extra, slices.Min(at))
			require.LessOrEqual(t, slices.Max(at), limit)
			require.Equal(t, extra < -1, slices.Max(at) > slices.Min(at), "spread where there is room")
		})
	}
}

// After a failure the sum is compared: neither the curve's draw nor the place in the release decides.
func TestMaxDelayAfterFailures(t *testing.T) {
	for _, extra := range limits {
		for _, draw := range []float64{0, belowOne} {
			c := describe()
			c.MaxDelay = limit
			c.Gate.Rand = func() float64 { return draw }
			policy := retry.MustNew(append(c.Options(), drawn(draw))...)
			var flows [3]retry.Flow
			for i := range flows {
				flows[i] = policy.Begin(t0, time.Time{}, nil)
				require.Equal(t, retry.Go, flows[i].Next(t.Context(), t0).Action)
			}
			_, api := c.Keys()
			c.Gate.Block(t0, limit+extra, api) // another call's
			for i := range flows {
				step := flows[i].Report(t.Context(), t0, throttle.Outcome{Err: failed(t0, 503)})
				switch {
				case extra > 0:
					require.ErrorIs(t, step.Reason, retry.ErrHintTooLong)
					require.Equal(t, limit+extra, refusal(t, step.Err).Remaining)
					require.Equal(t, limit+extra, step.Delay)
					require.Equal(t, 503, status(t, step.Err), "and the failure")
				case i == 0 || draw == 0:
					require.Equal(t, limit+extra, step.Delay, "the first goes at the end")
				case extra > -sec:
					require.Equal(t, limit+extra, step.Delay, "so do others whose place would come too late")
				default:
					require.Greater(t, step.Delay, limit-100*ms, "the others follow, if there is time")
					require.LessOrEqual(t, step.Delay, limit)
				}
			}
		}
	}
}

// The longest of the draw and both cool-downs, not their sum.
func TestWaitIsTheLongest(t *testing.T) {
	for _, x := range []struct{ account, api, want time.Duration }{
		{0, 0, 150 * ms}, {100 * ms, 0, 150 * ms}, {0, 149 * ms, 150 * ms}, {150 * ms, 0, 150 * ms}, {151 * ms, 100 * ms, 151 * ms},
		{2 * sec, 3 * sec, 3 * sec}, {3 * sec, 2 * sec, 3 * sec},
	} {
		c := describe()
		account, api := c.Keys()
		flow := retry.MustNew(append(c.Options(), drawn(0.5))...).Begin(t0, time.Time{}, nil)
		flow.Next(t.Context(), t0)
		c.Gate.Block(t0, x.account, account)
		c.Gate.Block(t0, x.api, api)
		step := flow.Report(t.Context(), t0, throttle.Outcome{Err: failed(t0, 503)})
		require.Equal(t, x.want, step.Delay, "%+v", x)
		require.Equal(t, x.want > 150*ms, step.Source == retry.SourceThrottle)
		require.Equal(t, retry.Go, flow.Next(t.Context(), t0.Add(step.Delay)).Action)
	}
}

// A deadline that comes before the end of a cool-down ends the call at once.
func TestDeadlineFailsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		c.Observe(time.Now(), failed(time.Now(), 429, user, minute).Signal, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 5*sec)
		defer cancel()
		start := time.Now()
		err := retry.Run(ctx, func(ctxt) error { return nil }, c.Options()...)
		require.ErrorIs(t, err, retry.ErrDeadline)
		require.Equal(t, start, time.Now())
	})
}

// A place that was given and not used is free for another: nothing is lost when a waiting call is cancelled.
func TestCancelledWaiterGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		policy := retry.MustNew(c.Options()...)
		_, api := c.Keys()
		start := time.Now()
		c.Gate.Block(start, 10*sec, api)
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error)
		go func() { first <- retry.Run(ctx, func(ctxt) error { return nil }, policy) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		require.NoError(t, retry.Run(t.Context(), func(ctxt) error { return nil }, policy))
		require.Equal(t, 10*sec, time.Since(start))
	})
}

// Delays previews the curve, which has no cool-down to look at.
func TestCurveStandsAlone(t *testing.T) {
	c := describe()
	c.Observe(t0, failed(t0, 429, user, minute).Signal, nil)
	var seen strategy.Strategy
	for _, option := range c.Options() {
		if s, ok := option.(interface {
			Next(strategy.State) (time.Duration, bool)
		}); ok {
			seen = s
		}
	}
	require.NotNil(t, seen)
	delay, ok := seen.Next(strategy.State{Rand: func() float64 { return 0 }})
	require.True(t, ok)
	require.Equal(t, 100*ms, delay)
	delay, _ = seen.Next(strategy.State{Now: t0, Rand: func() float64 { return 0 }})
	require.Zero(t, delay)
}

func TestConcurrentSafeControl(t *testing.T) {
	c := describe()
	policy := retry.MustNew(c.Options()...)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			now, mine := t0, c
			mine.Action = fmt.Sprint(i % 3)
			for n := range 6 {
				now = now.Add(time.Duration(n) * ms)
				flow := policy.Begin(now, time.Time{}, nil)
				for step := flow.Next(t.Context(), now); step.Action != retry.Done; {
					switch step.Action {
					case retry.Wait:
						now = now.Add(step.Delay)
						step = flow.Next(t.Context(), now)
					case retry.Go:
						told := fmt.Sprintf("Remain:%d,TimeLeft:%d", n%2, n)
						step = flow.Report(t.Context(), now, throttle.Outcome{Err: failed(now, 429, user, told, userAPI, told)})
					}
				}
				mine.Observe(now, failed(now, 429, userAPI, "Remain:0,TimeLeft:5").Signal, nil)
				if retry.MustNew(mine.Options()...) == nil || mine.String() == "" {
					t.Error("nothing")
				}
			}
		})
	}
	wg.Wait()
	c.Gate.Clear(keys(c)...)
	account, api := lefts(c, t0)
	require.Zero(t, account+api)
}

// While answers, each a little shorter than the last, replace one another's cool-down, no call slips through.
func TestConcurrentSafeReplacementLeavesNoGap(t *testing.T) {
	c := describe()
	tell := func(i int) {
		c.Observe(t0, throttle.Signal{Delay: time.Minute - time.Duration(i), HasDelay: true}, nil)
	}
	tell(0)
	_, api := c.Keys()
	var over atomic.Bool
	var asked, passed atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() {
			if left(c.Gate, t0, api) == 0 {
				passed.Add(1)
			}
			asked.Add(1)
		}
	})
	for i := 0; i < 1000 || asked.Load() < 1000; i++ {
		tell(i)
	}
	over.Store(true)
	wg.Wait()
	require.Zero(t, passed.Load())
}
