package strategy

import "time"

// Func is a function that is a Strategy. It must only look at the State and be safe for concurrent use. A nil Func is
// invalid; its Next answers not ok.
type Func func(s State) (delay time.Duration, ok bool)

// Next calls f and brings the delay into 0..State.Limit. Without ok the delay is 0.
func (f Func) Next(s State) (delay time.Duration, ok bool) {
	if f == nil {
		return 0, false
	}
	if delay, ok = f(s); !ok {
		return 0, false
	}
	return s.within(delay), true
}

// Validate returns a *ConfigError for a nil Func.
func (f Func) Validate() error {
	if f == nil {
		return &ConfigError{"Func", nil, "must not be nil"}
	}
	return nil
}

// String returns "func", which Parse does not read.
func (f Func) String() string { return "func" }
