package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// Policy is a policy as a scenario names it. It is made anew for each client or fleet, so that budgets, throttles and levels of
// strategies begin afresh.
type Policy struct {
	Name string
	// Client: each client has one of its own. False: all share one.
	Client bool

	config    retry.Config
	jitter    string
	hint      string
	maxHint   *time.Duration
	retryOn   []string
	budget    string
	throttles []string
	inner     *Policy
}

// readers are the keys of a policy.
func (p *Policy) readers() map[string]reader {
	attempts := func(s string) (a retry.Attempts, err error) {
		if err = a.UnmarshalText([]byte(s)); err == nil && a == 0 {
			err = errors.New("must not be empty")
		}
		return a, plain(err)
	}
	scope := func(s string) (bool, error) {
		if s != "client" && s != "fleet" {
			return false, fmt.Errorf("must be fleet or client, not %q", s)
		}
		return s == "client", nil
	}
	return map[string]reader{
		"name": into(&p.Name, text), "scope": into(&p.Client, scope),
		"attempts": into(&p.config.MaxAttempts, attempts), "max_attempts": into(&p.config.MaxAttempts, attempts),
		"base_delay": into(&p.config.BaseDelay, duration), "max_delay": into(&p.config.MaxDelay, duration),
		"max_elapsed": into(&p.config.MaxElapsed, duration), "attempt_timeout": into(&p.config.AttemptTimeout, duration),
		"strategy": into(&p.config.Strategy, text), "jitter": into(&p.jitter, text), "hint": into(&p.hint, text),
		"max_hint": into(&p.maxHint, func(s string) (*time.Duration, error) { d, err := duration(s); return &d, err }),
		"retry_on": listed(&p.retryOn, words), "budget": into(&p.budget, text), "throttle": listed(&p.throttles, expressions),
	}
}

func readPolicy(to *[]Policy) reader {
	return func(n *yaml.Node, path string) error {
		var p Policy
		readers := p.readers()
		readers["inner"] = func(n *yaml.Node, path string) error {
			p.inner = new(Policy)
			return readMapping(n, path, p.inner.readers())
		}
		if err := readMapping(n, path, readers); err != nil {
			return err
		}
		if err := p.check(); err != nil {
			return at(n, path, err)
		}
		*to = append(*to, p)
		return nil
	}
}

// ParsePolicy reads the form for a command line, NAME=KEY=VALUE;KEY=VALUE…, such as "x=strategy=constant;attempts=3;budget=token".
func ParsePolicy(s string) (p Policy, err error) {
	name, rest, found := strings.Cut(s, "=")
	if p.Name = strings.TrimSpace(name); !found || p.Name == "" {
		return p, fmt.Errorf("%q: must be of the form NAME=KEY=VALUE;KEY=VALUE", s)
	}
	readers := p.readers()
	delete(readers, "name")
	for part := range strings.SplitSeq(rest, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, found := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		read, known := readers[key]
		switch {
		case !known:
			return p, fmt.Errorf("policy %q: unknown key %q; known are %s", p.Name, key, keys(readers))
		case !found:
			return p, fmt.Errorf("policy %q: %s: must be of the form KEY=VALUE", p.Name, key)
		}
		if err := read(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(value)}, key); err != nil {
			return p, fmt.Errorf("policy %q: %s: %w", p.Name, key, cause(err))
		}
	}
	if err := p.check(); err != nil {
		return p, fmt.Errorf("policy %q: %w", p.Name, err)
	}
	return p, nil
}

// cause takes the place off an error: on a command line there are no lines.
func cause(err error) error {
	var placed *Error
	if errors.As(err, &placed) {
		return placed.Err
	}
	return err
}

// plain takes the name of the option off an error of a Config, since the key stands beside it.
func plain(err error) error {
	var invalid *retry.ConfigError
	if errors.As(err, &invalid) {
		problem, _, _ := strings.Cut(invalid.Problem, " (")
		return fmt.Errorf("%s, not %v", problem, invalid.Value)
	}
	return err
}

// check makes the policy once, to see whether it can be made.
func (p *Policy) check() error {
	if p.inner != nil {
		if err := p.inner.check(); err != nil {
			return fmt.Errorf("inner: %w", err)
		}
	}
	_, err := p.make(retrysim.Client{Rand: func() float64 { return 0 }})
	return err
}

