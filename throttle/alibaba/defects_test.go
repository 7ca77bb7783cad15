package alibaba_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

// The SDK's throttling control has sixteen defects, found by running it. Each test says what the SDK does, and holds this
// package to what it ought to do.

// Its cache keeps the length of a cool-down, not its end, so that whoever comes later waits for the whole of it again.
func TestDefect01CooldownsCountDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		require.NoError(t, play(c, answer(429, userAPI, half)).run(t, drawn(0)))
		c.Observe(time.Now(), failed(time.Now(), 429, userAPI, half).Signal, nil)
		for _, passed := range []time.Duration{500 * ms, 0, 299 * ms} {
			time.Sleep(passed)
			_, rest := lefts(c, time.Now())
			s := play(c)
			require.NoError(t, s.run(t))
			require.Equal(t, []time.Duration{rest}, s.at)
		}
	})
}

// It holds back callers that never asked for the control, because nobody looks at the switch when the cache is read.
func TestDefect02DisabledNeitherReadsNorWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		off := c
		off.Disabled = true
		s := play(off, answer(429, user, minute, userAPI, minute))
		require.NoError(t, s.run(t, drawn(0)))
		require.Equal(t, []time.Duration{0, 100 * ms}, s.at, "told waits are not heeded")
		off.Observe(time.Now(), failed(time.Now(), 429, user, minute, userAPI, minute).Signal, nil)
		account, api := lefts(c, time.Now())
		require.Zero(t, account+api, "written")

		c.Observe(time.Now(), failed(time.Now(), 429, user, minute, userAPI, minute).Signal, nil)
		s = play(off)
		require.NoError(t, s.run(t))
		require.Equal(t, []time.Duration{0}, s.at, "read")
	})
}

// It keeps the last answer while later attempts get none: it returns an old 503 in place of the connection's error, and
// obeys an old quota header again.
func TestDefect03NothingStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(describe(), answer(503), nil, nil, nil)
		err := s.run(t, drawn(0))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorIs(t, err, retry.ErrExhausted)
		_, answered := errors.AsType[*alibaba.Error](err)
		require.False(t, answered, "%v", err)

		s = play(describe(), answer(429, userAPI, half), nil)
		require.NoError(t, s.run(t, drawn(0)))
		require.Equal(t, []time.Duration{0, 800 * ms, sec}, s.at)
	})
}

// What the last permitted attempt is told, or the only one, is forgotten, and the next call runs into it.
func TestDefect04LastAttemptIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		for _, attempts := range []int{1, 2} {
			c.MaxAttempts = attempts
			s := play(c, answer(503), answer(429, user, short, userAPI, half))
			s.answers = s.answers[2-attempts:]
			require.ErrorIs(t, s.run(t), retry.ErrExhausted)
			account, api := lefts(c, time.Now())
			require.Equal(t, []time.Duration{500 * ms, 800 * ms}, []time.Duration{account, api})
		}
	})
}

// It files the account's quota under the API that was called, so that the account's other APIs run into it.
func TestDefect05AccountHoldsBackItsOtherAPIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		c.MaxAttempts = 1
		require.Error(t, play(c, answer(429, user, short, userAPI, half)).run(t))
		other, stranger := play(sibling(c)), sibling(c)
		require.NoError(t, other.run(t))
		require.Equal(t, []time.Duration{500 * ms}, other.at, "the account's")
		stranger.Account = "another"
		alien := play(stranger)
		require.NoError(t, alien.run(t))
		require.Equal(t, []time.Duration{0}, alien.at)
		same := play(c)
		require.NoError(t, same.run(t))
		require.Equal(t, []time.Duration{300 * ms}, same.at, "what the API's lasts longer")
	})
}

// All policies share the objects that headers are parsed into, so that one thread sees what another one parsed.
func TestConcurrentSafeDefect06NoSharedParsing(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			c := describe()
			c.Region = fmt.Sprint(i)
			for n := range 15 {
				tell := time.Duration(1+i*50+n) * ms
				e := failed(t0, 429, userAPI, fmt.Sprintf("Remain:0,TimeLeft:%d", tell/ms))
				c.Observe(t0, e.Signal, e)
				if _, api := lefts(c, t0); api != tell+100*ms {
					t.Errorf("%v, not %v", api, tell)
				}
			}
		})
	}
	wg.Wait()
}

// A timer that removes an entry when it ends may remove the one that took its place.
func TestDefect07OldEndsDoNotEndNewCooldowns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		c.Observe(time.Now(), failed(time.Now(), 429, userAPI, short).Signal, nil)
		time.Sleep(499 * ms)
		c.Observe(time.Now(), failed(time.Now(), 429, userAPI, minute).Signal, nil)
		time.Sleep(sec) // the first would have ended
		_, api := lefts(c, time.Now())
		require.Equal(t, 29100*ms, api)
	})
}

