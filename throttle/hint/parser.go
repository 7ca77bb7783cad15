package hint

import (
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// Parser reads what a response says about trying again. Parse must be safe for concurrent use, answer the same for the
// same arguments, and must not change the header. h may be nil; trailers are read like a header. status is the
// response's; for gRPC's trailers, the code. now is when the response came in: times of day are measured against the
// response's Date if it has a valid one, else against now. ok false: it said nothing.
//
// The parsers of this package read a response of any status, successes too: what it means there is up to the caller.
// They look at headers only, and never at more of them than this, so that a hostile one costs little: of a field the
// first 32 lines, 4096 bytes together; a number or date of up to 64 bytes; a list of up to 64 items. Names may be in any
// case, as net/http stores them or not; of two that differ in case only, the canonical one counts. In a header of more than
// 256 names, the canonical names of the fields that are known by their whole name are looked up, and others not found.
type Parser interface {
	Parse(h http.Header, status int, now time.Time) (s throttle.Signal, ok bool)
}

// ParserFunc is a function that is a Parser. A nil ParserFunc finds nothing.
type ParserFunc func(h http.Header, status int, now time.Time) (throttle.Signal, bool)

// Parse calls f.
func (f ParserFunc) Parse(h http.Header, status int, now time.Time) (throttle.Signal, bool) {
	if f == nil {
		return throttle.Signal{}, false
	}
	return f(h, status, now)
}
