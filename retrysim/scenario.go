package retrysim

import (
	"fmt"
	"time"
)

// Scenario is what happens, whoever retries how: clients that call, a server, and what goes wrong.
type Scenario struct {
	// Name is for the reader.
	Name string
	// Length is how long calls begin: in [0, Length). What is under way then is drained.
	Length time.Duration
	// Drain is for how long: what has not ended by then is called off, and counts as unfinished. 0: until nothing is left.
	Drain time.Duration
	// Step is the length of a step of the series. 0: 1 s.
	Step time.Duration
	// Clients is how many there are. 0: 1.
	Clients int
	// Load says when they call.
	Load Load
	// Timeout is how long a client waits for the answer to an attempt. The server does not learn that nobody waits any more.
	// 0: for ever.
	Timeout time.Duration
	// Deadline is how long a call may take. 0: for ever.
	Deadline time.Duration
	// Network is how long a message takes, each way.
	Network Dist
	Server  Server
	Faults  []Fault
}

// Limits on what is asked for, so that a slip of the pen does not take a machine's memory.
const (
	maxSteps    = 100_000
	maxClients  = 1_000_000
	maxCalls    = 100_000_000
	maxLength   = 30 * 365 * 24 * time.Hour
	defaultStep = time.Second
)

// Validate returns a *ConfigError for the first thing that cannot be used. Whether calls end depends on their policy: Run looks at
// that before anything is simulated.
func (s Scenario) Validate() error {
	if err := checkDurations(named{"Drain", s.Drain}, named{"Step", s.Step}, named{"Timeout", s.Timeout}, named{"Deadline", s.Deadline}); err != nil {
		return err
	}
	switch {
	case s.Length <= 0 || s.Length > maxLength:
		return &ConfigError{"Length", s.Length, "must be above 0 and at most 30 years"}
	case s.Length/s.step() >= maxSteps:
		return &ConfigError{"Step", s.step(), fmt.Sprintf("must not make more than %d steps", maxSteps)}
	case s.Clients < 0 || s.Clients > maxClients:
		return &ConfigError{"Clients", s.Clients, "must be at most a million"}
	case s.Load == nil:
		return &ConfigError{"Load", nil, "must be Open, Closed or Burst"}
	case s.Server == nil:
		return &ConfigError{"Server", nil, "must be Queue, Slope, Row, Chance, Quota or Layers"}
	}
	if err := wrapped("Load", s.Load.Validate()); err != nil {
		return err
	}
	if b, ok := s.Load.(Burst); ok && b.At >= s.Length {
		return &ConfigError{"Load.At", b.At, "must be before Length"}
	}
	if err := wrapped("Network", s.Network.Validate()); err != nil {
		return err
	}
	if err := wrapped("Server", s.Server.Validate()); err != nil {
		return err
	}
	if n := s.calls(); n > maxCalls {
		return &ConfigError{"Load", fmt.Sprintf("%.3g calls", n), "must not make more than 100 million calls"}
	}
	for i, f := range s.Faults {
		if err := wrapped(fmt.Sprintf("Faults[%d]", i), s.suits(f)); err != nil {
			return err
		}
	}
	return nil
}

// suits reports what is wrong with a fault for this scenario.
func (s Scenario) suits(f Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
	server := innermost(s.Server)
	_, queue := server.(Queue)
	_, slope := server.(Slope)
	switch {
	case f.Capacity != 0 && !queue:
		return &ConfigError{"Capacity", f.Capacity, "is the share of a Queue's workers: this server has none"}
	case f.Latency != 0 && !queue && !slope:
		return &ConfigError{"Latency", f.Latency, "lengthens the work at a Queue or a Slope: this server takes no time"}
	case f.Blackhole && s.Timeout == 0 && s.Deadline == 0:
		return &ConfigError{"Blackhole", true, "needs a Timeout or a Deadline: a call whose answer vanishes would never end"}
	}
	return nil
}

func (s Scenario) step() time.Duration {
	if s.Step <= 0 {
		return defaultStep
	}
	return s.Step
}

func (s Scenario) clients() int { return max(s.Clients, 1) }

// calls returns how many calls are to be expected, as far as that can be told.
func (s Scenario) calls() float64 {
	switch l := s.Load.(type) {
	case Open:
		return l.Rate.mean(int64(s.Length))
	case Closed:
		return l.Rate * float64(s.clients()) * s.Length.Seconds()
	}
	return float64(s.clients())
}

// faultsEnd is when the last fault ends.
func (s Scenario) faultsEnd() (end time.Duration) {
	for _, f := range s.Faults {
		end = max(end, f.To)
	}
	return end
}
