package strategy_test

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// subject is a strategy and what it promises.
type subject struct {
	s     strategy.Strategy
	most  time.Duration // its Max; 0: none
	draws int           // random numbers per Next
	grows bool          // never shrinks from one failure to the next
	text  bool          // Parse reads what String writes, wherever Validate has no complaint
	ends  bool          // may answer not ok
}

// subjects are all strategies: plain, at the extremes, and invalid. A new strategy is added here.
func subjects() []subject {
	var list []subject
	for _, base := range []time.Duration{0, 1, 100 * ms, time.Hour, forever, -1, math.MinInt64} {
		for _, most := range []time.Duration{0, 1, time.Second, forever, -1} {
			list = append(list,
				subject{s: strategy.Constant{Delay: base}, grows: true, text: true},
				subject{s: strategy.Linear{Initial: base, Increment: most, Max: most}, most: most, grows: true, text: true},
				subject{s: strategy.Linear{Initial: 1, Increment: base, Max: most}, most: most, grows: true, text: true},
				subject{s: strategy.Fibonacci{First: base, Max: most}, most: most, grows: true, text: true},
				subject{s: strategy.Fibonacci{First: time.Second, Second: base, Max: most}, most: most, text: true},
				subject{s: strategy.FullJitter{Base: base, Max: most}, most: most, draws: 1, grows: true, text: true},
				subject{s: strategy.EqualJitter{Base: base, Max: most}, most: most, draws: 1, grows: true, text: true},
				subject{s: strategy.Decorrelated{Base: base, Max: most}, most: most, draws: 1, grows: true, text: true},
				subject{s: strategy.Decorrelated{Base: base, Max: most, Capped: true}, most: most, draws: 1, grows: true, text: true},
			)
			for _, factor := range []float64{0, 1, 1.5, 2, 3, 1 << 62, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), -1, 0.5} {
				list = append(list, subject{s: strategy.Exponential{Base: base, Factor: factor, Max: most}, most: most, grows: true, text: true})
			}
		}
	}
	for _, delays := range [][]time.Duration{nil, {0}, {time.Second, 1, forever}, {-1, math.MinInt64, 5}} {
		list = append(list,
			subject{s: strategy.Sequence{Delays: delays}, text: true, ends: true},
			subject{s: strategy.Sequence{Delays: delays, Repeat: true}, text: true, ends: len(delays) == 0})
	}
	list = append(list, leveledSubjects()...)
	full, exponential := strategy.FullJitter{Base: time.Second}, strategy.Exponential{Max: time.Minute}
	var nothing *strategy.Constant
	return append(list,
		subject{s: strategy.Func(nil), ends: true},
		subject{s: strategy.Func(func(s strategy.State) (time.Duration, bool) { return s.Prev, s.Number >= 0 }), ends: true},
		subject{s: strategy.ByThrottled{}, text: true, ends: true},
		subject{s: strategy.ByThrottled{Normal: nothing, Throttled: nothing}, text: true, ends: true},
		subject{s: strategy.ByThrottled{Normal: strategy.Func(nil), Throttled: strategy.Sequence{}}, ends: true},
		subject{s: strategy.ByThrottled{Normal: exponential, Throttled: strategy.Linear{}}, grows: true, text: true},
		subject{s: strategy.ByThrottled{Normal: full, Throttled: full}, draws: 1, grows: true, text: true},
		subject{s: &strategy.ByThrottled{Normal: exponential, Throttled: exponential}, most: time.Minute, grows: true},
		subject{s: strategy.ByThrottled{Normal: wild{}, Throttled: wild{}}},
		subject{s: &strategy.Exponential{Max: time.Minute}, most: time.Minute, grows: true},
	)
}

// leveledSubjects are the strategies with a level: before an event, and after failures and successes.
func leveledSubjects() []subject {
	var list []subject
	for i, initial := range []time.Duration{0, 1, 100 * ms, forever, math.MinInt64} {
		// Changes that are not set, usual, extreme and invalid.
		change := []time.Duration{0, -1, 50 * ms, forever, math.MinInt64}[i]
		for j, factor := range []float64{0, 0.5, math.NaN()} {
			most := []time.Duration{0, time.Second, -1}[(i+j)%3]
			for k, l := range []leveled{
				&strategy.LILD{Initial: initial, IncrementOnFailure: change, IncrementOnSuccess: -change, Max: most},
				&strategy.LIMD{Initial: initial, IncrementOnFailure: change, MultipleOnSuccess: factor, Max: most},
				&strategy.MILD{Initial: initial, MultipleOnFailure: 6 * factor, IncrementOnSuccess: change, Max: most},
				&strategy.MIMD{Initial: initial, MultipleOnFailure: 1 / factor, MultipleOnSuccess: factor, Max: most},
			} {
				events := []string{"", "f", "s", "fffsf"}[(i+j+k)%4]
				for _, event := range events {
					if event == 's' {
						l.Succeed()
					} else {
						l.Failed(strategy.State{})
					}
				}
				list = append(list, subject{s: l, most: most, grows: true, text: events == ""})
			}
		}
	}
	return append(list,
		subject{s: &strategy.LILD{Min: forever, Max: 1}, grows: true, text: true},
		subject{s: &strategy.LIMD{Min: math.MinInt64, Max: 1}, most: 1, grows: true, text: true},
		subject{s: &strategy.MILD{Min: time.Second, Max: time.Second}, most: time.Second, grows: true, text: true},
		subject{s: (*strategy.MIMD)(nil), text: true, ends: true},
		subject{s: strategy.ByThrottled{Normal: &strategy.LIMD{}, Throttled: &strategy.MIMD{Min: time.Second}}, grows: true, text: true},
	)
}

