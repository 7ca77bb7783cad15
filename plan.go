package retry

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// plan: steps 6 to 10, whether a retry follows and after which wait.
func (f *flow) plan(ctx context.Context, c *config, now time.Time, o *throttle.Outcome, throttled bool) {
	t, m, failed := &c.terms, &f.memory, f.failed
	if f.kind > 0 {
		k := &f.kinds[f.kind-1]
		t, m, failed = &k.terms, &k.memory, k.failed
	}
	state := strategy.State{
		Number: m.number, Prev: m.prev, Elapsed: max(now.Sub(failed), 0), Limit: t.maxDelay,
		Now: now, Err: o.Err, Throttled: throttled, Rand: f.rand,
	}
	if c.timed {
		state.Began = f.launched
	}
	reason, ending := f.delay(ctx, c, t, m, now, &o.Signal, &state)
	if c.budget != nil {
		cost, ok := c.budget.Charge(now, o.Class, f.held, reason != nil)
		f.held = cost
		if !ok && reason == nil {
			if !c.goesOn() {
				reason, ending = ErrBudget, EndBudget
			} else {
				f.settle(c, now, false)
				f.held = 0
				f.start(c, now)
			}
		}
	}
	if reason != nil {
		f.end(ctx, c, now, reason, ending)
		return
	}
	f.step.Action, f.retried = Wait, true
	if t.learner != nil {
		t.learner.Failed(state)
	}
	if o.Signal.RestartCurve {
		*m = memory{}
	}
}

// delay: steps 6 to 9. It finds the wait, or the reason why there is none. Without a failure (a nil state.Err) the wait is
// that of a first one, but for Poll's.
func (f *flow) delay(ctx context.Context, c *config, t *terms, m *memory, now time.Time, told *throttle.Signal, state *strategy.State) (error, Ending) {
	if f.exhausted(c) {
		return ErrExhausted, EndExhausted
	}
	s := &f.step
	if state.Err != nil || c.interval == 0 { // a look of Poll that is not done asks nobody
		planned, ok := m.curve(c, t).Next(*state)
		if !ok {
			return ErrNoDelay, EndExhausted
		}
		m.prev = planned
		s.Delay = max(min(planned, t.delayLimit()), 0)
		if t.jitter != nil {
			s.Delay = f.jitter(t.jitter, s.Delay, min(t.delayLimit(), ceiling(c.curve(t), state)))
		}
	}
	s.Delay = max(s.Delay, c.interval)
	if told.HasDelay {
		rule := told.Rule
		if t.hintSet {
			rule = t.hint
		}
		if most := c.hintLimit(); rule.Demands() && told.Delay > most {
			f.limit = limit{told.Delay, most, ofHint}
			s.Delay, s.Source = told.Delay, SourceServer
			return ErrHintTooLong, EndThrottled
		}
		var used bool
		if s.Delay, used = rule.Apply(s.Delay, told.Delay, f.draw); used {
			s.Source = SourceServer
		}
	}
	if len(c.throttles) > 0 {
		longest, by := foresee(ctx, c.throttles, now.Add(s.Delay))
		if longest > 0 {
			s.Delay, s.Source = saturate.Add(s.Delay, longest), SourceThrottle
			f.told = longest
		}
		if most := c.hintLimit(); longest > most {
			f.limit = limit{longest, most, ofHint}
			return tooLong(ctx, now, by), EndThrottled
		}
	}
	if reason := f.fits(c, now, s.Delay); reason != nil {
		return reason, EndDeadline
	}
	if err := refusal(ctx, c.throttles, now, s.Delay); err != nil {
		s.Delay, s.Source = max(s.Delay, refusedFor(err)), SourceThrottle
		return explain(ErrRefused, err), EndThrottled
	}
	return nil, EndSucceeded
}

// refusal returns the error with which a throttle would refuse an attempt after the wait, if one can say so now.
func refusal(ctx context.Context, throttles []throttle.Throttle, now time.Time, wait time.Duration) error {
	for _, t := range throttles {
		if p, ok := t.(throttle.Forecaster); ok {
			if err := p.Forecast(ctx, now, wait); err != nil {
				return err
			}
		}
	}
	return nil
}

// curve is the strategy to ask: a Starter's memory of this call, made when first needed.
func (m *memory) curve(c *config, t *terms) strategy.Strategy {
	if t.starter == nil {
		return c.curve(t)
	}
	if m.started == nil {
		if m.started = t.starter.Start(); errtree.IsNil(m.started) { // it has nothing to start
			m.started = t.starter
		}
	}
	return m.started
}

// foresee returns the longest time that a throttle would hold an attempt back at the given time, and which.
func foresee(ctx context.Context, throttles []throttle.Throttle, at time.Time) (longest time.Duration, by throttle.Throttle) {
	for _, t := range throttles {
		if p, ok := t.(throttle.Planner); ok {
			if d := p.Ready(ctx, at); d > longest {
				longest, by = d, t
			}
		}
	}
	return longest, by
}

// tooLong is ErrHintTooLong with what the throttle has to say.
func tooLong(ctx context.Context, now time.Time, t throttle.Throttle) error {
	if e, ok := t.(throttle.Explainer); ok {
		if why := e.Explain(ctx, now); why != nil {
			return explain(ErrHintTooLong, why)
		}
	}
	return ErrHintTooLong
}

// initialDelay is the wait before the first attempt.
func (f *flow) initialDelay(c *config) time.Duration {
	d := min(c.initialDelay, c.delayLimit())
	if c.initialJitter != nil {
		d = f.jitter(c.initialJitter, d, c.delayLimit())
	}
	return d
}

// ceiling is the strategy's own cap, which its jitter keeps too.
func ceiling(s strategy.Strategy, state *strategy.State) time.Duration {
	if s, ok := s.(interface {
		Ceiling(strategy.State) time.Duration
	}); ok {
		if most := s.Ceiling(*state); most > 0 {
			return most
		}
	}
	return math.MaxInt64
}

func (f *flow) jitter(j strategy.Jitter, d, limit time.Duration) time.Duration {
	return max(min(j(d, limit, f.draw()), limit), 0)
}

func (f *flow) draw() float64 {
	if f.rand == nil {
		return rand.Float64()
	}
	return f.rand()
}
