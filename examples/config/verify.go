package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

// record is what happened: when each attempt began, what was waited between them, how many requests came to the server, and
// how it ended.
type record struct {
	attempts []time.Time
	waits    []time.Duration
	requests int
	err      error
}

func (r record) total() (sum time.Duration) {
	for _, d := range r.waits {
		sum += d
	}
	return sum
}

// verify compares what happened with what was set.
func (r record) verify(set retry.Config) error {
	if len(r.attempts) != len(r.waits)+1 {
		return fmt.Errorf("%d attempts do not go with %d waits", len(r.attempts), len(r.waits))
	}
	if r.requests > len(r.attempts) || r.requests < len(r.attempts) && set.AttemptTimeout == 0 {
		return fmt.Errorf("%d attempts do not go with %d requests", len(r.attempts), r.requests)
	}
	shortest, longest, err := bounds(set, len(r.attempts))
	if err != nil {
		return err
	}
	for i, wait := range r.waits {
		if i >= len(longest) || wait < shortest[i] || wait > longest[i] {
			return fmt.Errorf("wait %d was %v: waits should have been from %v to %v", i+1, wait, shortest, longest)
		}
		if took := r.attempts[i+1].Sub(r.attempts[i]); took < wait {
			return fmt.Errorf("wait %d was to be %v, and the next attempt came after %v", i+1, wait, took)
		}
	}
	attempts, limit := len(r.attempts), int(set.MaxAttempts)
	switch {
	case r.err == nil && attempts <= limit && (attempts == failures+1 || set.AttemptTimeout > 0):
	case errors.Is(r.err, retry.ErrExhausted) && attempts == limit:
	case errors.Is(r.err, retry.ErrNoDelay) && len(longest) < attempts:
	case errors.Is(r.err, retry.ErrMaxElapsed) && set.MaxElapsed > 0:
	default:
		return fmt.Errorf("there should not have been %d attempts, with the result: %v", attempts, r.err)
	}
	return nil
}

// bounds are the shortest and the longest waits that the settings allow after each of n failures.
func bounds(set retry.Config, n int) (shortest, longest []time.Duration, err error) {
	// What API_BASE_TIMEOUT and API_MAX_BACKOFF_TIME mean: from 0 to the base, doubled each time, up to the most.
	var s strategy.Strategy = strategy.FullJitter{Base: set.BaseDelay, Max: set.MaxDelay}
	if strings.TrimSpace(set.Strategy) != "" {
		if s, err = strategy.Parse(set.Strategy); err != nil {
			return nil, nil, err
		}
	}
	capped := strategy.Func(func(state strategy.State) (time.Duration, bool) {
		state.Limit = set.MaxDelay
		d, ok := s.Next(state)
		return min(d, set.MaxDelay), ok
	})
	draw := func(r float64) func() float64 { return func() float64 { return r } }
	return strategy.Delays(capped, n, draw(0)), strategy.Delays(capped, n, draw(math.Nextafter(1, 0))), nil
}
