package hint

import (
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// ParseRetryAfter reads the lines of a Retry-After field: seconds, with or without a fraction, or a date in any of HTTP's
// three forms (RFC 9110, sections 10.2.3 and 5.6.7). ok false: none of them is valid. Signs, exponents, units and lists
// are not; a date in the past is 0, and so is "0", which differs from saying nothing. Of several the longest counts. The
// wait is rounded up to whole milliseconds, never negative, and at most the largest Duration.
//
// date is what the response's Date says, and dates are measured against it, so that the two clocks need not agree; if it
// is the zero Time, against now. Of values the first 32 are read, 4096 bytes together. Safe for concurrent use.
func ParseRetryAfter(values []string, date, now time.Time) (time.Duration, bool) {
	t := times{date: date, now: now, asked: true}
	d, ok := secondsOrDate.longest(within(values), &t)
	return up(d, time.Millisecond), ok
}

// toldFields are the fields that name the wait itself, finest first.
var toldFields = [...]struct {
	field field
	unit  Unit
	rule  throttle.Rule
}{
	{retryAfterMS, DeltaMillis, throttle.Rule{}},
	{azureRetryAfterMS, DeltaMillis, throttle.Rule{}},
	{awsRetryAfter, wholeMillis, throttle.Clamp(5 * time.Second)},
	{retryAfter, secondsOrDate, throttle.Rule{}},
	// Docker Hub once documented this one as seconds since 1970.
	{xRetryAfter, Auto, throttle.Rule{}},
}

// told takes the first of them that is valid.
func (m *message) told(a *answer) {
	for _, f := range toldFields {
		if d, ok := f.unit.longest(m.field(f.field), &m.times); ok {
			a.tell(wait{d, true, fieldNames[f.field], f.rule})
		}
	}
}