// It draws a wait to compare it with the limit, and another one to sleep.
func TestDefect08OneDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		draws := 0
		c := describe()
		c.MaxDelay = 150 * ms
		s := play(c, answer(503), nil)
		require.NoError(t, s.run(t, retry.WithRand(func() float64 { draws++; return belowOne })))
		require.Equal(t, []time.Duration{0, 150 * ms, 300 * ms}, s.at)
		require.Equal(t, 2, draws, "one for each wait")
	})
}

// The curve's own cap does not follow the limit, so that a small limit makes it a matter of luck whether there is a retry.
func TestDefect09CurveKeepsTheLimit(t *testing.T) {
	for _, limit := range []time.Duration{1, ms, 99 * ms, 150 * ms, 3 * sec} {
		c := describe()
		c.MaxDelay, c.MaxAttempts = limit, 8
		for draw, share := range map[float64]time.Duration{0: 2, belowOne: 1} {
			synctest.Test(t, func(t *testing.T) {
				s := play(c, answer(503), answer(503), answer(503), answer(503), answer(503), answer(503))
				require.NoError(t, s.run(t, drawn(draw)))
				most := s.at[6] - s.at[5]
				require.Equal(t, limit/share, most, "the last wait of many, limit %v", limit)
			})
		}
	}
}

// An answer whose quota is used up is not retried if its status is not on the list, such as 400.
func TestDefect10ThrottledIsWorthARetry(t *testing.T) {
	for _, code := range []int{400, 403, 404, 501} {
		synctest.Test(t, func(t *testing.T) {
			s := play(describe(), answer(code, userAPI, short))
			require.NoError(t, s.run(t))
			require.Equal(t, []time.Duration{0, 500 * ms}, s.at)

			c := describe()
			c.ConditionsDecide = true
			err := play(c, answer(code, userAPI, short)).run(t)
			require.Equal(t, code, status(t, err))

			err = play(describe(), answer(code, userAPI, "Remain:1,TimeLeft:400")).run(t)
			require.Equal(t, code, status(t, err), "not used up")
		})
	}
}

// A quota without the time that is left of it ends the call, though Reset often says as much.
func TestDefect11WithoutTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reset := fmt.Sprintf("Remain:0,Reset:%d", time.Now().Add(400*ms).UnixMilli())
		s := play(describe(), answer(400, userAPI, reset))
		require.NoError(t, s.run(t))
		require.Equal(t, []time.Duration{0, 500 * ms}, s.at)

		c := describe()
		s = play(c, answer(400, user, "Remain:0", userAPI, "Remain:0"))
		require.NoError(t, s.run(t, drawn(0)))
		require.Equal(t, []time.Duration{0, 100 * ms}, s.at, "by the curve")
		require.Zero(t, len(s.answers))
	})
}

// Its parser trips over spaces, numbers that are none or too large, and names in another case, and the error that it
// throws hides the answer.
func TestDefect12ForgivingParser(t *testing.T) {
	for value, want := range map[string]time.Duration{
		" Remain : 0 , TimeLeft :\t400 ": 500 * ms,
		"REMAIN:0,timeleft:400":          500 * ms,
		"Remain:0,TimeLeft:2147483600":   2147483700 * ms,
		"Remain:0,TimeLeft:-5":           100 * ms,
		"Remain:+0,TimeLeft:+5":          105 * ms, // the sign is no trouble to its parser
		"Remain:0,TimeLeft:many":         0,
		"Remain:none,TimeLeft:400":       0,
	} {
		c := describe()
		c.Gate.MaxCooldown = longest
		e := failed(t0, 429)
		for _, name := range []string{"x-ratelimit-user-api", "X-Ratelimit-User-Api", "X-RateLimit-User-API"} {
			a := answer(429)
			a.Header[name] = []string{value}
			e = alibaba.ErrorFrom(a, "Throttling.User", "m", t0)
			c.Observe(t0, e.Signal, nil)
			_, api := lefts(c, t0)
			require.Equal(t, want, api, "%s: %s", name, value)
		}
		require.EqualError(t, e, "alibaba: 429 Throttling.User: m")
	}
}

// Everybody whom it holds back sleeps for the same time and wakes together.
func TestDefect13StagedRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := describe()
		policy := retry.MustNew(c.Options()...)
		at := together(t, policy, 50, func(i, attempt int) error {
			time.Sleep(sec + time.Duration(i)*ms) // all are sent before the first is answered
			if attempt == 0 {
				// The end of the window, as each of them sees it, is 11 s and 0 to 4 ms.
				return failed(time.Now(), 429, userAPI, fmt.Sprintf("Remain:0,TimeLeft:%d", 9900-i+i%5))
			}
			return nil
		})
		staged(t, at, 11*sec+4*ms, sec)

		c.Gate.Block(time.Now(), 10*sec, must(c.Keys()))
		at = together(t, policy, 50, func(int, int) error { return nil }) // held back before their first attempts
		staged(t, at, 10*sec, sec)
	})
}

