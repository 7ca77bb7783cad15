package throttle

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Reservation is a place that a rate limiter keeps for somebody, such as a *rate.Reservation of golang.org/x/time/rate.
type Reservation interface {
	// OK reports whether there is one.
	OK() bool
	// DelayFrom returns how long after t it begins.
	DelayFrom(t time.Time) time.Duration
	// CancelAt gives it back at t.
	CancelAt(t time.Time)
}

// Reserve returns a Throttle for a rate limiter that keeps places, such as golang.org/x/time/rate's:
//
//	limiter := rate.NewLimiter(rate.Every(100*time.Millisecond), 1)
//	policy := retry.MustNew(retry.WithThrottle(throttle.Reserve(limiter.ReserveN)))
//
// Each attempt takes one place. The executor waits for it, on its own clock and within all of its limits: a place that comes too
// late is given back and the call ends at once, as it is if the call ends while it waits. With Limit, which is for limiters that
// only wait by themselves, it is not. If there is no place (of x/time/rate: the burst is 0), the attempt is refused with an *Error.
//
// Put it after throttles that only refuse. Safe for concurrent use if reserve is. Validate, which a policy calls, returns a
// *ConfigError for a nil reserve, which lets everything pass where it was not validated.
func Reserve[R Reservation](reserve func(now time.Time, n int) R) Throttle {
	return reserving[R]{reserve}
}

type reserving[R Reservation] struct {
	reserve func(now time.Time, n int) R
}

func (r reserving[R]) Validate() error {
	if r.reserve == nil {
		return &ConfigError{"Reserve", nil, "must not be nil"}
	}
	return nil
}

func (r reserving[R]) Admit(_ context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if r.reserve == nil {
		return ticket, 0, nil
	}
	if place, ok := ticket.(Reservation); ok {
		return ticket, place.DelayFrom(now), nil
	}
	place := r.reserve(now, 1)
	if errtree.IsNil(place) || !place.OK() {
		return nil, 0, &Error{Until: now, Source: "no reservation"}
	}
	return place, place.DelayFrom(now), nil
}

func (r reserving[R]) Done(_ context.Context, now time.Time, ticket Ticket, o Outcome) {
	if place, ok := ticket.(Reservation); ok && o.Class == Skipped {
		place.CancelAt(now)
	}
}
