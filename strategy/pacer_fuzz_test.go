package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/strategy"
)

// tape turns bytes into numbers that are at the extremes more often than not.
type tape struct{ data []byte }

func (b *tape) next() (c byte, ok bool) {
	if len(b.data) == 0 {
		return 0, false
	}
	c, b.data = b.data[0], b.data[1:]
	return c, true
}

func (b *tape) span() time.Duration {
	spans := []time.Duration{0, 1, -1, ms, time.Second, 7 * time.Second, -time.Second, time.Hour, forever, math.MinInt64, forever / 2}
	c, _ := b.next()
	return spans[int(c)%len(spans)]
}

func (b *tape) factor() float64 {
	factors := []float64{0, 0.1, 0.5, 1, 1.5, 2, 3, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}
	c, _ := b.next()
	return factors[int(c)%len(factors)]
}

func (b *tape) strategy() strategy.Strategy {
	switch c, _ := b.next(); c % 16 {
	case 0:
		return nil
	case 1:
		return strategy.Constant{Delay: b.span()}
	case 2:
		return strategy.Exponential{Base: b.span(), Factor: b.factor(), Max: b.span()}
	case 3:
		return strategy.Fibonacci{First: b.span(), Second: b.span()}
	case 4, 5, 6:
		return &strategy.LILD{Initial: b.span(), IncrementOnFailure: b.span(), IncrementOnSuccess: b.span(), Min: b.span(), Max: b.span()}
	case 7, 8:
		return &strategy.LIMD{Initial: b.span(), IncrementOnFailure: b.span(), MultipleOnSuccess: b.factor(), Min: b.span(), Max: b.span()}
	case 9, 10:
		return &strategy.MILD{Initial: b.span(), MultipleOnFailure: b.factor(), IncrementOnSuccess: b.span(), Min: b.span(), Max: b.span()}
	case 11, 12:
		return &strategy.MIMD{Initial: b.span(), MultipleOnFailure: b.factor(), MultipleOnSuccess: b.factor(), Min: b.span(), Max: b.span()}
	case 13:
		return strategy.Decorrelated{Base: b.span(), Max: b.span()}
	case 14:
		return strategy.ByThrottled{Normal: b.strategyOnce(), Throttled: strategy.FullJitter{}}
	}
	return wildest{delay: b.span()}
}

func (b *tape) strategyOnce() strategy.Strategy {
	return &strategy.LIMD{Initial: b.span(), IncrementOnFailure: b.span(), MultipleOnSuccess: b.factor()}
}

// wildest is a Learner whose answers are no better than wild's.
type wildest struct{ delay time.Duration }

func (w wildest) Next(s strategy.State) (time.Duration, bool) { return w.delay - s.Prev, s.Number < 9 }
func (w wildest) Failed(strategy.State)                       {}
func (w wildest) Succeed()                                    {}
func (w wildest) Level() time.Duration                        { return w.delay }

func (b *tape) pacer() *strategy.Pacer {
	c, _ := b.next()
	p := &strategy.Pacer{
		Strategy: b.strategy(), DelayOnSuccess: b.span(), MinDelay: b.span(), MaxDelay: b.span(), JitterFactor: b.factor(),
		MaxAttempts: int(b.span() >> 20), MaxDuration: b.span(), ConsiderActualDelay: c&1 > 0, Compat010: c&2 > 0,
		TimeoutShare: b.factor(), MinTimeout: b.span(), TimeoutJitter: b.factor(), Rand: b.factor,
	}
	if c&4 > 0 {
		p.Start = time.Unix(int64(b.span()), 0)
	}
	if c&8 > 0 { // the extremes must not hide what is usual
		p.MaxAttempts, p.MaxDuration, p.MinDelay = 0, 0, 0
	}
	return p
}

