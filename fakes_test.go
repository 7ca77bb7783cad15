package retry_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errRec = errors.New("boom")

// recLog is the one log that all the fakes of a call write to, in the order of what happens to them. Its times are
// counted from the log's beginning.
type recLog struct {
	began time.Time
	lines []string
	seen  map[string]int
	on    map[string]func() // what else happens at an event, or at its n-th occurrence: event#n
	wrong []string          // broken promises
}

func newRecLog() *recLog {
	return &recLog{began: time.Now(), seen: map[string]int{}, on: map[string]func(){}}
}

// add writes a line and does what the test wants to happen there.
func (l *recLog) add(event string, details ...any) {
	line := event
	for _, d := range details {
		if at, ok := d.(time.Time); ok {
			d = "@" + l.at(at)
		}
		line += " " + fmt.Sprint(d)
	}
	l.lines = append(l.lines, line)
	l.seen[event]++
	for _, key := range []string{event, fmt.Sprintf("%s#%d", event, l.seen[event])} {
		if f := l.on[key]; f != nil {
			f()
		}
	}
}

func (l *recLog) at(now time.Time) string {
	if now.IsZero() {
		return "never"
	}
	return now.Sub(l.began).String()
}

func (l *recLog) promise(kept bool, format string, args ...any) {
	if !kept {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

// require compares the log with one that has a line per event.
func (l *recLog) require(t *testing.T, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	require.Equal(t, strings.Join(lines, "\n"), strings.Join(l.lines, "\n"))
	require.Empty(t, l.wrong)
}

// recThrottle is a throttle that lets everything pass, or answers as admit says.
type recThrottle struct {
	log   *recLog
	name  string
	admit func(asked int) (wait time.Duration, err error)

	asked, given, returned int
	out                    bool
	ticket                 throttle.Ticket
}

func (r *recThrottle) Admit(_ context.Context, now time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	r.asked++
	if r.out {
		r.log.promise(t == r.ticket, "%s: asked again with ticket %v", r.name, t)
	} else {
		r.log.promise(t == nil, "%s: asked at first with ticket %v", r.name, t)
	}
	var wait time.Duration
	var err error
	if r.admit != nil {
		wait, err = r.admit(r.asked)
	}
	answer := any("go")
	switch {
	case err != nil:
		answer = err
	case wait > 0:
		answer = wait
	}
	r.log.add(r.name+".Admit", now, answer)
	if err != nil {
		return nil, 0, err
	}
	if !r.out {
		r.given++
	}
	r.out, r.ticket = true, fmt.Sprint(r.name, r.asked)
	return r.ticket, wait, nil
}

func (r *recThrottle) Done(_ context.Context, now time.Time, t throttle.Ticket, o throttle.Outcome) {
	r.log.promise(r.out && t == r.ticket, "%s: Done with ticket %v", r.name, t)
	r.out = false
	r.returned++
	r.log.add(r.name+".Done", now, t, o.Class, o.Number)
}

// The optional methods of throttles.
type (
	recPlanner struct {
		*recThrottle
		ready func(at time.Time) time.Duration
	}
	recExplainer struct {
		*recThrottle
		why *throttle.Error
	}
	recAttacher struct{ *recThrottle }
	recLabeler  struct {
		*recThrottle
		label string
	}
)

func (r recPlanner) Ready(_ context.Context, at time.Time) time.Duration {
	d := r.ready(at)
	r.log.add(r.name+".Ready", at, d)
	return d
}

func (r recExplainer) Explain(_ context.Context, now time.Time) *throttle.Error {
	r.log.add(r.name+".Explain", now)
	return r.why
}

func (r recAttacher) Attach(ctx context.Context, t throttle.Ticket) context.Context {
	r.log.add(r.name+".Attach", t)
	return context.WithValue(ctx, recKey(r.name), t)
}

func (r recLabeler) Label(t throttle.Ticket) string {
	r.log.add(r.name+".Label", t)
	return r.label
}

type recKey string

// recBudget allows everything, or answers as charge says.
type recBudget struct {
	log    *recLog
	charge func(n int, c throttle.Class, last bool) (cost int, ok bool)

	charged, started, settled, held int
}

func (b *recBudget) Start(now time.Time) {
	b.log.add("budget.Start", now)
	b.started++
	b.held = 0
}

func (b *recBudget) Charge(now time.Time, c throttle.Class, held int, last bool) (int, bool) {
	b.charged++
	b.log.promise(held == b.held, "budget: held is %d", held)
	b.log.add("budget.Charge", now, c, held, map[bool]string{true: "last", false: "more"}[last])
	cost, ok := held+10, true
	if b.charge != nil {
		cost, ok = b.charge(b.charged, c, last)
	}
	b.held = cost
	return cost, ok
}

func (b *recBudget) Settle(now time.Time, success bool, held int) {
	b.settled++
	b.log.promise(held == b.held, "budget: settled with %d", held)
	b.log.add("budget.Settle", now, map[bool]string{true: "success", false: "failure"}[success], held)
}

// recCurve waits 1 s, 2 s, 3 s and so on, and ends after limit waits if that is above 0.
type recCurve struct {
	log   *recLog
	limit int
}

func (c recCurve) Next(s strategy.State) (time.Duration, bool) {
	c.log.add("curve.Next", s.Number, s.Prev, s.Elapsed)
	return time.Duration(s.Number) * time.Second, c.limit == 0 || s.Number <= c.limit
}

// recLearner is a recCurve that is told what happens.
type recLearner struct{ recCurve }

func (c recLearner) Failed(s strategy.State) { c.log.add("curve.Failed", s.Number, s.Prev, s.Elapsed) }
func (c recLearner) Succeed()                { c.log.add("curve.Succeed") }

// recStarter is a strategy whose curves for single calls are counted.
type recStarter struct {
	log     *recLog
	started *int
}

func (c recStarter) Next(strategy.State) (time.Duration, bool) {
	c.log.add("starter.Next")
	return time.Hour, true
}

func (c recStarter) Start() strategy.Strategy {
	*c.started++
	c.log.add("starter.Start")
	n := *c.started
	return strategy.Func(func(s strategy.State) (time.Duration, bool) {
		c.log.add(fmt.Sprintf("started%d.Next", n), s.Number, s.Prev)
		return time.Duration(s.Number) * time.Second, true
	})
}

// recObserver watches calls, and keeps the events of them all.
type recObserver struct {
	log  *recLog
	name string

	calls    []retry.Call
	starts   []retry.AttemptStart
	events   []retry.Event
	pauses   []retry.Pause
	ends     []retry.Summary
	contexts []context.Context // of attempts
}

func (o *recObserver) Start(ctx context.Context, c retry.Call) (context.Context, retry.Observation) {
	o.log.add(o.name+".Start", c.Start, c.Name, c.MaxAttempts)
	o.calls = append(o.calls, c)
	return context.WithValue(ctx, recKey(o.name), "call"), (*recObservation)(o)
}

type recObservation recObserver

func (o *recObservation) Attempt(ctx context.Context, s retry.AttemptStart) context.Context {
	o.log.promise(ctx.Value(recKey(o.name)) == "call", "%s.Attempt: not the call's context", o.name)
	o.starts = append(o.starts, s)
	o.contexts = append(o.contexts, ctx)
	o.log.add(o.name+".Attempt", s.At, s.Number)
	return context.WithValue(ctx, recKey(o.name), s.Number)
}

func (o *recObservation) AttemptDone(ctx context.Context, e retry.Event) {
	o.log.promise(ctx.Value(recKey(o.name)) == e.Number, "%s.AttemptDone: not the attempt's context", o.name)
	o.events = append(o.events, e)
	o.log.add(o.name+".AttemptDone", e.At, e.Number, e.Class)
}

func (o *recObservation) Pause(ctx context.Context, p retry.Pause) {
	o.log.promise(ctx.Value(recKey(o.name)) == "call", "%s.Pause: not the call's context", o.name)
	o.pauses = append(o.pauses, p)
	o.log.add(o.name+".Pause", p.At, p.Before, p.Delay, p.Source)
}

func (o *recObservation) Done(ctx context.Context, s retry.Summary) {
	o.ends = append(o.ends, s)
	o.log.add(o.name+".Done", s.At, s.Attempts, s.Ending)
}

// recHandler is a slog handler that only counts lines.
type recHandler struct{ log *recLog }

func (recHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h recHandler) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h recHandler) WithGroup(string) slog.Handler          { return h }
func (h recHandler) Handle(_ context.Context, r slog.Record) error {
	h.log.add("logger", r.Level, r.Message)
	return nil
}

// recScript is an operation that goes through errs, one per attempt, and succeeds after them.
func (l *recLog) script(errs ...error) func(context.Context) (int, error) {
	n := 0
	return func(context.Context) (int, error) {
		n++
		l.add("fn", time.Now(), n)
		if n <= len(errs) {
			return n, errs[n-1]
		}
		return n, nil
	}
}

// recError returns the *Error that err is.
func recError(t *testing.T, err error) *retry.Error {
	t.Helper()
	require.Error(t, err)
	e, ok := err.(*retry.Error)
	require.True(t, ok, "%T is not a *retry.Error: %v", err, err)
	for _, below := range e.Unwrap() {
		assert.NotNil(t, below)
	}
	return e
}

// recBare is recError without what only its text shows.
func recBare(t *testing.T, err error) *retry.Error {
	t.Helper()
	e := recError(t, err)
	return &retry.Error{Name: e.Name, Attempts: e.Attempts, Elapsed: e.Elapsed, Delay: e.Delay, Reason: e.Reason, Last: e.Last, History: e.History, Dropped: e.Dropped}
}