func must(account, _ throttle.Key) throttle.Key { return account }

// together makes n calls at once, of which op says how each attempt ends, and returns when the last attempt of each was.
func together(t *testing.T, policy *retry.Policy, n int, op func(i, attempt int) error) (at []time.Duration) {
	start := time.Now()
	at = make([]time.Duration, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			attempt := -1
			err := retry.Run(t.Context(), func(ctxt) error {
				attempt++
				at[i] = time.Since(start)
				return op(i, attempt)
			}, policy)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return at
}

// staged requires that somebody went at the end of the cool-down, nobody before it, and the others here and there in the
// window after it.
func staged(t *testing.T, at []time.Duration, end, window time.Duration) {
	t.Helper()
	moments := map[time.Duration]int{}
	for _, d := range at {
		require.GreaterOrEqual(t, d, end)
		require.Less(t, d, end+window)
		moments[d]++
	}
	require.Equal(t, 1, moments[end])
	require.Greater(t, len(moments), len(at)*9/10)
}

// The text of its plain patterns is in a static field, so that the pattern of one condition matches the header of another.
func TestDefect14ControlsShareNothingButTheGate(t *testing.T) {
	strict, lax := describe(), describe()
	strict.ConditionsDecide, strict.MaxAttempts, strict.Slack, strict.MaxDelay = true, 1, -1, sec
	lax.Gate = strict.Gate
	first, second := retry.MustNew(strict.Options()...), retry.MustNew(lax.Options()...)
	for range 2 {
		for policy, want := range map[*retry.Policy]retry.Action{first: retry.Done, second: retry.Wait} {
			flow := policy.Begin(t0, time.Time{}, nil)
			flow.Next(t.Context(), t0)
			step := flow.Report(t.Context(), t0, throttle.Outcome{Err: failed(t0, 400, userAPI, short)})
			require.Equal(t, want, step.Action)
			_, api := lefts(strict, t0)
			require.Equal(t, map[retry.Action]time.Duration{retry.Done: 400 * ms, retry.Wait: 500 * ms}[want], api)
			strict.Gate.Clear(keys(strict)...)
		}
	}
}

func keys(c alibaba.Control) []throttle.Key {
	account, api := c.Keys()
	return []throttle.Key{account, api}
}

// Conditions that are set after the control was switched on replace the control's own without a word.
func TestDefect15ConditionsAddUp(t *testing.T) {
	mine := condition.Is(io.ErrClosedPipe)
	c := describe()
	policy, err := retry.New(append([]retry.Option{retry.WithCondition(mine)}, c.Options()...)...)
	require.NoError(t, err)
	for _, failure := range []error{io.ErrClosedPipe, failed(t0, 400, userAPI, short)} {
		flow := policy.Begin(t0, time.Time{}, nil)
		flow.Next(t.Context(), t0)
		require.Equal(t, retry.Wait, flow.Report(t.Context(), t0, throttle.Outcome{Err: failure}).Action, "%v", failure)
		flow.Abort(t.Context(), t0, throttle.Skipped)
	}
	_, err = retry.New(append(c.Options(), retry.WithCondition(mine))...)
	require.ErrorContains(t, err, "would never be asked", "behind them it would not count, and that is said")
}

// Texts have local times without an offset, the cache is one for the whole process and grows without bounds, and
// certificates that cannot be verified are retried.
func TestDefect16NothingGlobalNothingUnbounded(t *testing.T) {
	c, other := describe(), describe()
	c.Observe(t0, failed(t0, 429, user, minute, userAPI, minute).Signal, nil)
	account, api := lefts(other, t0)
	require.Zero(t, account+api, "another gate, another cache")

	accounts, kept := 0, 0
	c.Gate = &throttle.Gate{MaxKeys: 64}
	for i := range 1000 {
		c.Account = fmt.Sprint("account ", i)
		c.Observe(t0, failed(t0, 429, user, minute).Signal, nil)
	}
	for i := range 1000 {
		c.Account = fmt.Sprint("account ", i)
		if account, _ := lefts(c, t0); account > 0 {
			kept++
		}
		accounts++
	}
	require.LessOrEqual(t, kept, 64)
	require.Positive(t, kept)

	bad := &tls.CertificateVerificationError{Err: errors.New("signed by nobody")}
	s := play(describe())
	err := retry.Run(t.Context(), func(ctxt) error { s.at = append(s.at, 0); return bad }, describe().Options()...)
	require.Equal(t, bad, err)
	require.Len(t, s.at, 1)
	c = describe()
	c.MaxDelay = sec
	c.Observe(t0, failed(t0, 429, user, minute).Signal, nil)
	flow := retry.MustNew(c.Options()...).Begin(t0, time.Time{}, nil)
	step := flow.Next(t.Context(), t0)
	require.Contains(t, step.Err.Error(), "is cooling down for 30.1s (x-ratelimit-user)", "how long, not until when by whose clock")
}
