package retrysim

import "math"

// kind is what happens at an event.
type kind uint8

const (
	begin    kind = iota // a client's next call begins
	request              // an attempt reaches the server
	finish               // the server is done with one
	answer               // the client gets the answer
	resume               // a wait is over
	boundary             // a fault begins or ends
)

// event is something that will happen. Of two at the same time, the one that was planned first happens first.
type event struct {
	at   int64
	turn uint64
	id   int32  // of a call, an attempt or a client
	gen  uint32 // of a call: if it has gone on since, the event is void
	kind kind
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.turn < o.turn }

// agenda is a heap of events in which each has four below it: flatter than with two, and quicker for it.
type agenda []event

func (a *agenda) push(e event) {
	*a = append(*a, e)
	s, i := *a, len(*a)-1
	for i > 0 {
		above := (i - 1) / 4
		if !e.before(&s[above]) {
			break
		}
		s[i], i = s[above], above
	}
	s[i] = e
}

func (a *agenda) pop() event {
	s := *a
	first, e := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*a = s
	if len(s) == 0 {
		return first
	}
	i := 0
	for {
		least := 4*i + 1
		if least >= len(s) {
			break
		}
		for k := least + 1; k < min(4*i+5, len(s)); k++ {
			if s[k].before(&s[least]) {
				least = k
			}
		}
		if !s[least].before(&e) {
			break
		}
		s[i], i = s[least], least
	}
	s[i] = e
	return first
}

// lane is a queue of events that are planned in the order in which they happen, such as time-outs that are all equally long. Most of
// those never happen, and a queue forgets them at less cost than a heap.
type lane struct {
	events []event
	head   int
}

func (l *lane) push(e event) { l.events = append(l.events, e) }

func (l *lane) first() *event {
	if l.head == len(l.events) {
		return nil
	}
	return &l.events[l.head]
}

func (l *lane) pop() {
	l.head++
	if l.head == len(l.events) {
		l.events, l.head = l.events[:0], 0
	} else if l.head >= 1024 && 2*l.head >= len(l.events) {
		l.events, l.head = l.events[:copy(l.events, l.events[l.head:])], 0
	}
}

// later is at+d, or the end of time.
func later(at, d int64) int64 {
	if d > math.MaxInt64-at {
		return math.MaxInt64
	}
	return at + d
}
