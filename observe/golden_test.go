package observe_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var update = flag.Bool("update", false, "write the golden files")

type dialError struct{ text string }

func (e *dialError) Error() string { return e.text }

var (
	errRefused = &dialError{"connection refused"}
	errInvalid = errors.New("no such order")
)

// lasting returns an operation that takes 20 ms for each attempt, and fails with errs in turn, then succeeds.
func lasting(errs ...error) func(context.Context) (string, error) {
	n := 0
	return func(ctx context.Context) (string, error) {
		time.Sleep(20 * ms)
		if n++; n <= len(errs) {
			return "", errs[n-1]
		}
		return "the result", nil
	}
}

func always(err error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		time.Sleep(20 * ms)
		return "", err
	}
}

// broke is a budget that refuses every retry.
type broke struct{}

func (broke) Start(time.Time)                                                        {}
func (broke) Charge(time.Time, throttle.Class, int, bool) (cost int, permitted bool) { return 0, false }
func (broke) Settle(time.Time, bool, int)                                            {}

// tokens gives each attempt the next of some tokens.
type tokens struct {
	next int
	held string
}

func (p *tokens) Admit(context.Context, time.Time, throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	p.next++
	return p.next, 0, nil
}
func (p *tokens) Done(context.Context, time.Time, throttle.Ticket, throttle.Outcome) {}
func (p *tokens) Label(t throttle.Ticket) string                                     { return fmt.Sprint("#", t) }

