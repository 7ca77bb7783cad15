package strategy

import (
	"math"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

func (p *Pacer) strategy() Strategy {
	if errtree.IsNil(p.Strategy) {
		return Exponential{}
	}
	return p.Strategy
}

// fail is steps 3 to 7 of a failure.
func (p *Pacer) fail(at time.Time) (delay time.Duration, ok bool) {
	s := p.strategy()
	if l, r := levelOf(s); l != nil {
		return p.move(at, l, &r, true), true
	}
	if p.run.first.IsZero() {
		p.run.first = at
	}
	state := State{
		Number: p.run.failures, Prev: p.run.prev, Elapsed: max(at.Sub(p.run.first), 0), Now: at, Rand: p.Rand,
	}
	if jittered(s) {
		state.Limit = max(p.MaxDelay, 0)
	}
	if p.run.started == nil {
		p.run.started = started(s)
	}
	raw, ok := p.run.started.Next(state)
	if !ok {
		if p.share() > 0 {
			p.heard, p.last = true, at // an event for the time left, as every other end is
		}
		return 0, false
	}
	raw = max(raw, 0)
	if l, is := s.(Learner); is {
		l.Failed(state)
	}
	p.run.prev = raw
	return p.answer(at, raw), true
}

// succeed is steps 4 to 7 of a success, after the raw delay.
func (p *Pacer) succeed(at time.Time) time.Duration {
	s := p.strategy()
	if l, r := levelOf(s); l != nil {
		return p.move(at, l, &r, false)
	}
	raw := p.DelayOnSuccess
	if l, ok := s.(Learner); ok {
		l.Succeed()
		if l, ok := s.(interface{ Level() time.Duration }); ok {
			raw = l.Level()
		}
	}
	return p.answer(at, max(raw, 0))
}

// levelOf returns the level of one of the four that have one, which the Pacer needs to see more closely than as a Learner.
func levelOf(s Strategy) (*level, rule) {
	switch s := s.(type) {
	case *LILD:
		return s.memory()
	case *LIMD:
		return s.memory()
	case *MILD:
		return s.memory()
	case *MIMD:
		return s.memory()
	}
	return nil, rule{}
}

// move is steps 3 to 7 for a strategy with a level.
func (p *Pacer) move(at time.Time, l *level, r *rule, failure bool) time.Duration {
	raw, first := l.pace(r, failure, at, max(p.MinDelay, 0), or(p.MaxDelay, forever))
	if !p.Compat010 {
		return p.answer(at, raw)
	}
	if first {
		p.returned = raw // what doubles the first answer
	}
	delay := p.answer(at, raw)
	l.put(delay)
	return delay
}

// answer is steps 4 to 7.
func (p *Pacer) answer(at time.Time, raw time.Duration) time.Duration {
	if p.ConsiderActualDelay {
		raw = saturate.Add(raw, p.returned-p.passed(at))
	}
	delay := max(min(p.spread(raw, p.JitterFactor), or(p.MaxDelay, forever)), 0, p.MinDelay)
	if share := p.share(); share > 0 && p.MaxDuration > 0 {
		left := p.MaxDuration - max(at.Sub(p.start), 0)
		delay = min(delay, nearest(float64(left)*(1-share), forever))
		p.timeout = p.portion(left - delay)
	}
	p.heard, p.last, p.returned = true, at, delay
	return delay
}

// passed is the time since the last event that got a wait.
func (p *Pacer) passed(at time.Time) time.Duration {
	switch {
	case p.heard:
		return max(at.Sub(p.last), 0)
	case p.share() > 0:
		return max(at.Sub(p.start), 0)
	}
	return 0
}

// share is TimeoutShare where it can be used; 0: off.
func (p *Pacer) share() float64 {
	if p.TimeoutShare > 0 && p.TimeoutShare <= 1 {
		return p.TimeoutShare
	}
	return 0
}

// portion is the timeout while that much time is left.
func (p *Pacer) portion(left time.Duration) time.Duration {
	timeout := nearest(float64(left)*p.share(), forever)
	return max(p.spread(timeout, p.TimeoutJitter), p.MinTimeout, 1)
}

// spread draws from d·(1−factor)..d·(1+factor). What is below 0 stays there.
func (p *Pacer) spread(d time.Duration, factor float64) time.Duration {
	if d == 0 || !(factor > 0 && factor <= math.MaxFloat64) {
		return d
	}
	f := 1 + factor*(2*State{Rand: p.Rand}.rand()-1)
	return nearest(float64(d)*f, forever)
}
