// Package retrytest tests code that retries without sleeping: a virtual clock, scripted operations, and a record of what a
// call did.
//
//	func TestLoadsAfterAnOutage(t *testing.T) {
//		clk := retrytest.NewClock()
//		api := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Err: errRefused, Times: 2}, {Value: 42}})
//		got, err := retry.Do(t.Context(), api.Do, policy, retry.WithClock(clk))
//		require.NoError(t, err)
//		require.Equal(t, 42, got)
//		clk.RequireWaits(t, time.Second, 2*time.Second)
//	}
//
// Where the code under test makes the call itself, the clock travels in its context and wins over whatever the policy says:
//
//	svc := orders.New(api.Do)
//	err := svc.Place(retry.ContextWithClock(t.Context(), clk), order)
//
// # Three ways
//
// testing/synctest, with nothing injected. Inside a bubble the system's clock is virtual, so the code under test, its
// timeouts and its goroutines all live by it. It needs every goroutine of the test in the bubble and nothing that waits for
// the world outside, such as a connection. A Script without a clock works in it:
//
//	synctest.Test(t, func(t *testing.T) {
//		begun := time.Now()
//		api := retrytest.NewScript(t, nil, retrytest.Steps[int]{{Err: errRefused, Times: 2}, {Value: 42}})
//		_, err := retry.Do(t.Context(), api.Do, policy)
//		require.NoError(t, err)
//		require.Equal(t, 3*time.Second, time.Since(begun))
//	})
//
// A mock that the test moves, such as that of github.com/benbjohnson/clock, for a code base that has one already: pass it
// by retry.WithClock. The call runs in a goroutine, and the test must not move the mock before the call has begun its wait,
// or the move is lost; inside a bubble synctest.Wait makes sure of that:
//
//	synctest.Test(t, func(t *testing.T) {
//		mock, done := clock.NewMock(), make(chan error, 1)
//		go func() { done <- retry.Run(t.Context(), flaky, policy, retry.WithClock(mock)) }()
//		synctest.Wait()
//		mock.Add(time.Second)
//		synctest.Wait()
//		mock.Add(2 * time.Second)
//		require.NoError(t, <-done)
//	})
//
// The Clock of this package, which moves by itself: the call runs in the test's own goroutine, and the waits can be read
// afterwards. It is exact for one call at a time. Code that asks the system for the time, or blocks on a context without
// the clock, is not seen by it.
//
// # Which one
//
// A list of waits, an attempt timeout, a deadline, a cancellation at a given moment: Clock.
//
// Several calls that meet (a shared gate, a budget, hedging), or code under test with timers and goroutines of its own:
// testing/synctest.
//
// A test that looks at the state between two steps: a mock, or a function of Clock.AfterFunc.
//
// Real servers, drivers, processes: none of them; shorten the waits with retry.WithMaxDelay.
//
// # Exact waits
//
// The default strategy draws its waits. To compare them, set one that does not draw (strategy.Exponential,
// strategy.Sequence), or pin the draws with retry.WithRand(func() float64 { return 0.5 }).
//
// # What an operation takes
//
// Between waits the clock stands still. An operation under test says how long it takes:
//
//	clk.Advance(d)       takes d, deaf to its context     Step{Takes: d, Deaf: true}
//	clk.Sleep(ctx, d)    takes d, or until ctx is done    Step{Takes: d}
//	clk.Block(ctx)       hangs until ctx is done          Step{Blocks: true}
//
// None of these is a wait in the sense of Clock.Waits. Timeouts of attempts (retry.WithAttemptTimeout) and of contexts made
// by Clock.WithTimeout pass meanwhile, at their exact moments.
//
// # What happens in a wait
//
// Clock.AfterFunc runs a function at a moment of virtual time, be it in the middle of a wait: it can cancel the context of
// the call, close the channel of retry.WithStop, bring a fake server back. The call then ends, or goes on, at exactly that
// moment. What other goroutines do about it, those of context.AfterFunc included, is not waited for: virtual time may have
// moved on by then. After the call, Clock.Pending and Clock.OpenContexts show that it left no wait and no context behind.
package retrytest
