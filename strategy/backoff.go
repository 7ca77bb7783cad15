package strategy

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// BackOff is the policy of github.com/cenkalti/backoff, whose v4, v5, v6 and v7 all have these two methods: their values
// fit as they are, and nothing of theirs is imported here.
//
// NextBackOff returns the wait before the next attempt, and a negative value (their Stop is -1) where there shall be none.
// Reset begins a new call. A BackOff has memory, so it serves one call at a time.
type BackOff interface {
	NextBackOff() time.Duration
	Reset()
}

// backOffStop is what a BackOff answers to end a call.
const backOffStop time.Duration = -1

// FromBackOff makes a Strategy of BackOffs. factory makes one for each call, at the call's first failure that needs a
// wait, and it is Reset before it is asked:
//
//	strategy.FromBackOff(func() strategy.BackOff { return backoff.NewExponentialBackOff() })
//
// The wait is what NextBackOff returns, at most State.Limit; every negative value ends the call. That is all that is taken
// from the BackOff: limits of its own count from the first failure, and the context that v4's WithContext put into one ends
// the call at the next failure, but no wait. Number, Prev and all else in the State it does not see.
//
// The result is a Starter: each call has a BackOff of its own, whereas Next on the result itself makes one for that answer,
// the first of a call, whatever State.Number is. A factory that returns nil (also a nil pointer) ends the call. A nil
// factory is invalid; Next then answers not ok.
//
// It is safe for concurrent use if factory is, and if factory makes a new BackOff each time.
func FromBackOff(factory func() BackOff) Strategy { return backOffs{factory} }

type backOffs struct{ factory func() BackOff }

// Start makes the BackOff of one call.
func (b backOffs) Start() Strategy {
	if b.factory == nil {
		return startedBackOff{}
	}
	made := b.factory()
	if errtree.IsNil(made) {
		return startedBackOff{}
	}
	made.Reset()
	return startedBackOff{made}
}

func (b backOffs) Next(s State) (delay time.Duration, ok bool) { return b.Start().Next(s) }

// Validate returns a *ConfigError for a nil factory.
func (b backOffs) Validate() error {
	if b.factory == nil {
		return &ConfigError{"FromBackOff", nil, "must not be nil"}
	}
	return nil
}

// String returns "frombackoff", which Parse does not read.
func (b backOffs) String() string { return "frombackoff" }

// startedBackOff is the memory of one call; nil ends it.
type startedBackOff struct{ made BackOff }

func (b startedBackOff) Next(s State) (delay time.Duration, ok bool) {
	if b.made == nil {
		return 0, false
	}
	if delay = b.made.NextBackOff(); delay < 0 {
		return 0, false
	}
	return s.within(delay), true
}