// scenarios are calls of one kind each. What each leaves behind stands in testdata, by its name.
var scenarios = []struct {
	name    string
	options []observe.Option
	call    func(ctx context.Context, observed retry.Option) error
}{
	{"success", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(), policy, observed)
		return err
	}},
	{"recovered", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(errRefused, errRefused), policy, observed)
		return err
	}},
	{"exhausted", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(fmt.Errorf("load: %w", errRefused)), policy, observed, retry.WithMaxAttempts(3))
		return err
	}},
	{"no-delay", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{ms}}))
		return err
	}},
	{"aborted-by-condition", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(errRefused, errInvalid), policy, observed, retry.WithCondition(condition.Only(condition.Is(error(errRefused)))))
		return err
	}},
	{"permanent", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(retry.Permanent(errInvalid)), policy, observed)
		return err
	}},
	{"before-retry", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithBeforeRetry(func(context.Context, retry.Event) error {
			return errors.New("no new token")
		}))
		return err
	}},
	{"canceled-in-attempt", nil, func(ctx context.Context, observed retry.Option) error {
		ctx, cancel := context.WithCancel(ctx)
		_, err := retry.Do(ctx, func(ctx context.Context) (string, error) {
			time.Sleep(20 * ms)
			cancel()
			return "", ctx.Err()
		}, policy, observed)
		return err
	}},
	{"canceled-in-wait", nil, func(ctx context.Context, observed retry.Option) error {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(50*ms, cancel)
		_, err := retry.Do(ctx, always(errRefused), policy, observed)
		return err
	}},
	{"shutdown", nil, func(ctx context.Context, observed retry.Option) error {
		stop := make(chan struct{})
		time.AfterFunc(50*ms, func() { close(stop) })
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithStop(stop))
		return err
	}},
	{"deadline", nil, func(ctx context.Context, observed retry.Option) error {
		ctx, cancel := context.WithTimeout(ctx, 300*ms)
		defer cancel()
		_, err := retry.Do(ctx, always(errRefused), policy, observed)
		return err
	}},
	{"deadline-in-attempt", nil, func(ctx context.Context, observed retry.Option) error {
		ctx, cancel := context.WithTimeout(ctx, 300*ms)
		defer cancel()
		_, err := retry.Do(ctx, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, policy, observed)
		return err
	}},
	{"elapsed", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithMaxElapsed(300*ms))
		return err
	}},
	{"attempt-timeout", nil, func(ctx context.Context, observed retry.Option) error {
		n := 0
		_, err := retry.Do(ctx, func(ctx context.Context) (string, error) {
			if n++; n > 1 {
				return "", nil
			}
			<-ctx.Done()
			return "", ctx.Err()
		}, policy, observed, retry.WithAttemptTimeout(40*ms))
		return err
	}},
	{"initial-delay", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(), policy, observed, retry.WithInitialDelay(70*ms, nil))
		return err
	}},
	{"held-back", nil, func(ctx context.Context, observed retry.Option) error {
		gate := new(throttle.Gate)
		gate.Block(time.Now(), 2*sec, "acme")
		gate.Block(time.Now(), 3*sec, "globex")
		_, err := retry.Do(ctx, lasting(), policy, observed, retry.WithThrottle(gate.For("acme"), gate.For("globex")))
		return err
	}},
	{"held-back-too-long", nil, func(ctx context.Context, observed retry.Option) error {
		gate := new(throttle.Gate)
		gate.Block(time.Now(), 90*sec, "acme")
		_, err := retry.Do(ctx, lasting(), policy, observed, retry.WithThrottle(gate.For("acme")))
		return err
	}},
	{"refused", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(), policy, observed, retry.WithThrottle(refusing(errors.New("closed for today"))))
		return err
	}},
	{"refused-later", nil, func(ctx context.Context, observed retry.Option) error {
		cooling := &throttle.Error{Key: "acme", Remaining: 30 * sec, Source: "retry-after", Err: errRefused}
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithThrottle(refusing(nil, cooling)))
		return err
	}},
	{"budget", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithBudget(broke{}))
		return err
	}},
	{"unacceptable", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(), policy, observed, retry.WithMaxAttempts(2), retry.WithRetryResult(func(string) bool { return true }))
		return err
	}},
	{"server-hint", nil, func(ctx context.Context, observed retry.Option) error {
		limited := &carrier{throttle.Signal{Delay: 3 * sec, HasDelay: true, Source: "retry-after", Rule: throttle.Exact()}}
		_, err := retry.Do(ctx, lasting(limited, retry.After(ms, errRefused)), policy, observed)
		return err
	}},
	{"server-hint-too-long", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(retry.After(time.Hour, errRefused)), policy, observed)
		return err
	}},
	{"panic", nil, func(ctx context.Context, observed retry.Option) (err error) {
		defer func() { err = fmt.Errorf("panic: %v", recover()) }()
		n := 0
		_, err = retry.Do(ctx, func(context.Context) (string, error) {
			time.Sleep(20 * ms)
			if n++; n > 1 {
				panic("a secret")
			}
			return "", errRefused
		}, policy, observed)
		return err
	}},
	{"panic-between", nil, func(ctx context.Context, observed retry.Option) (err error) {
		defer func() { err = fmt.Errorf("panic: %v", recover()) }()
		_, err = retry.Do(ctx, always(errRefused), policy, observed, retry.WithOnRetry(func(context.Context, retry.Event) { panic("a secret") }))
		return err
	}},
	{"fallback", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithMaxAttempts(2),
			retry.WithFallback(func(context.Context, error) (string, error) { return "from the cache", nil }))
		return err
	}},
	{"fallback-fails", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(errRefused), policy, observed, retry.WithMaxAttempts(2),
			retry.WithFallback(func(context.Context, error) (string, error) { return "", errors.New("nothing cached") }))
		return err
	}},
	{"token", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(errRefused), policy, observed, retry.WithThrottle(&tokens{held: "s3cr3t"}))
		return err
	}},
	{"nested", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, func(ctx context.Context) (string, error) {
			return retry.Do(ctx, always(errRefused), policy, observed, retry.WithName("inner"), retry.WithMaxAttempts(1))
		}, policy, observed, retry.WithMaxAttempts(2))
		return err
	}},
	{"poll", nil, func(ctx context.Context, observed retry.Option) error {
		looks := []error{nil, errRefused, nil, nil, nil}
		_, err := retry.Poll(ctx, sec, func(context.Context) (string, bool, error) {
			time.Sleep(20 * ms)
			err := looks[0]
			looks = looks[1:]
			return "the result", len(looks) == 0, err
		}, policy, observed)
		return err
	}},
	{"poll-deadline", []observe.Option{observe.WithAttemptSpans(observe.OnRetry)}, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Poll(ctx, sec, func(context.Context) (string, bool, error) {
			time.Sleep(20 * ms)
			return "the result", false, nil
		}, policy, observed, retry.WithMaxElapsed(2*sec))
		return err
	}},
	{"poll-canceled", nil, func(ctx context.Context, observed retry.Option) error {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(50*ms, cancel)
		gate := new(throttle.Gate)
		gate.Block(time.Now(), 10*ms, "acme")
		_, err := retry.Poll(ctx, sec, func(context.Context) (string, bool, error) { return "the result", false, nil },
			policy, observed, retry.WithThrottle(gate.For("acme")))
		return err
	}},
	{"supervise", nil, func(ctx context.Context, observed retry.Option) error {
		runs := []error{nil, errRefused, retry.Restart(errRefused), retry.Permanent(errInvalid)}
		return retry.Supervise(ctx, func(context.Context) error {
			time.Sleep(20 * ms)
			err := runs[0]
			runs = runs[1:]
			return err
		}, observed, retry.WithName("stream"), retry.WithStrategy(strategy.Exponential{Base: 100 * ms}))
	}},
	{"loop", nil, func(ctx context.Context, observed retry.Option) error {
		loop := retry.NewLoop(ctx, policy, observed)
		for try := range loop.Tries() {
			time.Sleep(20 * ms)
			switch try.Number() {
			case 1:
				try.Again()
			case 2:
				try.Fail(errRefused)
			default:
				try.Fail(nil)
			}
		}
		return loop.Err()
	}},
	{"rule", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, always(errRefused), policy, observed,
			retry.WithRule(condition.Is(error(errRefused)), retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{Delay: sec})))
		return err
	}},
	{"unnamed", nil, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(), observed, retry.WithUnlimitedAttempts())
		return err
	}},
	{"on-retry-success", []observe.Option{observe.WithAttemptSpans(observe.OnRetry)}, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(), policy, observed)
		return err
	}},
	{"on-retry-recovered", []observe.Option{observe.WithAttemptSpans(observe.OnRetry)}, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(retry.After(2*sec, errRefused), errRefused), policy, observed)
		return err
	}},
	{"on-retry-failed", []observe.Option{observe.WithAttemptSpans(observe.OnRetry)}, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(retry.After(time.Hour, errRefused)), policy, observed, retry.WithThrottle(&tokens{}))
		return err
	}},
	{"never", []observe.Option{observe.WithAttemptSpans(observe.Never), observe.WithActiveOperations()}, func(ctx context.Context, observed retry.Option) error {
		_, err := retry.Do(ctx, lasting(retry.After(2*sec, errRefused), retry.After(sec, errRefused)), policy, observed, retry.WithThrottle(&tokens{}))
		return err
	}},
}

