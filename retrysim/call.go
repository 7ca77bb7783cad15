package retrysim

import (
	"context"
	"math"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// call is a call of a client, or of a service of Layers to the next. Its place is used again when it is over.
type call struct {
	flow   retry.Flow
	draws  stream // network and server, the same numbers for each attempt whatever the policy
	jitter stream
	rand   func() float64 // draws from jitter
	began  int64
	step   int32 // of the series, in which it began
	client int32
	parent int32  // the attempt whose work this call is; none: below 0
	gen    uint32 // moves on with every step
	serial uint32 // moves on with every call in this place
	tries  int32
	layer  int8
	paused bool // between two attempts
}

// attempt is a request on its way, at the server, or on its way back.
type attempt struct {
	call    int32
	gen     uint32 // of the call, while it waits for this attempt
	layer   int8   // of the call
	back    int64  // the way back takes
	service int64
	share   float64 // decides what happens by chance
	reached int64   // when it came to the server
	version int     // of the row that was read
	told    int64   // the wait that a rejection asks for; below 0: none
	err     error   // what the answer is
	served  bool
	wrote   bool // the second trip to a Row
}

// launch plans the first calls.
func (w *world) launch() {
	switch l := w.scenario.Load.(type) {
	case Open:
		w.rate = &l.Rate
		w.arrive()
	case Burst:
		for i := range w.scenario.clients() {
			w.plan(int64(l.At), begin, int32(i), 0)
			w.bound++
		}
	case Closed:
		w.previous = make([]int64, w.scenario.clients())
		for i := range w.previous {
			w.again(int32(i))
		}
	}
}

// arrive plans the next call of an open load.
func (w *world) arrive() {
	w.arrival = event{w.rate.next(w.now, w.arrivals.exponential()), w.next(), 0, 0, arrive}
}

// again plans the next call of a client of a closed load.
func (w *world) again(client int32) {
	l, ok := w.scenario.Load.(Closed)
	if !ok {
		return
	}
	at := w.now
	if l.Rate > 0 {
		at = max(at, later(w.previous[client], int64(nanoseconds(w.arrivals.exponential()/l.Rate*1e9))))
	} else {
		at = later(at, l.Think.draw(&w.arrivals))
	}
	w.previous[client] = at
	if at < w.length {
		w.bound++
		w.plan(at, begin, client, 0)
	}
}

// begin lets a client call.
func (w *world) begin(client int32) {
	if w.rate == nil {
		w.bound--
	}
	var deadline time.Time
	if w.scenario.Deadline > 0 {
		deadline = clock(later(w.now, int64(w.scenario.Deadline)))
	}
	w.numbered++
	id := w.place(client, -1, 0, w.numbered, deadline)
	c := w.calls[id]
	w.open++
	w.countCall()
	if !deadline.IsZero() {
		w.deadline.push(event{later(w.now, int64(w.scenario.Deadline)), w.next(), id, c.serial, late})
	}
	w.act(id, c.flow.Next(w.ctx, clock(w.now)))
}

// place begins a Flow, in a free place if there is one.
func (w *world) place(client, parent int32, layer int8, number uint64, deadline time.Time) int32 {
	if len(w.free) == 0 {
		const block = 128
		fresh := make([]call, block)
		for i := range fresh {
			c := &fresh[block-1-i]
			c.rand = func() float64 { return c.jitter.float() }
			w.free = append(w.free, int32(len(w.calls)+block-1-i))
		}
		for i := range fresh {
			w.calls = append(w.calls, &fresh[i])
		}
	}
	id := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	c := w.calls[id]
	c.draws.seed(w.seed, forCall, number)
	c.jitter.seed(w.seed, forJitter, number)
	c.began, c.client, c.parent, c.layer, c.tries, c.paused = w.now, client, parent, layer, 0, false
	c.step = int32(len(w.steps) - 1)
	c.gen++
	c.serial++
	c.flow = w.policy(client, layer).Begin(clock(w.now), deadline, c.rand)
	w.flows++
	return id
}

// act does what a Flow says.
func (w *world) act(id int32, step retry.Step) {
	c := w.calls[id]
	for step.Action == retry.Wait && step.Delay <= 0 {
		c.paused = true
		step = c.flow.Next(w.ctx, clock(w.now))
	}
	c.gen++
	c.paused = step.Action == retry.Wait
	switch step.Action {
	case retry.Go:
		w.send(id)
	case retry.Wait:
		w.waiting++
		w.total.Waited += float64(step.Delay)
		w.plan(later(w.now, int64(step.Delay)), resume, id, c.gen)
	default:
		w.over(id, step)
	}
}

// send starts an attempt.
func (w *world) send(id int32) {
	c := w.calls[id]
	var a int32
	if n := len(w.spare); n > 0 {
		a, w.spare = w.spare[n-1], w.spare[:n-1]
	} else {
		w.attempts = append(w.attempts, attempt{})
		a = int32(len(w.attempts) - 1)
	}
	w.under++
	c.tries++
	w.most = max(w.most, c.tries)
	out, back := w.scenario.Network.draw(&c.draws), w.scenario.Network.draw(&c.draws)
	w.attempts[a] = attempt{call: id, gen: c.gen, layer: c.layer, back: back, share: c.draws.float(), service: w.server.draw(w, &c.draws), told: -1}
	if int(c.layer) == w.layers {
		w.countAttempt()
	}
	if limit := w.patience[c.layer]; limit > 0 {
		w.timeouts[c.layer].push(event{later(w.now, limit), w.next(), id, c.gen, expire})
	}
	w.plan(later(w.now, out), request, a, 0)
}

// gone reports whether nobody waits for an attempt's answer any more.
func (w *world) gone(a int32) bool { return w.calls[w.attempts[a].call].gen != w.attempts[a].gen }

// answered brings an attempt's answer to its call.
func (w *world) answered(id int32) {
	a, gone := w.attempts[id], w.gone(id)
	w.drop(id)
	if a.served {
		w.countAnswer(gone || a.err != nil)
	}
	if gone {
		return
	}
	c := w.calls[a.call]
	o := throttle.Outcome{Err: a.err}
	if a.err != nil {
		o.Class = throttle.Transient
		if a.err == ErrThrottled {
			o.Class = throttle.Throttled
			if a.told >= 0 {
				o.Signal = throttle.Signal{HasDelay: true, Delay: time.Duration(a.told), Source: "retry-after"}
			}
		}
	}
	w.act(a.call, c.flow.Report(w.ctx, clock(w.now), o))
}

// drop forgets an attempt.
func (w *world) drop(id int32) {
	w.under--
	w.spare = append(w.spare, id)
}

// expired is the context of calls whose deadline has passed.
var expired = func() context.Context {
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	cancel()
	return ctx
}()

// overdue ends a call whose deadline passes.
func (w *world) overdue(id int32) {
	c := w.calls[id]
	if c.paused {
		w.waiting--
		w.act(id, c.flow.Abort(expired, clock(w.now), throttle.Canceled))
		return
	}
	w.act(id, c.flow.Report(expired, clock(w.now), throttle.Outcome{Err: context.DeadlineExceeded}))
}

// over ends a call.
func (w *world) over(id int32, step retry.Step) {
	c := w.calls[id]
	c.serial++
	w.flows--
	w.free = append(w.free, id)
	if c.layer > 0 {
		w.respond(c.parent, step.Err)
		return
	}
	w.open--
	w.countEnd(c, step)
	w.again(c.client)
}

// finish ends what is still under way, as unfinished.
func (w *world) finish() {
	for id, c := range w.calls {
		if c.serial%2 == 0 { // its place is free
			continue
		}
		c.serial++
		w.flows--
		c.flow.Abort(w.ctx, clock(w.now), throttle.Canceled)
		if c.layer == 0 {
			w.open--
			w.total.endings[unfinished]++
		}
		w.free = append(w.free, int32(id))
	}
	w.close(math.MaxInt64)
}
