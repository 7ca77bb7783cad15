package runcmd

import (
	"cmp"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/strategy"
)

const (
	defaultAttempts = 5
	defaultGrace    = 10 * time.Second
	envPrefix       = "RETRY_"
)

// The default waits ride out 7.5 s on average. With --jitter, which does not go with waits that are drawn already, they are
// those that the default draws from.
var (
	defaultStrategy = strategy.FullJitter{Base: time.Second, Max: time.Minute}
	defaultCurve    = strategy.Exponential{Base: time.Second, Max: time.Minute}
)

// settings are what flags, environment and file come to.
type settings struct {
	config   retry.Config // the limits; Strategy and BaseDelay too
	strategy strategy.Strategy
	jitter   jitter
	grace    time.Duration
	deadline time.Duration // 0: none
	seed     *uint64
	options  []retry.Option
}

// settings puts them together: a flag wins over the environment, that over the file, that over the default.
func (c *Command) settings() (*settings, error) {
	s := &settings{jitter: c.Jitter, grace: defaultGrace, deadline: c.Deadline.Duration, seed: c.Seed}
	if c.Grace.Set {
		s.grace = c.Grace.Duration
	}
	if c.Deadline.Set && c.Deadline.Duration == 0 {
		return nil, frame.Usage("--deadline 0: leaves no time for an attempt")
	}
	if c.Config != "" {
		file, err := readConfig(c.Config)
		if err != nil {
			return nil, err
		}
		merge(&s.config, file)
	}
	env, err := environment(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	merge(&s.config, env)
	if c.BaseDelay.Duration > 0 && c.Strategy != "" {
		return nil, frame.Usage("--base-delay %v: cannot be used together with --strategy: the base belongs into its text, as in fulljitter(base=%v)", c.BaseDelay, c.BaseDelay)
	}
	merge(&s.config, retry.Config{
		MaxAttempts: c.Attempts.Attempts, BaseDelay: c.BaseDelay.Duration, MaxDelay: c.MaxDelay.Duration,
		MaxElapsed: c.MaxElapsed.Duration, AttemptTimeout: c.AttemptTimeout.Duration, Strategy: c.Strategy,
	})
	if s.config.MaxAttempts == 0 {
		s.config.MaxAttempts = defaultAttempts
		if s.config.MaxElapsed > 0 || s.deadline > 0 { // a limit that was stated takes the place of the default
			s.config.MaxAttempts = retry.Unlimited
		}
	}
	return s, s.build(c)
}

// merge lets the set fields of over win. Strategy and BaseDelay say the same thing in two ways, so either takes the place of
// both.
func merge(c *retry.Config, over retry.Config) {
	if over.Strategy != "" || over.BaseDelay > 0 {
		c.Strategy, c.BaseDelay = over.Strategy, over.BaseDelay
	}
	c.MaxAttempts = cmp.Or(over.MaxAttempts, c.MaxAttempts)
	c.MaxDelay = cmp.Or(over.MaxDelay, c.MaxDelay)
	c.MaxElapsed = cmp.Or(over.MaxElapsed, c.MaxElapsed)
	c.AttemptTimeout = cmp.Or(over.AttemptTimeout, c.AttemptTimeout)
}

// build makes the options of the policy.
func (s *settings) build(c *Command) error {
	s.options = []retry.Option{retry.WithName(c.Name)}
	switch {
	case strings.TrimSpace(s.config.Strategy) != "":
		var err error
		if s.strategy, err = strategy.Parse(s.config.Strategy); err != nil {
			return frame.Usage("--strategy %s: %v", s.config.Strategy, err)
		}
	case s.config.BaseDelay > 0: // the option makes it
	case s.jitter.Jitter != nil:
		s.strategy = defaultCurve
	default:
		s.strategy = defaultStrategy
	}
	limits := s.config
	limits.Strategy, limits.AttemptTimeout = "", 0 // the one is parsed already, so that its level can be kept; the other is ours
	s.options = append(s.options, limits)
	if s.strategy != nil {
		s.options = append(s.options, retry.WithStrategy(s.strategy))
	}
	if s.jitter.Jitter != nil {
		s.options = append(s.options, retry.WithJitter(s.jitter.Jitter))
	}
	if c.InitialDelay.Duration > 0 {
		var spread strategy.Jitter
		if c.Stagger {
			spread = strategy.Full
		}
		s.options = append(s.options, retry.WithInitialDelay(c.InitialDelay.Duration, spread))
	}
	if c.MaxHint.Set {
		s.options = append(s.options, retry.WithMaxHint(c.MaxHint.Duration))
	}
	if c.ResetAfter.Set {
		s.options = append(s.options, retry.WithResetAfter(c.ResetAfter.Duration))
	}
	if s.seed != nil {
		s.options = append(s.options, retry.WithRand(rand.New(rand.NewPCG(*s.seed, 0)).Float64))
	}
	_, err := s.policy()
	return err
}

// policy makes the policy, with more options.
func (s *settings) policy(more ...retry.Option) (*retry.Policy, error) {
	return retry.New(append(s.options[:len(s.options):len(s.options)], more...)...)
}

// waits is the strategy as text.
func (s *settings) waits() string {
	text := "base " + s.config.BaseDelay.String()
	if s.strategy != nil {
		text = "strategy"
		if n, ok := s.strategy.(interface{ String() string }); ok {
			text = n.String()
		}
	}
	return text
}

// environment reads the settings of the environment. Empty text is not set.
func environment(lookup func(string) (string, bool)) (c retry.Config, err error) {
	for _, d := range []struct {
		name string
		at   *time.Duration
	}{{"BASE_DELAY", &c.BaseDelay}, {"MAX_DELAY", &c.MaxDelay}, {"MAX_ELAPSED", &c.MaxElapsed}, {"ATTEMPT_TIMEOUT", &c.AttemptTimeout}} {
		if text, _ := lookup(envPrefix + d.name); text != "" {
			if *d.at, err = frame.ParseDuration(envPrefix+d.name, text); err != nil {
				return c, err
			}
		}
	}
	if text, _ := lookup(envPrefix + "MAX_ATTEMPTS"); text != "" {
		if c.MaxAttempts.UnmarshalText([]byte(text)) != nil {
			return c, frame.Usage("%sMAX_ATTEMPTS %s: must be a whole number of at least 1, or unlimited", envPrefix, text)
		}
	}
	c.Strategy, _ = lookup(envPrefix + "STRATEGY")
	if err := c.Validate(); err != nil {
		return c, frame.Usage("environment: %v", err)
	}
	return c, nil
}
