package scenario

import (
	"fmt"
	"strings"

	"golang.org/x/time/rate"

	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// parseThrottle reads a throttle from text, in the manner of strategy.Parse:
//
//	adaptive(k=2, window=10s, pending=100)
//	gate(maxcooldown=15m, spread=1s, replace=true)
//	pace(strategy=limd(min=1s))
//	limit(rate=100/s, burst=10)
//
// Random numbers are the client's.
func parseThrottle(s string, c retrysim.Client) (throttle.Throttle, error) {
	name, body, opened := strings.Cut(s, "(")
	body, closed := strings.CutSuffix(body, ")")
	if opened != closed {
		return nil, fmt.Errorf("%q: must end with a closing parenthesis", s)
	}
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "adaptive":
		t := &throttle.Adaptive{Rand: c.Rand}
		err := fields(name, body, map[string]field{"k": set(&t.K, number), "window": set(&t.Window, duration), "pending": set(&t.Pending, whole)})
		return checked(t, err)
	case "gate":
		g := &throttle.Gate{Rand: c.Rand}
		err := fields(name, body, map[string]field{
			"maxcooldown": set(&g.MaxCooldown, duration), "spread": set(&g.Spread, duration), "replace": set(&g.Replace, yes),
		})
		return checked(g.For("server"), err)
	case "pace":
		p := &strategy.Pacer{Rand: c.Rand}
		err := fields(name, body, map[string]field{"strategy": set(&p.Strategy, strategy.Parse)})
		return checked(throttle.Pace(p), err)
	case "limit":
		var perSec float64
		burst := 1
		err := fields(name, body, map[string]field{"rate": set(&perSec, perSecond), "burst": set(&burst, whole)})
		if err == nil && (!(perSec > 0) || burst < 1) {
			err = fmt.Errorf("limit: needs a rate above 0, such as limit(rate=100/s), and a burst of 1 at least")
		}
		return checked(throttle.Reserve(rate.NewLimiter(rate.Limit(perSec), burst).ReserveN), err)
	}
	return nil, fmt.Errorf("unknown throttle %q; known are adaptive, gate, pace, limit", name)
}

func checked(t throttle.Throttle, err error) (throttle.Throttle, error) {
	if v, ok := t.(interface{ Validate() error }); ok && err == nil {
		err = v.Validate()
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// field sets a field from its text.
type field func(string) error

func set[T any](to *T, parse func(string) (T, error)) field {
	return func(s string) (err error) {
		*to, err = parse(s)
		return err
	}
}

// fields reads a list of name=value.
func fields(kind, body string, known map[string]field) error {
	if strings.TrimSpace(body) == "" {
		return nil
	}
	parts, _ := expressions(body)
	readers := map[string]reader{}
	for name := range known {
		readers[name] = nil
	}
	for _, part := range parts {
		name, value, found := strings.Cut(part, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		set, ok := known[name]
		switch {
		case !ok:
			return fmt.Errorf("%s: unknown field %q; known are %s", kind, name, keys(readers))
		case set == nil:
			return fmt.Errorf("%s: %s must not be given twice", kind, name)
		case !found:
			return fmt.Errorf("%s: %s must be of the form field=value", kind, name)
		}
		known[name] = nil
		if err := set(strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("%s: %s: %w", kind, name, err)
		}
	}
	return nil
}