// Contender is the policy as the simulator takes it.
func (p Policy) Contender() retrysim.Contender {
	c := retrysim.Contender{Name: p.Name, Policy: p.must, Shared: !p.Client, Timeout: p.config.AttemptTimeout}
	if p.inner != nil {
		c.Inner = p.inner.must
	}
	return c
}

// must is make, after check.
func (p Policy) must(c retrysim.Client) *retry.Policy {
	policy, err := p.make(c)
	if err != nil {
		panic(err)
	}
	return policy
}

func (p Policy) make(c retrysim.Client) (*retry.Policy, error) {
	options := []retry.Option{p.config}
	if p.jitter != "" {
		j, err := jitterOf(p.jitter)
		if err != nil {
			return nil, err
		}
		options = append(options, retry.WithJitter(j))
	}
	if p.hint != "" {
		hint, err := hintOf(p.hint)
		if err != nil {
			return nil, err
		}
		options = append(options, hint)
	}
	if p.maxHint != nil {
		options = append(options, retry.WithMaxHint(*p.maxHint))
	}
	if len(p.retryOn) > 0 {
		retryIf, err := retryOn(p.retryOn)
		if err != nil {
			return nil, err
		}
		options = append(options, retry.WithRetryIf(retryIf))
	}
	if p.budget != "" && p.budget != "none" {
		b, err := throttle.ParseBudget(p.budget)
		if err != nil {
			return nil, fmt.Errorf("budget: %w", err)
		}
		options = append(options, retry.WithBudget(c.Watch(b)))
	}
	for _, text := range p.throttles {
		t, err := parseThrottle(text, c)
		if err != nil {
			return nil, fmt.Errorf("throttle: %w", err)
		}
		options = append(options, retry.WithThrottle(t))
	}
	return retry.New(options...)
}

func jitterOf(s string) (strategy.Jitter, error) {
	switch s {
	case "full":
		return strategy.Full, nil
	case "equal":
		return strategy.Equal, nil
	}
	factor, err := strconv.ParseFloat(s, 64)
	if err != nil || !(factor >= 0 && factor <= 1) {
		return nil, fmt.Errorf("jitter: must be full, equal or a factor from 0 to 1, not %q", s)
	}
	return strategy.Proportional(factor), nil
}

func hintOf(s string) (retry.Option, error) {
	switch span, clamped := strings.CutPrefix(strings.TrimSuffix(s, ")"), "clamp("); {
	case clamped:
		d, err := duration(span)
		if err != nil {
			return nil, fmt.Errorf("hint: %w", err)
		}
		return retry.WithHint(throttle.Clamp(d)), nil
	case s == "atleast":
		return retry.WithHint(throttle.AtLeast()), nil
	case s == "exact":
		return retry.WithHint(throttle.Exact()), nil
	case s == "ignore":
		return retry.WithHint(throttle.Ignore()), nil
	}
	return nil, fmt.Errorf("hint: must be atleast, exact, ignore or clamp(5s), not %q", s)
}

// classes are the failures of a simulation by the class that they have.
var classes = map[string][]error{
	throttle.Transient.String(): {retrysim.ErrServer, retrysim.ErrRejected},
	throttle.Timeout.String():   {retrysim.ErrTimeout},
	throttle.Throttled.String(): {retrysim.ErrThrottled},
}

func retryOn(names []string) (func(error) bool, error) {
	var retried []error
	for _, name := range names {
		some, ok := classes[name]
		if !ok {
			return nil, fmt.Errorf("retry_on: must be some of transient, timeout, throttled, not %q", name)
		}
		retried = append(retried, some...)
	}
	return func(err error) bool {
		for _, one := range retried {
			if errors.Is(err, one) {
				return true
			}
		}
		return false
	}, nil
}

func words(s string) (all []string, err error) {
	for part := range strings.SplitSeq(s, ",") {
		all = append(all, strings.TrimSpace(part))
	}
	return all, nil
}

// expressions splits at the commas outside of parentheses.
func expressions(s string) (all []string, err error) {
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				all, start = append(all, strings.TrimSpace(s[start:i])), i+1
			}
		}
	}
	return append(all, strings.TrimSpace(s[start:])), nil
}
