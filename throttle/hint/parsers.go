package hint

import (
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// Parsers returns the Parser that asks each of list in turn. The first wait that one of them finds counts, with its
// source and rule; a No to trying again wins over a Yes; the quotas are those of all, except that one whose name an
// earlier parser gave already is left out. Without parsers it finds nothing. A nil one is passed over; Validate returns a
// *ConfigError for it, and whatever is wrong with the others. Safe for concurrent use if they are.
func Parsers(list ...Parser) Parser { return append(parsers(nil), list...) }

type parsers []Parser

func (list parsers) Parse(h http.Header, status int, now time.Time) (throttle.Signal, bool) {
	var all throttle.Signal
	found := false
	for _, p := range list {
		if p == nil {
			continue
		}
		s, ok := p.Parse(h, status, now)
		if !ok {
			continue
		}
		if !found {
			all, found = s, true
			continue
		}
		if s.HasDelay && !all.HasDelay {
			all.Delay, all.HasDelay, all.Rule, all.RestartCurve, all.Source = s.Delay, true, s.Rule, s.RestartCurve, s.Source
		}
		all.Retry = max(all.Retry, s.Retry)
		all.Quotas = join(all.Quotas, s.Quotas)
	}
	return all, found
}

// join appends those of more whose names are new. It never writes into a's array, which may be somebody's.
func join(a, more []throttle.Quota) []throttle.Quota {
	had := a[:len(a):len(a)]
	a = had
	for _, q := range more {
		known := false
		for i := range had {
			known = known || had[i].Name == q.Name
		}
		if !known {
			a = append(a, q)
		}
	}
	return a
}

func (list parsers) Validate() error {
	for _, p := range list {
		if p == nil {
			return &throttle.ConfigError{Field: "Parsers", Value: nil, Problem: "must not hold nil"}
		}
		if v, ok := p.(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}
