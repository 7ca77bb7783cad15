package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

// listedBackOff is a BackOff that answers from a list, and writes down what is done to it.
type listedBackOff struct {
	answers []time.Duration
	next    int
	log     []string
}

func (l *listedBackOff) Reset() { l.next, l.log = 0, append(l.log, "reset") }
func (l *listedBackOff) NextBackOff() time.Duration {
	l.log = append(l.log, "next")
	l.next++
	if l.next > len(l.answers) {
		return -1
	}
	return l.answers[l.next-1]
}

// listingBackOff is a factory of them, which it keeps.
func listingBackOff(made *[]*listedBackOff, answers ...time.Duration) func() strategy.BackOff {
	return func() strategy.BackOff {
		l := &listedBackOff{answers: answers, next: 99}
		*made = append(*made, l)
		return l
	}
}

func TestFromBackOff(t *testing.T) {
	var made []*listedBackOff
	s := strategy.FromBackOff(listingBackOff(&made, time.Second, 0, time.Minute))
	require.Empty(t, made, "none before a call needs one")

	first, second := s.(strategy.Starter).Start(), s.(strategy.Starter).Start()
	var waits []time.Duration
	for range 3 {
		d, ok := first.Next(strategy.State{Number: 7, Limit: 10 * time.Second})
		require.True(t, ok)
		waits = append(waits, d)
	}
	require.Equal(t, []time.Duration{time.Second, 0, 10 * time.Second}, waits, "at most the policy's cap")
	d, ok := second.Next(strategy.State{Number: 7})
	require.Equal(t, time.Second, d, "another call begins for itself")
	require.True(t, ok)
	_, ok = first.Next(strategy.State{})
	require.False(t, ok)
	require.Len(t, made, 2)
	require.Equal(t, []string{"reset", "next", "next", "next", "next"}, made[0].log, "reset once, before the first question")
}

func TestFromBackOffUnstartedAnswersAsAFreshCall(t *testing.T) {
	var made []*listedBackOff
	s := strategy.FromBackOff(listingBackOff(&made, time.Second, time.Minute))
	for n := range 3 {
		d, ok := s.Next(strategy.State{Number: n})
		require.Equal(t, time.Second, d)
		require.True(t, ok)
	}
	require.Len(t, made, 3)
}

func TestFromBackOffStopsOnEveryNegativeWait(t *testing.T) {
	for _, negative := range []time.Duration{-1, -2, -time.Hour, math.MinInt64} {
		var made []*listedBackOff
		d, ok := strategy.FromBackOff(listingBackOff(&made, negative)).Next(strategy.State{Number: 1})
		require.Zero(t, d)
		require.False(t, ok)
	}
}

func TestFromBackOffConforms(t *testing.T) {
	var nothing *listedBackOff
	var made []*listedBackOff
	for _, u := range []subject{
		{s: strategy.FromBackOff(nil), ends: true},
		{s: strategy.FromBackOff(func() strategy.BackOff { return nil }), ends: true},
		{s: strategy.FromBackOff(func() strategy.BackOff { return nothing }), ends: true},
		{s: strategy.FromBackOff(func() strategy.BackOff { return strategy.ToBackOff(strategy.Exponential{}) }), grows: true},
		{s: strategy.FromBackOff(func() strategy.BackOff { return new(strategy.BackOffAdapter) }), ends: true},
		{s: strategy.FromBackOff(listingBackOff(&made, 0)), grows: true},
		{s: strategy.FromBackOff(listingBackOff(&made, forever)), grows: true},
		{s: strategy.FromBackOff(listingBackOff(&made, math.MinInt64)), ends: true},
	} {
		states(func(s strategy.State) { conform(t, u, s) })
		require.Equal(t, "frombackoff", u.s.(fmt.Stringer).String())
	}
}

func TestFromBackOffWithNothing(t *testing.T) {
	requireConfigError(t, validate(t, strategy.FromBackOff(nil)), "FromBackOff", "strategy: FromBackOff = nil: must not be nil")
	require.NoError(t, validate(t, strategy.FromBackOff(func() strategy.BackOff { return nil })), "what it will return nobody knows")

	err := retry.Run(t.Context(), backOffDown, retry.WithStrategy(strategy.FromBackOff(nil)))
	require.ErrorIs(t, err, retry.ErrConfig)

	var nothing *listedBackOff
	for _, factory := range []func() strategy.BackOff{
		func() strategy.BackOff { return nil }, func() strategy.BackOff { return nothing },
	} {
		err := retry.Run(t.Context(), backOffDown, retry.WithStrategy(strategy.FromBackOff(factory)))
		require.ErrorIs(t, err, retry.ErrNoDelay)
		require.ErrorIs(t, err, errBackOffDown)
	}
}

var errBackOffDown = errors.New("down")

func backOffDown(context.Context) error { return errBackOffDown }

// TestConcurrentSafeFromBackOff is P22: one policy, many calls, each with its own sequence.
func TestConcurrentSafeFromBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := retry.MustNew(retry.WithUnlimitedAttempts(), retry.WithStrategy(strategy.FromBackOff(func() strategy.BackOff {
			return &listedBackOff{answers: []time.Duration{1, 2, 4}}
		})))
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				began := time.Now()
				var at []time.Duration
				err := retry.Run(t.Context(), func(context.Context) error {
					at = append(at, time.Since(began))
					return errBackOffDown
				}, policy)
				if !errors.Is(err, retry.ErrNoDelay) || fmt.Sprint(at) != "[0s 1ns 3ns 7ns]" {
					t.Error(err, at)
				}
			})
		}
		all.Wait()
	})
}