// policy waits 100 ms, then twice as long each time.
var policy = retry.MustNew(
	retry.WithName("orders"), retry.WithMaxAttempts(4), retry.WithStrategy(strategy.Exponential{Base: 100 * ms}),
	retry.WithHint(throttle.Exact()),
)

// refusing answers each attempt with the next error, and lets it pass if that is nil.
func refusing(errs ...error) throttle.Throttle {
	n := 0
	return throttle.Func(func(context.Context, time.Time) (time.Duration, error) {
		n++
		return 0, errs[n-1]
	})
}

// carrier is a failure that carries a signal.
type carrier struct{ signal throttle.Signal }

func (*carrier) Error() string                             { return "429 Too Many Requests" }
func (c *carrier) ThrottleSignal() (throttle.Signal, bool) { return c.signal, true }

func TestGolden(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := record(sc.options...)
				err := sc.call(t.Context(), retry.WithObserver(r.observer))
				seen := fmt.Sprintf("spans\n\n%s\nmetrics\n\n%s", r.tree(t), r.metrics(t))
				for _, secret := range []string{"the result", "s3cr3t", "a secret", "acme", "globex"} {
					assert.NotContains(t, seen, secret)
				}
				got := fmt.Sprintf("error: %v\n\n%s", err, seen)
				file := filepath.Join("testdata", sc.name+".golden")
				if *update {
					require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				}
				want, err := os.ReadFile(file)
				require.NoError(t, err)
				assert.Equal(t, string(want), got, "if that is right: go test ./observe -run TestGolden -update")
			})
		})
	}
}

// Every golden file belongs to a scenario.
func TestGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	require.NoError(t, err)
	var want []string
	for _, sc := range scenarios {
		want = append(want, filepath.Join("testdata", sc.name+".golden"))
	}
	assert.ElementsMatch(t, want, files)
}
