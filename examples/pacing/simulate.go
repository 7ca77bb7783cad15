package main

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// pollTakes is how long a poll is under way, served or not.
const pollTakes = 10 * time.Millisecond

// second is what was seen in a second of virtual time.
type second struct {
	level        time.Duration // at its end
	served, away int
}

// worker polls, one call after the other.
type worker struct {
	call  retry.Flow
	doing doing
	next  time.Duration // when it goes on
}

type doing int

const (
	resting doing = iota // between two calls
	waiting              // before a retry
	polling
)

// simulate lets the workers poll until the last phase is over. level is what they wait between two calls: the executor
// itself does not wait after a success.
func simulate(s strategy.Strategy, level func() time.Duration, seed uint64) []second {
	// Waits are spread, so that the workers come one by one and not all in the same moment. What is drawn does not
	// change the level.
	spread := strategy.Proportional(0.5)
	policy := retry.MustNew(retry.WithStrategy(s), retry.WithJitter(spread), retry.WithUnlimitedAttempts())
	draw := rand.New(rand.NewPCG(seed, 0)).Float64
	ctx, start := context.Background(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	var q queue
	var crew crew
	for range workers {
		crew = append(crew, &worker{next: time.Duration(draw() * float64(time.Second))})
	}
	heap.Init(&crew)
	seconds := []second{{}}
	for {
		w := crew[0]
		now := w.next
		for len(seconds) <= int(now/time.Second) {
			seconds[len(seconds)-1].level = level()
			seconds = append(seconds, second{})
		}
		if _, _, on := phaseAt(now); !on {
			return seconds[:len(seconds)-1]
		}

		var step retry.Step
		switch w.doing {
		case resting:
			w.call = policy.Begin(start.Add(now), time.Time{}, draw)
			step = w.call.Next(ctx, start.Add(now))
		case waiting:
			step = w.call.Next(ctx, start.Add(now))
		case polling:
			err := q.poll(now)
			if err != nil {
				seconds[len(seconds)-1].away++
			} else {
				seconds[len(seconds)-1].served++
			}
			step = w.call.Report(ctx, start.Add(now), throttle.Outcome{Err: err})
		}

		switch step.Action {
		case retry.Go:
			w.doing, w.next = polling, now+pollTakes
		case retry.Wait:
			w.doing, w.next = waiting, now+step.Delay
		default: // served
			w.doing, w.next = resting, now+spread(level(), time.Minute, draw())
		}
		heap.Fix(&crew, 0)
	}
}

// crew is a heap: the worker that goes on next is its first.
type crew []*worker

func (c crew) Len() int           { return len(c) }
func (c crew) Less(i, k int) bool { return c[i].next < c[k].next }
func (c crew) Swap(i, k int)      { c[i], c[k] = c[k], c[i] }
func (c *crew) Push(w any)        { *c = append(*c, w.(*worker)) }
func (c *crew) Pop() any {
	w := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return w
}
