package retrysim

import (
	"context"
	"math"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// epoch is when every simulation begins.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func clock(at int64) time.Time { return epoch.Add(time.Duration(at)) }

// world is one trial of one contender: one loop that goes from event to event. It is single-threaded.
type world struct {
	scenario *Scenario
	ctx      context.Context // of the calls
	seed     uint64
	length   int64
	end      int64 // when the draining is over

	policies []*retry.Policy // of the clients; one if they share it
	inner    []*retry.Policy // of the services of Layers, from layer 1
	budgets  []throttle.Budget

	now      int64
	turn     uint64
	agenda   agenda
	patience []int64 // how long an attempt may take, by layer; 0: for ever
	timeouts []lane
	deadline lane
	arrivals stream
	rate     *Rate // of an open load
	arrival  event // the next call of an open load; at MaxInt64: none
	bound    int   // clients that are to begin a call by themselves
	most     int32 // attempts of a call
	numbered uint64
	previous []int64 // beginning of each client's last call, of a closed load
	trouble  trouble

	calls    []*call
	free     []int32
	open     int // calls of clients under way
	flows    int // of all layers
	waiting  int // flows between two attempts
	attempts []attempt
	spare    []int32
	under    int // attempts under way, of all layers

	server station
	layers int

	tally
	enough int // stop when that many steps in a row have gone well after the faults; 0: never
}

// newWorld readies a trial. The scenario has been validated.
func newWorld(s *Scenario, c *Contender, seed uint64) *world {
	w := &world{scenario: s, ctx: context.Background(), seed: seed, length: int64(s.Length), end: math.MaxInt64}
	if s.Drain > 0 {
		w.end = later(w.length, int64(s.Drain))
	}
	w.patience = []int64{int64(s.Timeout)}
	if c.Timeout > 0 {
		w.patience[0] = int64(c.Timeout)
	}
	if l, ok := s.Server.(Layers); ok {
		for range l.Between {
			w.patience = append(w.patience, int64(l.Timeout))
		}
	}
	w.arrivals = newStream(seed, forArrivals, 0)
	w.arrival.at = math.MaxInt64
	w.server = w.station(s.Server)
	w.tally.ready(s)
	w.admit(c)
	w.timeouts = make([]lane, w.layers+1)
	w.trouble = troubleAt(s.Faults, 0)
	for _, f := range s.Faults {
		w.plan(int64(f.From), boundary, 0, 0)
		w.plan(int64(f.To), boundary, 0, 0)
	}
	return w
}

// admit asks for the policies.
func (w *world) admit(c *Contender) {
	client := func(purpose uint64, index int) Client {
		s := newStream(w.seed, purpose, uint64(index))
		return Client{Index: index, Rand: func() float64 { return s.float() }, watch: func(b throttle.Budget) { w.budgets = append(w.budgets, b) }}
	}
	n := w.scenario.clients()
	if c.Shared {
		n = 1
	}
	for i := range n {
		w.policies = append(w.policies, c.policy(client(forClient, i)))
	}
	for i := range w.layers {
		w.inner = append(w.inner, c.inner(client(forLayer, i)))
	}
}

// policy returns the policy of a client, or of the service of a layer.
func (w *world) policy(client int32, layer int8) *retry.Policy {
	switch {
	case layer > 0:
		return w.inner[layer-1]
	case len(w.policies) == 1:
		return w.policies[0]
	}
	return w.policies[client]
}

func (w *world) next() uint64 {
	w.turn++
	return w.turn
}

func (w *world) plan(at int64, k kind, id int32, gen uint32) {
	w.agenda.push(event{at, w.next(), id, gen, k})
}

// The events that are not in the agenda.
const (
	arrive kind = iota + 100
	expire      // an attempt's Timeout is over
	late        // a call's Deadline is over
)

// run simulates to the end. It returns the reason if there is none, or if ctx ends.
func (w *world) run(ctx context.Context) error {
	w.launch()
	still := 0 // events in a row at the same time
	for events := 1; ; events++ {
		if w.arrival.at >= w.length && w.open == 0 && w.under == 0 && w.bound == 0 {
			break
		}
		e, ok := w.take()
		if !ok || e.at > w.end {
			break
		}
		if e.at >= w.boundary {
			if w.close(e.at); w.enough > 0 && w.streak >= w.enough {
				break
			}
		}
		if still++; e.at != w.now {
			still = 0
		}
		w.now = e.at
		if problem := w.endless(still); problem != "" {
			return &ConfigError{"Scenario", w.scenario.Name, "does not end: " + problem}
		}
		if events%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.happen(e)
	}
	w.finish()
	return nil
}

// endless returns why the simulation would go on for ever, or for so long that it comes to the same.
func (w *world) endless(still int) string {
	switch {
	case still > 10_000_000:
		return "time stands still: neither network nor waits nor server take any"
	case w.total.Calls > maxCalls:
		return "more than 100 million calls"
	case w.most > maxTries:
		return "one call made 100000 attempts"
	}
	return ""
}

const maxTries = 100_000

// take removes the earliest event.
func (w *world) take() (e event, ok bool) {
	e.at, e.turn = math.MaxInt64, math.MaxUint64
	var from *lane
	if len(w.agenda) > 0 {
		e, ok = w.agenda[0], true
	}
	heap := ok
	if w.arrival.at < w.length && w.arrival.before(&e) {
		e, ok, heap = w.arrival, true, false
	}
	if c := w.deadline.first(); c != nil && c.before(&e) {
		e, ok, heap, from = *c, true, false, &w.deadline
	}
	for i := range w.timeouts {
		c := w.timeouts[i].first()
		for c != nil && w.calls[c.id].gen != c.gen { // the answer was there first
			w.timeouts[i].pop()
			c = w.timeouts[i].first()
		}
		if c != nil && c.before(&e) {
			e, ok, heap, from = *c, true, false, &w.timeouts[i]
		}
	}
	switch {
	case heap:
		w.agenda.pop()
	case from != nil:
		from.pop()
	}
	return e, ok
}

// happen lets one event happen.
func (w *world) happen(e event) {
	switch e.kind {
	case arrive:
		w.arrive()
		w.begin(int32(w.arrivals.below(w.scenario.clients())))
	case begin:
		w.begin(e.id)
	case request:
		w.reach(e.id)
	case finish:
		w.server.finish(w, e.id)
	case answer:
		w.answered(e.id)
	case expire:
		w.act(e.id, w.calls[e.id].flow.Report(w.ctx, clock(w.now), throttle.Outcome{Err: ErrTimeout, Class: throttle.Timeout}))
	case resume:
		if c := w.calls[e.id]; c.gen == e.gen {
			w.waiting--
			w.act(e.id, c.flow.Next(w.ctx, clock(w.now)))
		}
	case late:
		if c := w.calls[e.id]; c.serial == e.gen {
			w.overdue(e.id)
		}
	case boundary:
		w.trouble = troubleAt(w.scenario.Faults, w.now)
		w.server.wake(w)
	}
}
