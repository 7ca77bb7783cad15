package strategy

import "time"

// Constant waits the same after every failure.
//
//	Delay
//
// The zero value retries at once. State.Limit caps the wait. A negative Delay is invalid; Next reads it as 0.
//
// It is safe for concurrent use.
type Constant struct {
	// Delay is the wait. 0: none.
	Delay time.Duration
}

// Next returns Delay. It draws nothing, and ok is always true.
func (c Constant) Next(s State) (delay time.Duration, ok bool) {
	return s.within(c.Delay), true
}

// Validate returns a *ConfigError for a negative Delay.
func (c Constant) Validate() error { return check(c.table()) }

// String returns the text that Parse reads, such as "constant(delay=1s)".
func (c Constant) String() string { return format(c.table()) }

func (c *Constant) table() (kind string, fields []field) {
	return "Constant", []field{{"Delay", &c.Delay}}
}
