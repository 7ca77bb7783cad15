package retrysim

import "time"

// Load says when calls begin: Open, Closed or Burst.
type Load interface {
	// Validate returns a *ConfigError for a field that cannot be used.
	Validate() error
	load()
}

// Open is load that does not heed how the server fares, such as that of many users who do not know of each other: a Poisson
// process of Rate, each call made by a client drawn evenly. It is the kind to begin with: a closed loop hides overload, because
// a client that waits for its answer asks for nothing else.
type Open struct {
	// Rate is how many calls begin in a second, all clients together.
	Rate Rate
}

// Closed is load from clients that make one call after the other, such as batch workers.
type Closed struct {
	// Rate is how often in a second each client would call if answers came at once: a call begins an exponentially distributed
	// time after the one before began, or when that one ends if it ends later. 0: after Think.
	Rate float64
	// Think is how long each client rests after a call. It counts where Rate is 0.
	Think Dist
}

// Burst is one call of every client at the same time.
type Burst struct {
	// At is when.
	At time.Duration
}

func (Open) load()   {}
func (Closed) load() {}
func (Burst) load()  {}

// Validate returns a *ConfigError for a Rate that cannot be used.
func (l Open) Validate() error { return wrapped("Rate", l.Rate.Validate()) }

// Validate returns a *ConfigError for a Rate that is not a finite number from 0 to 10 million, and a Think that cannot be used.
func (l Closed) Validate() error {
	if !(l.Rate >= 0 && l.Rate <= maxRate) {
		return &ConfigError{"Rate", l.Rate, "must be a number from 0 to 10 million"}
	}
	return wrapped("Think", l.Think.Validate())
}

// Validate returns a *ConfigError if At is negative.
func (l Burst) Validate() error { return checkDurations(named{"At", l.At}) }

func wrapped(field string, err error) error {
	if err == nil {
		return nil
	}
	return within(field, err)
}
