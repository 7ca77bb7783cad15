package retrysim

import (
	"math"
	"time"
)

// Server is a model of what is called: Queue, Slope, Row, Chance, Quota or Layers.
type Server interface {
	// Validate returns a *ConfigError for a field that cannot be used.
	Validate() error
	server()
}

// Queue serves requests with a number of workers. Those that find no worker idle wait in line. A request whose client has given
// up is served like any other, which is how most servers are, and what keeps them down.
type Queue struct {
	// Workers is how many requests are served at the same time.
	Workers int
	// Service is how long a worker takes for one.
	Service Dist
	// Limit is how many requests may wait; one more is rejected at once. 0: no limit.
	Limit int
	// LIFO serves the youngest request first. False: the oldest.
	LIFO bool
	// DropExpired throws a request away, unserved, if its client has given up by the time that a worker takes it.
	DropExpired bool
}

// Slope serves every request at once, the slower the more there are: Base + PerInFlight·n, n being the requests in the server
// when it arrives, this one included.
type Slope struct {
	Base, PerInFlight time.Duration
}

// Row is one row of a database under optimistic concurrency control. An attempt reads the row with its version, and writes it
// with that version; the write fails if another one came between. It takes four trips over the network.
type Row struct{}

// Chance answers at once, and fails with the probability P, whatever the load. Where P is to change over time, add Faults.
type Chance struct{ P float64 }

// Quota stands in front of a server, and rejects with class throttle.Throttled what is above its rate.
type Quota struct {
	Server Server
	// Rate is how many requests are let through in a second, Burst how many at once after a quiet time (0: 1).
	Rate  float64
	Burst int
	// RetryAfter says what a rejection tells the client.
	RetryAfter RetryAfter
}

// RetryAfter is what the rejection of a Quota says about trying again.
type RetryAfter uint8

const (
	// TellNothing sends no header.
	TellNothing RetryAfter = iota
	// TellSeconds sends a Retry-After: the time until the next request would be let through, in whole seconds, rounded up.
	TellSeconds
	// TellWrong sends a Retry-After of half that time: whoever obeys it comes too early.
	TellWrong
)

// Layers is a row of services: each calls the next with retries of its own, and the last calls Server. They do nothing else, and
// take no time for it. Calls from layer to layer have the policy that the contender says (Contender.Inner).
type Layers struct {
	// Between is how many services there are before Server: with 2, a request may be repeated at three places.
	Between int
	Server  Server
	// Timeout is that of an attempt from layer to layer. 0: none.
	Timeout time.Duration
}

func (Queue) server()  {}
func (Slope) server()  {}
func (Row) server()    {}
func (Chance) server() {}
func (Quota) server()  {}
func (Layers) server() {}

// Validate returns a *ConfigError for Workers that are not from 1 to a million, a negative Limit, and a Service that cannot be used.
func (q Queue) Validate() error {
	switch {
	case q.Workers < 1 || q.Workers > 1e6:
		return &ConfigError{"Queue.Workers", q.Workers, "must be from 1 to a million"}
	case q.Limit < 0:
		return &ConfigError{"Queue.Limit", q.Limit, notNegative}
	}
	return wrapped("Queue.Service", q.Service.Validate())
}

// Capacity returns how many requests the workers serve in a second. +Inf if they take no time.
func (q Queue) Capacity() float64 {
	mean := q.Service.Mean().Seconds()
	if mean <= 0 {
		return math.Inf(1)
	}
	return float64(q.Workers) / mean
}

// Validate returns a *ConfigError for a negative field.
func (s Slope) Validate() error {
	return checkDurations(named{"Slope.Base", s.Base}, named{"Slope.PerInFlight", s.PerInFlight})
}

// Validate returns nil: there is nothing to set.
func (Row) Validate() error { return nil }

// Validate returns a *ConfigError if P is not from 0 to 1.
func (c Chance) Validate() error {
	if !(c.P >= 0 && c.P <= 1) {
		return &ConfigError{"Chance.P", c.P, "must be from 0 to 1"}
	}
	return nil
}

// Validate returns a *ConfigError for a Rate that is not above 0 and finite, a negative Burst, an unknown RetryAfter, and a Server
// that is nil, or itself a Quota or Layers.
func (q Quota) Validate() error {
	switch {
	case !(q.Rate > 0 && q.Rate <= maxRate):
		return &ConfigError{"Quota.Rate", q.Rate, "must be above 0 and at most 10 million"}
	case q.Burst < 0:
		return &ConfigError{"Quota.Burst", q.Burst, notNegative}
	case q.RetryAfter > TellWrong:
		return &ConfigError{"Quota.RetryAfter", q.RetryAfter, "must be TellNothing, TellSeconds or TellWrong"}
	}
	switch q.Server.(type) {
	case nil, Quota, Layers:
		return &ConfigError{"Quota.Server", q.Server, "must be a Queue, Slope, Row or Chance"}
	}
	return wrapped("Quota.Server", q.Server.Validate())
}

// Validate returns a *ConfigError for Between that is not from 1 to 8, a negative Timeout, and a Server that is nil or itself Layers.
func (l Layers) Validate() error {
	switch {
	case l.Between < 1 || l.Between > 8:
		return &ConfigError{"Layers.Between", l.Between, "must be from 1 to 8"}
	case l.Timeout < 0:
		return &ConfigError{"Layers.Timeout", l.Timeout, notNegative}
	}
	switch l.Server.(type) {
	case nil, Layers:
		return &ConfigError{"Layers.Server", l.Server, "must be a Queue, Slope, Row, Chance or Quota"}
	}
	return wrapped("Layers.Server", l.Server.Validate())
}

// innermost returns the server that does the work.
func innermost(s Server) Server {
	for {
		switch outer := s.(type) {
		case Quota:
			s = outer.Server
		case Layers:
			s = outer.Server
		default:
			return s
		}
	}
}
