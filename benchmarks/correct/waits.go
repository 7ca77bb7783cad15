package correct

import (
	"context"
	"errors"
	"math"
	"testing/synctest"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// delays returns n waits: without waiting where a library can show them, else as seen between the attempts of a call, in
// virtual time.
func delays(l *library.Library, s library.Settings, n int) ([]time.Duration, error) {
	if l.Delays != nil {
		waits, err := l.Delays(s, n)
		if !errors.Is(err, library.ErrAbsent) {
			return waits, err
		}
	}
	s.Attempts = n + 1
	o, err := run(context.Background(), l, s, always(errOp))
	if err != nil {
		return nil, err
	}
	waits := make([]time.Duration, 0, n)
	for i := range len(o.at) - 1 {
		waits = append(waits, o.at[i+1]-o.at[i])
	}
	return waits, nil
}

func saturates(l *library.Library) Verdict {
	doubling := library.Settings{Delay: time.Second, Doubling: true}
	waits, err := delays(l, library.Settings{Delay: time.Second, Doubling: true, Cap: 30 * time.Second}, 200)
	if err != nil {
		return refused(err)
	}
	for i, d := range waits {
		if want := min(time.Second<<min(i, 10), 30*time.Second); d != want {
			return wrong("with a cap, wait %d is %v", i+1, d)
		}
	}
	if l.Delays == nil {
		return saturatesInTime(l)
	}
	if waits, err = l.Delays(doubling, 200); err != nil {
		return refused(err)
	}
	last := time.Duration(1)
	for i, d := range waits {
		if d < last {
			return wrong("without a cap, wait %d is %v", i+1, short(d))
		}
		last = d
	}
	return Verdict{Answer: Right}
}

func short(d time.Duration) string {
	if d < 0 {
		return "negative"
	}
	return d.String()
}

// saturatesInTime is for a library whose waits can only be lived through, in a bubble whose time ends with the year 2262.
// 79 years double to 158, and then to more than fits: a wait of that length ends after the last attempt that is looked at.
func saturatesInTime(l *library.Library) Verdict {
	const year = 365 * 24 * time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o, err := run(ctx, l, library.Settings{Delay: 79 * year, Doubling: true, Attempts: 10}, func(_ context.Context, n int) error {
		if n == 3 {
			time.AfterFunc(year, cancel)
		}
		return errOp
	})
	if err != nil {
		return refused(err)
	}
	return require(o.calls() == 3, "without a cap, the wait after one of 158 years is %v", o.at[min(3, o.calls()-1)]-o.at[2])
}

func fullJitter(l *library.Library) Verdict {
	waits, err := delays(l, library.Settings{Delay: time.Second, Full: true}, 1100)
	if err != nil {
		return refused(err)
	}
	for _, d := range waits {
		if d < 0 {
			return wrong("waits are negative")
		}
	}
	return require(len(waits) == 1100, "the call ends early")
}

func noJitter(l *library.Library) Verdict {
	waits, err := delays(l, library.Settings{Delay: time.Second, Spreads: true}, 100)
	if err != nil {
		return refused(err)
	}
	for _, d := range waits {
		if d != time.Second {
			return wrong("a jitter of zero makes a wait of 1 s another")
		}
	}
	waits, err = delays(l, library.Settings{Delay: time.Second, Spreads: true, Spread: -5}, 100)
	if err != nil {
		return Verdict{Answer: Right} // it is refused
	}
	for _, d := range waits {
		if d < 0 {
			return wrong("a negative jitter makes negative waits")
		}
	}
	return Verdict{Answer: Right}
}

func capWithJitter(l *library.Library) Verdict {
	waits, err := delays(l, library.Settings{Delay: time.Second, Doubling: true, Cap: time.Second, Spread: 0.5, Spreads: true}, 10_000)
	if err != nil {
		return refused(err)
	}
	for _, d := range waits {
		if d > time.Second {
			return wrong("waits are up to half longer than the cap")
		}
	}
	return Verdict{Answer: Right}
}

func largestWithJitter(l *library.Library) Verdict {
	largest := library.Settings{Delay: math.MaxInt64, Spread: 0.5, Spreads: true}
	if l.Delays != nil {
		waits, err := l.Delays(largest, 1000)
		for _, d := range waits {
			if d < 0 {
				return wrong("about half of the waits are negative")
			}
		}
		if !errors.Is(err, library.ErrAbsent) {
			return Verdict{Answer: Right}
		}
	}
	largest.Attempts = 5
	for range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		o, err := run(ctx, l, largest, always(errOp))
		cancel()
		if err != nil {
			return refused(err)
		}
		if o.calls() > 1 && o.at[1] == 0 {
			return wrong("waits wrap around to none")
		}
	}
	return Verdict{Answer: Right}
}

func waitPastDeadline(l *library.Library) Verdict {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	o, err := run(ctx, l, library.Settings{Delay: 10 * time.Second, Attempts: 5}, always(errOp))
	if err != nil {
		return refused(err)
	}
	return all(require(o.took == 0, "returns after %v", o.took), keeps(o.err, errOp, context.DeadlineExceeded))
}

func budgetMetExactly(l *library.Library) Verdict {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o, err := run(ctx, l, library.Settings{Delay: time.Second, Doubling: true, MaxElapsed: 5 * time.Second}, func(_ context.Context, n int) error {
		if n == 1000 {
			cancel()
		}
		return errOp
	})
	if err != nil {
		return refused(err)
	}
	return all(
		require(o.calls() < 1000, "more than 1000 attempts, almost all of them at %v", o.at[o.calls()-1]),
		require(o.took <= 5*time.Second, "ends after %v", o.took))
}

func hintOverBudget(l *library.Library) Verdict {
	if l.After == nil {
		return Verdict{Answer: Absent}
	}
	o, err := run(context.Background(), l, library.Settings{Delay: time.Second, MaxElapsed: 15 * time.Minute}, always(l.After(30*time.Minute, errOp)))
	if err != nil {
		return refused(err)
	}
	return require(o.took == 0 && o.calls() == 1, "goes on for %v", o.took)
}

func hintKeepsError(l *library.Library) Verdict {
	if l.After == nil {
		return Verdict{Answer: Absent}
	}
	o, err := run(context.Background(), l, library.Settings{Delay: time.Millisecond, Attempts: 2}, always(l.After(time.Second, errOp)))
	if err != nil {
		return refused(err)
	}
	told := o.took >= time.Second && o.took <= 1100*time.Millisecond // a tenth upward is fair
	return all(require(told, "waits for %v", o.took), keeps(o.err, errOp))
}

func timerLeft(l *library.Library) Verdict {
	timers := new(library.Timers)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(time.Second, cancel)
	_, err := run(ctx, l, library.Settings{Delay: 10 * time.Second, Attempts: 5, Timers: timers}, always(errOp))
	if err != nil {
		return refused(err)
	}
	pending := timers.Pending()
	time.Sleep(time.Minute) // let it go
	synctest.Wait()
	return require(pending == 0, "%d timer is pending: its clock has no way to stop one", pending)
}
