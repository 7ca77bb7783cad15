package throttle

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// Carrier is an error that knows everything the server said about trying again. ok false: it said nothing.
type Carrier interface {
	ThrottleSignal() (s Signal, ok bool)
}

// Sources of the signals that FromError makes of plain methods. They are written as methods, so that they cannot be
// taken for header fields.
const (
	sourceRetryAfter    = "RetryAfter()"
	sourceGetRetryAfter = "GetRetryAfter()"
)

// FromError returns what err, or an error below it, says about trying again; ok false: nothing. The tree is walked
// depth first, through both forms of Unwrap, and the first hit wins. Each error is asked once, by the first of these
// methods that it has:
//
//   - ThrottleSignal() (Signal, bool), the method of Carrier; false is no hit
//   - RetryAfter() time.Duration; a negative one is no hit, 0 says "at once"
//   - GetRetryAfter() *int64, in milliseconds; nil or negative is no hit, too much for a Duration is its largest
//
// The Source of the latter two is the method's name, "RetryAfter()" or "GetRetryAfter()". Nil pointers in the tree are
// passed over, and nothing below an error that has the method OpaqueRetry() is asked: what an inner call was told must
// not steer an outer one. FromError does not allocate, whatever the answer. Safe for concurrent use.
func FromError(err error) (s Signal, ok bool) {
	errtree.Walk(err, func(e error) bool {
		switch x := e.(type) {
		case Carrier:
			s, ok = x.ThrottleSignal()
		case interface{ RetryAfter() time.Duration }:
			if d := x.RetryAfter(); d >= 0 {
				s, ok = Signal{Delay: d, HasDelay: true, Source: sourceRetryAfter}, true
			}
		case interface{ GetRetryAfter() *int64 }:
			if ms := x.GetRetryAfter(); ms != nil && *ms >= 0 {
				s, ok = Signal{Delay: saturate.Times(*ms, time.Millisecond), HasDelay: true, Source: sourceGetRetryAfter}, true
			}
		}
		return !ok
	})
	if !ok {
		return Signal{}, false
	}
	return s, true
}