// wild is a strategy of somebody who does not care about bounds.
type wild struct{}

func (wild) Next(s strategy.State) (time.Duration, bool) { return s.Prev, true }

var (
	allNumbers = []int{math.MinInt, -1, 0, 1, 2, 3, 10, 33, 34, 63, 64, 65, 92, 1025, min(1<<40, math.MaxInt), math.MaxInt}
	allPrevs   = []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever / 3, forever}
	allLimits  = []time.Duration{math.MinInt64, -1, 0, 1, 500 * ms, forever}
	allRands   = []float64{0, 0.5, almostOne, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1)}
)

// states calls f for every combination of extremes, Number rising fastest.
func states(f func(strategy.State)) {
	for _, throttled := range []bool{false, true} {
		for _, prev := range allPrevs {
			for _, limit := range allLimits {
				for _, r := range allRands {
					for _, number := range allNumbers {
						f(strategy.State{Number: number, Prev: prev, Elapsed: prev, Limit: limit, Throttled: throttled, Rand: always(r)})
					}
				}
			}
		}
	}
}

// conform checks one answer of u, and that it is the same the second time. It is called too often for require.
func conform(t testing.TB, u subject, s strategy.State) (time.Duration, bool) {
	draws, source := 0, s.Rand
	s.Rand = func() float64 { draws++; return source() }
	delay, ok := u.s.Next(s)
	ceiling := forever
	if u.most > 0 {
		ceiling = u.most
	}
	if s.Limit > 0 {
		ceiling = min(ceiling, s.Limit)
	}
	describe := func() string {
		return fmt.Sprintf("%#v after %+v (r = %v): %d ns, %v, %d draws", u.s, s, source(), delay, ok, draws)
	}
	switch {
	case delay < 0:
		t.Fatalf("negative: %s", describe())
	case delay > ceiling:
		t.Fatalf("above %v: %s", ceiling, describe())
	case !ok && !u.ends:
		t.Fatalf("not ok: %s", describe())
	case !ok && delay != 0:
		t.Fatalf("not ok with a delay: %s", describe())
	case draws != u.draws:
		t.Fatalf("want %d draws: %s", u.draws, describe())
	}
	if again, okAgain := u.s.Next(s); again != delay || okAgain != ok {
		t.Fatalf("then %d ns, %v: %s", again, okAgain, describe())
	}
	return delay, ok
}

func TestConformance(t *testing.T) {
	for _, u := range subjects() {
		last := time.Duration(0)
		states(func(s strategy.State) {
			delay, _ := conform(t, u, s)
			if u.grows && s.Number > allNumbers[0] && delay < last {
				t.Fatalf("%#v shrinks from %v to %v at failure %d", u.s, last, delay, s.Number)
			}
			last = delay
		})
	}
}

func TestConformanceOfTheText(t *testing.T) {
	for _, u := range subjects() {
		text := u.s.(fmt.Stringer).String()
		require.NotEmpty(t, text)
		if !u.text || validate(t, u.s) != nil {
			_, err := strategy.Parse(text)
			if u.text {
				require.Error(t, err, "%s is invalid", text)
			}
			continue
		}
		parsed, err := strategy.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, u.s, parsed, text)
		require.Equal(t, text, parsed.(fmt.Stringer).String())
	}
}

func TestConformanceOfTheCapabilities(t *testing.T) {
	for _, u := range subjects() {
		require.NotPanics(t, func() { _ = validate(t, u.s) })
		j, draws := u.s.(interface{ Jittered() bool })
		require.Equal(t, u.draws > 0, draws && j.Jittered(), "%#v", u.s)
		if c, ok := u.s.(interface{ Clone() strategy.Strategy }); ok {
			clone := c.Clone()
			require.Equal(t, reflect.Indirect(reflect.ValueOf(u.s)).Interface(), clone)
		}
		if l, ok := u.s.(strategy.Learner); ok {
			require.NotPanics(t, func() { l.Failed(strategy.State{}); l.Failed(strategy.State{Throttled: true}); l.Succeed() })
		}
		if s, ok := u.s.(strategy.Starter); ok {
			started := u
			started.s = s.Start()
			for _, throttled := range []bool{false, true} {
				conform(t, started, strategy.State{Number: 3, Throttled: throttled, Rand: always(0.5)})
			}
		}
	}
}

func TestConcurrentSafe(t *testing.T) {
	for _, u := range subjects() {
		state := func(n int) strategy.State {
			return strategy.State{Number: n, Prev: time.Duration(n) * ms, Throttled: n%2 == 0, Rand: always(float64(n) / 20)}
		}
		var want [20]time.Duration
		for n := range want {
			want[n], _ = u.s.Next(state(n))
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for n := range want {
					if got, _ := u.s.Next(state(n)); got != want[n] {
						t.Errorf("%#v: failure %d: %v, alone %v", u.s, n, got, want[n])
					}
				}
			})
		}
		group.Wait()
	}
}

func TestP22OneValueServesManyCalls(t *testing.T) {
	shared := strategy.Exponential{Base: time.Second}
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			got := strategy.Delays(shared, 4, nil)
			for i, want := range each(time.Second, 1, 2, 4, 8) {
				if got[i] != want {
					t.Errorf("wait %d: %v", i, got[i])
				}
			}
		})
	}
	group.Wait()
}
