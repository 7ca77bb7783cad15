package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sethvargo/go-envconfig"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
)

// settings are what an operator can say about the calls of an API. The first three are PixivFE's, with its defaults. The
// rest are those of retry.Config, and win over the three where both are set.
type settings struct {
	MaxRetries     int           `env:"API_MAX_RETRIES, default=3"`
	BaseTimeout    time.Duration `env:"API_BASE_TIMEOUT, default=500ms"`
	MaxBackoffTime time.Duration `env:"API_MAX_BACKOFF_TIME, default=8s"`
	Retry          retry.Config  `env:", prefix=API_"`
}

const help = `
Variables:
  API_MAX_RETRIES       how often a request is repeated: a whole number, 0 or more. Default: 3
  API_BASE_TIMEOUT      the longest first wait, doubled after every failure: a duration such as 500ms. Default: 500ms
  API_MAX_BACKOFF_TIME  the longest wait of all: a duration such as 8s. Default: 8s
  API_MAX_ATTEMPTS      the first request and its repetitions: 1 or more, or unlimited. Default: API_MAX_RETRIES + 1
  API_MAX_ELAPSED       the time for all attempts and waits: a duration. Default: no limit
  API_ATTEMPT_TIMEOUT   the time for one attempt: a duration. Default: no limit
  API_STRATEGY          how to wait instead, such as exponential(base=100ms) or constant(delay=1s)
  API_BASE_DELAY, API_MAX_DELAY  other names of API_BASE_TIMEOUT and API_MAX_BACKOFF_TIME, which win over them
`

// load reads the settings. Whatever it lets pass makes a policy.
func load(ctx context.Context, from envconfig.Lookuper) (s settings, err error) {
	if err := envconfig.ProcessWith(ctx, &envconfig.Config{Target: &s, Lookuper: filled{from}}); err != nil {
		return s, err
	}
	var problems []error
	if s.MaxRetries < 0 {
		problems = append(problems, fmt.Errorf("API_MAX_RETRIES=%d: must be 0 or more; for no limit say API_MAX_ATTEMPTS=unlimited", s.MaxRetries))
	}
	if s.BaseTimeout <= 0 {
		problems = append(problems, fmt.Errorf("API_BASE_TIMEOUT=%v: must be more than 0", s.BaseTimeout))
	}
	if s.MaxBackoffTime <= 0 {
		problems = append(problems, fmt.Errorf("API_MAX_BACKOFF_TIME=%v: must be more than 0", s.MaxBackoffTime))
	}
	return s, errors.Join(append(problems, s.Retry.Validate())...)
}

// filled takes a variable that is set to nothing, as compose files do it, for one that is not set.
type filled struct{ envconfig.Lookuper }

func (f filled) Lookup(name string) (string, bool) {
	value, ok := f.Lookuper.Lookup(name)
	return value, ok && value != ""
}

// calls is the first three as a Config. Retries do not count the first attempt, attempts do.
func (s settings) calls() retry.Config {
	return retry.Config{
		MaxAttempts: retry.Attempts(min(s.MaxRetries, math.MaxInt-1) + 1),
		BaseDelay:   s.BaseTimeout,
		MaxDelay:    s.MaxBackoffTime,
	}
}

// policy is what the API is called with: the three, over them what else was said, and what is not the operator's to say.
func (s settings) policy() (*retry.Policy, error) {
	return retry.New(
		retry.WithName("api"),
		s.calls(),
		s.Retry,
		retry.WithCondition(condition.Only(condition.Network(), condition.Timeout(), condition.HTTPStatus(500, 502, 503, 504))),
	)
}

// inForce is what should come out of policy, put together once more by hand, to show it and to hold the calls to it.
func (s settings) inForce() retry.Config {
	c := s.calls()
	c.MaxAttempts = cmp.Or(s.Retry.MaxAttempts, c.MaxAttempts)
	c.BaseDelay = cmp.Or(s.Retry.BaseDelay, c.BaseDelay)
	c.MaxDelay = cmp.Or(s.Retry.MaxDelay, c.MaxDelay)
	c.MaxElapsed, c.AttemptTimeout = s.Retry.MaxElapsed, s.Retry.AttemptTimeout
	if strings.TrimSpace(s.Retry.Strategy) != "" {
		c.BaseDelay, c.Strategy = 0, s.Retry.Strategy
	}
	return c
}
