package retry

import "github.com/seed-89b3229b/retry/throttle"

// tickets are what a call's throttles have given it for the coming or running attempt, in the throttles' order. Two need
// no allocation.
type tickets struct {
	inline   [2]throttle.Ticket
	more     []throttle.Ticket
	admitted int // throttles that said go
	given    int // tickets held out: admitted, or one more while a throttle lets the call wait
	returned int // tickets told how the attempt ended, while that is going on
}

func (t *tickets) at(i int) *throttle.Ticket {
	if i < len(t.inline) {
		return &t.inline[i]
	}
	return &t.more[i-len(t.inline)]
}

// current is the ticket that the next throttle gave when it was asked before; nil if it was not.
func (t *tickets) current() throttle.Ticket {
	if t.given > t.admitted {
		return *t.at(t.admitted)
	}
	return nil
}

func (t *tickets) keep(ticket throttle.Ticket, admitted bool) {
	if t.admitted == len(t.inline)+len(t.more) {
		t.more = append(t.more, nil)
	}
	*t.at(t.admitted) = ticket
	t.given = t.admitted + 1
	if admitted {
		t.admitted = t.given
	}
}

// take hands out the next ticket to return, in order; ok is false when all are returned.
func (t *tickets) take() (i int, ticket throttle.Ticket, ok bool) {
	if t.returned == t.given {
		t.admitted, t.given, t.returned = 0, 0, 0
		return 0, nil, false
	}
	i = t.returned
	t.returned++
	slot := t.at(i)
	ticket, *slot = *slot, nil
	return i, ticket, true
}
