package strategy

import (
	"math"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Validate returns a *ConfigError for the first field that cannot be used: a negative number, a factor that is NaN or
// infinite, a TimeoutShare above 1, what the Strategy's own Validate says; and for a nil pointer. MinDelay above MaxDelay is
// valid, and so is a TimeoutShare without MaxDuration.
func (p *Pacer) Validate() error {
	const kind = "Pacer"
	if p == nil {
		return nilPointer(kind)
	}
	fields := []field{
		{"DelayOnSuccess", &p.DelayOnSuccess}, {"MinDelay", &p.MinDelay}, {"MaxDelay", &p.MaxDelay},
		{"MaxDuration", &p.MaxDuration}, {"MinTimeout", &p.MinTimeout},
	}
	if !errtree.IsNil(p.Strategy) {
		fields = append(fields, field{"Strategy", &p.Strategy})
	}
	if err := check(kind, fields); err != nil {
		return err
	}
	if p.MaxAttempts < 0 {
		return &ConfigError{kind + ".MaxAttempts", p.MaxAttempts, "must not be negative (0: no limit)"}
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"JitterFactor", p.JitterFactor}, {"TimeoutJitter", p.TimeoutJitter}} {
		if !(f.value >= 0 && f.value <= math.MaxFloat64) {
			return &ConfigError{kind + "." + f.name, f.value, "must be a finite number, 0 or more (0: off)"}
		}
	}
	if !(p.TimeoutShare >= 0 && p.TimeoutShare <= 1) {
		return &ConfigError{kind + ".TimeoutShare", p.TimeoutShare, "must be from 0 to 1 (0: off)"}
	}
	return nil
}