// FuzzPacer plays any events at any times, backwards included: nothing is negative or beyond what is asked for, and nothing
// panics. The numbers are drawn from the tape too.
func FuzzPacer(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add([]byte("\x00\x04\x04\x04\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00fsfsfsfsfs"))
	f.Add([]byte("\x0b\x07\x05\x06\x02\x01\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Add([]byte("\x0f\x0b\x08\x0b\x0b\x08\x08\x08\x08\x08\x0b\x08\x08\x08\x0b\x08\x0b\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7"))
	f.Add([]byte("\x05\x02\x04\x04\x00\x00\x00\x00\x01\x05\x08\x02\x04\x01\x04\x00\x01\x10\x20\x30\x40\x50\x60\x70\x80\x90\xa0\xb0"))
	f.Add([]byte("\x09\x0e\x04\x04\x02\x00\x00\x00\x02\x00\x00\x02\x00\x00\x00\x00\x01\x02\x11\x21\x31\x41\x51\x61\x71\x81\x91\xa1"))
	f.Add([]byte("\x01\x0f\x08\x08\x09\x09\x0b\x0b\x00\x09\x02\x09\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &tape{data}
		p := b.pacer()
		_ = p.Validate()
		least, most := max(p.MinDelay, 0), forever
		if p.MaxDelay > 0 {
			most = max(p.MaxDelay, least)
		}
		check := func(delay time.Duration) {
			// A share of the time left may be less than MinDelay.
			if low := least; delay < 0 || delay > most || delay < low && !(p.TimeoutShare > 0) {
				t.Fatalf("%v outside of %v..%v: %+v", delay, low, most, p)
			}
			if p.Timeout() < 0 {
				t.Fatalf("timeout %v: %+v", p.Timeout(), p)
			}
			if l, ok := p.Strategy.(leveled); ok && l.Level() < 0 {
				t.Fatalf("level %v: %+v", l.Level(), p)
			}
		}
		at := time.Unix(0, 0)
		for range 200 {
			c, ok := b.next()
			if !ok {
				return
			}
			at = at.Add(b.span())
			if c >= 240 {
				at = []time.Time{{}, time.Unix(0, 0), time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0)}[c%4]
			}
			switch c % 16 {
			case 0:
				p.Reset(at)
			case 1, 2, 3, 4, 5:
				check(p.Success(at))
			default:
				delay, ok := p.Failure(at)
				if !ok {
					require.Zero(t, delay)
					continue
				}
				check(delay)
			}
		}
	})
}

// FuzzLevels plays any events against the four with a level: Next shows what Failed does, and the level stays in bounds.
func FuzzLevels(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add([]byte("\x04\x04\x04\x04\x01\x00fsfsfsfsfsfsfs"))
	f.Add([]byte("\x07\x05\x07\x02\x01\x08\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Add([]byte("\x09\x08\x06\x0b\x01\x08\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Add([]byte("\x0b\x08\x0b\x0b\x01\x08\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &tape{data}
		l, ok := b.strategy().(leveled)
		if _, w := l.(interface{ Start() strategy.Strategy }); !ok || w {
			return
		}
		most := forever
		if c := l.Ceiling(strategy.State{}); c > 0 {
			most = c
		}
		clock := func() time.Time { return time.Time{}.Add(b.span()) }
		for range 200 {
			c, ok := b.next()
			if !ok {
				return
			}
			switch {
			case c == 0:
				l.Reset()
			case c%3 == 0:
				l.Succeed()
			default:
				s := strategy.State{Limit: b.span(), Began: clock(), Now: clock()}
				shown, ok := l.Next(s)
				l.Failed(s)
				limit := forever
				if s.Limit > 0 {
					limit = s.Limit
				}
				if want := min(l.Level(), limit); !ok || shown != want {
					t.Fatalf("%v shows %v, then comes to %v under %v", l, shown, l.Level(), s.Limit)
				}
			}
			if level := l.Level(); level < 0 || level > most {
				t.Fatalf("%v comes to %v", l, level)
			}
		}
	})
}
