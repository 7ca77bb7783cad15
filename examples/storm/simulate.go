package main

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// lateError is the failure of an attempt that has waited long enough.
type lateError struct{}

func (lateError) Error() string { return "no answer in time" }
func (lateError) Timeout() bool { return true }

// second is what happened in a second of virtual time.
type second struct {
	attempts          int
	calls, successful int // by when they began
}

// call is one call of a client. One that has not begun is where the client's next one will be.
type call struct {
	client int
	flow   retry.Flow
	began  time.Duration
	doing  doing
	answer error         // of the attempt that is under way
	next   time.Duration // when it goes on
}

type doing int

const (
	idle doing = iota
	attempting
	waiting // before a retry
)

// simulate lets the clients call until the time is over. The calls that are made do not depend on the policy.
func simulate(t trial, seed uint64) result {
	arrivals, jitter := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2)).Float64
	ctx, start := context.Background(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pause := func() time.Duration { return time.Duration(arrivals.ExpFloat64() / each * float64(time.Second)) }

	var s server
	var due agenda
	for client := range clients {
		due = append(due, &call{client: client, next: pause()})
	}
	heap.Init(&due)
	seconds := make([]second, length/time.Second)
	for {
		c := due[0]
		now := c.next
		if now >= length {
			return result{t, seconds}
		}

		var step retry.Step
		switch c.doing {
		case idle:
			heap.Push(&due, &call{client: c.client, next: now + pause()})
			c.began = now
			seconds[now/time.Second].calls++
			c.flow = t.policy(c.client).Begin(start.Add(now), time.Time{}, jitter)
			step = c.flow.Next(ctx, start.Add(now))
		case waiting:
			step = c.flow.Next(ctx, start.Add(now))
		case attempting:
			step = c.flow.Report(ctx, start.Add(now), throttle.Outcome{Err: c.answer})
		}

		switch step.Action {
		case retry.Go:
			seconds[now/time.Second].attempts++
			c.doing, c.answer, c.next = attempting, nil, s.take(now)
			if c.next > now+patience {
				c.answer, c.next = lateError{}, now+patience
			}
		case retry.Wait:
			c.doing, c.next = waiting, now+step.Delay
		default:
			if step.Err == nil {
				seconds[c.began/time.Second].successful++
			}
			heap.Pop(&due)
			continue
		}
		heap.Fix(&due, 0)
	}
}

// agenda is a heap: the call that goes on next is its first.
type agenda []*call

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, k int) bool { return a[i].next < a[k].next }
func (a agenda) Swap(i, k int)      { a[i], a[k] = a[k], a[i] }
func (a *agenda) Push(c any)        { *a = append(*a, c.(*call)) }
func (a *agenda) Pop() any {
	c := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return c
}
