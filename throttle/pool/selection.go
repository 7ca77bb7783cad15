package pool

import (
	"github.com/seed-89b3229b/retry/internal/quote"
	"github.com/seed-89b3229b/retry/throttle"
)

// Selection says which of a Pool's free keys is taken.
type Selection uint8

const (
	// RoundRobin takes the keys in turn, from the one after the last that was taken. Keys that cool down keep their place. It is
	// the zero value.
	RoundRobin Selection = iota
	// Random takes any of them, each as likely as the others.
	Random
	// LeastRecentlyUsed takes the one whose last use is the longest ago; those never used come first, in their order.
	LeastRecentlyUsed
)

var selectionNames = [...]string{"round-robin", "random", "least-recently-used"}

// String returns the selection's name, such as "least-recently-used".
func (s Selection) String() string {
	if int(s) < len(selectionNames) {
		return selectionNames[s]
	}
	return "invalid"
}

// MarshalText returns the name; a *ConfigError if there is none.
func (s Selection) MarshalText() ([]byte, error) {
	if int(s) >= len(selectionNames) {
		return nil, &throttle.ConfigError{Field: "Selection", Value: uint8(s), Problem: noSuchSelection}
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads a name; a *ConfigError if it is none, and then s stays as it was.
func (s *Selection) UnmarshalText(text []byte) error {
	for i, name := range selectionNames {
		if string(text) == name {
			*s = Selection(i)
			return nil
		}
	}
	return &throttle.ConfigError{Field: "Selection", Value: quote.Quote(string(text)), Problem: noSuchSelection}
}

const noSuchSelection = "must be round-robin, random or least-recently-used"
