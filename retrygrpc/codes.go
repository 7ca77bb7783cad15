package retrygrpc

import (
	"google.golang.org/grpc/codes"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

// Repeat says which calls that failed with a code are repeated, whatever else is known of the failure. A server that forbids
// a retry is obeyed all the same.
type Repeat uint8

const (
	// RepeatNever repeats none, even if the request never left the client. It is the zero value.
	RepeatNever Repeat = iota
	// RepeatIdempotent repeats calls of idempotent methods.
	RepeatIdempotent
	// RepeatAlways repeats calls of all methods: the server has done nothing when it answers so.
	RepeatAlways
)

// String returns the value's name in lower case.
func (r Repeat) String() string {
	switch r {
	case RepeatNever:
		return "never"
	case RepeatIdempotent:
		return "idempotent"
	case RepeatAlways:
		return "always"
	}
	return "invalid"
}

// codeCount is how many codes gRPC has, OK included.
const codeCount = codes.Unauthenticated + 1

// table is what the user has said about codes.
type table struct {
	set    [codeCount]bool
	repeat [codeCount]Repeat
}

// tableOf puts lists into one table; later ones win.
func tableOf(lists ...map[codes.Code]Repeat) (t table) {
	for _, list := range lists {
		for c, r := range list {
			t.set[c], t.repeat[c] = true, r
		}
	}
	return t
}

// of says which methods a failure is repeated for. own: the attempt had a deadline of its own, before the call's.
func (t *table) of(f *Failure, own bool) Repeat {
	c := f.code()
	if c < codeCount && t.set[c] {
		return t.repeat[c]
	}
	told := f.signal.HasDelay
	switch {
	case c == codes.Unavailable && (!f.Sent || told), c == codes.DeadlineExceeded && own && !f.Sent, c == codes.ResourceExhausted && told:
		return RepeatAlways
	case c == codes.Unavailable, c == codes.DeadlineExceeded && own:
		return RepeatIdempotent
	}
	return RepeatNever
}

// judge decides on an attempt that failed. own: the attempt had a deadline of its own, before the call's. last: there can be no other
// attempt, because what was sent so far is not kept, or the connection is closed.
//
// What is not safe to repeat is decided here, for good. The rest is left to the policy's conditions, and after them to the
// Failure's verdict.
func (m *method) judge(f *Failure, own, last bool) throttle.Outcome {
	f.told(m.parser)
	repeat := m.codes.of(f, own)
	f.verdict = condition.Stop
	if repeat == RepeatAlways || repeat == RepeatIdempotent && m.idempotent {
		f.verdict = condition.Retry
	}
	o := throttle.Outcome{Err: f, Signal: f.signal, Class: f.class()}
	if o.Class == throttle.Permanent && f.verdict == condition.Retry {
		o.Class = throttle.Transient // the user says that it may pass
	}
	switch {
	case f.signal.Retry == throttle.No: // the executor takes it from the signal, and charges the budget
	case last, f.Sent && !m.idempotent && repeat != RepeatAlways:
		o.Decided = throttle.No
	}
	return o
}

// class is what the failure means to those who limit attempts.
func (f *Failure) class() throttle.Class {
	c := f.code()
	switch {
	case f.signal.Retry == throttle.No:
		return throttle.Throttled
	case c == codes.Unavailable && f.Sent && f.signal.HasDelay, c == codes.ResourceExhausted:
		return throttle.Throttled
	case c == codes.DeadlineExceeded:
		return throttle.Timeout
	case c == codes.Canceled:
		return throttle.Canceled
	case c == codes.Unavailable, c == codes.Unknown, c == codes.Internal, c == codes.DataLoss:
		return throttle.Transient
	}
	return throttle.Permanent
}

// lastWord is the condition behind those of the policy.
type lastWord struct{}

func (lastWord) Check(err error) condition.Verdict {
	if f, ok := failureIn(err); ok {
		return f.verdict
	}
	return condition.Unknown
}
