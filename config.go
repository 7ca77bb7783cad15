package retry

import (
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/strategy"
)

// Config is the part of a policy that operators want to set, in a configuration file or in environment variables. It is an
// Option like the others, at any place in the list:
//
//	policy, err := retry.New(retry.WithMaxAttempts(3), settings.Retry, retry.WithCondition(retryable))
//
// A field that is zero is not set, and what stood there before stays: an earlier option's, else the default. The zero
// Config changes nothing. It follows that a Config cannot take away a limit of an earlier option, except that of attempts
// (Unlimited). Of two Configs, the later wins, field by field.
//
// The tags are those of encoding/json, of YAML packages (go.yaml.in/yaml) and of packages for the environment
// (github.com/sethvargo/go-envconfig, github.com/caarlos0/env). A prefix is for the struct around it to say. With
//
//	type Settings struct {
//		Retry retry.Config `json:"retry" yaml:"retry" env:", prefix=ORDERS_"`
//	}
//
// go-envconfig reads ORDERS_MAX_ATTEMPTS=4 (or unlimited), ORDERS_BASE_DELAY=250ms, ORDERS_MAX_DELAY=5s,
// ORDERS_MAX_ELAPSED=1m, ORDERS_ATTEMPT_TIMEOUT=2s and ORDERS_STRATEGY=constant(delay=1s). For caarlos0/env the tag is
// envPrefix:"ORDERS_". Durations are as time.ParseDuration reads them, so they need a unit, in JSON too. Empty text leaves a
// field unset. Give the field a name, as above: a struct that embeds a Config would be read from JSON as if it were one.
//
// Validate, and every use as an option, reports all fields that cannot be used, each as a *ConfigError; so does reading from
// JSON. The packages for YAML and the environment read durations themselves, and word the errors of those that are none.
//
// A Config is a plain value: it is safe for concurrent use while nobody writes to it.
type Config struct {
	// MaxAttempts is how many attempts a call makes at most, the first included (attempts = retries + 1): at least 1, or
	// Unlimited. See WithMaxAttempts and WithUnlimitedAttempts. Default: 5; no limit if MaxElapsed is set.
	MaxAttempts Attempts `json:"max_attempts,omitzero" yaml:"max_attempts,omitempty" env:"MAX_ATTEMPTS"`

	// BaseDelay is the Base of the default strategy, and puts that strategy in the place of an earlier WithStrategy. With n
	// counting failures from 1, the wait is drawn from 0..e, e = min(most, BaseDelay·2^(n−1)); with WithJitter it is e,
	// jittered. most is 20 s, or MaxDelay (WithMaxDelay) or BaseDelay where that is longer; a shorter MaxDelay is the cap, as
	// always. For Supervise it is drawn from e/2..e, and most is 1 min. It cannot be set together with Strategy. Default: 200 ms;
	// Supervise: 1 s.
	BaseDelay time.Duration `json:"base_delay,omitzero" yaml:"base_delay,omitempty" env:"BASE_DELAY"`

	// MaxDelay caps the waits that the policy itself asks for. See WithMaxDelay. Default: no cap besides the strategy's own.
	MaxDelay time.Duration `json:"max_delay,omitzero" yaml:"max_delay,omitempty" env:"MAX_DELAY"`

	// MaxElapsed limits the whole call, waits included, in place of the default limit of attempts. See WithMaxElapsed. Default:
	// no limit.
	MaxElapsed time.Duration `json:"max_elapsed,omitzero" yaml:"max_elapsed,omitempty" env:"MAX_ELAPSED"`

	// AttemptTimeout limits every attempt. See WithAttemptTimeout. Default: no limit.
	AttemptTimeout time.Duration `json:"attempt_timeout,omitzero" yaml:"attempt_timeout,omitempty" env:"ATTEMPT_TIMEOUT"`

	// Strategy is how long to wait after each failure, as text that strategy.Parse reads, such as
	// "exponential(base=100ms, max=5s)". It is read whenever the Config is applied, so a level that calls are to share (limd
	// and its kin) belongs into a Policy, made once. See WithStrategy. Default: the default strategy, with BaseDelay.
	Strategy string `json:"strategy,omitzero" yaml:"strategy,omitempty" env:"STRATEGY"`
}

func (Config) option() {}

// Validate reports every field that cannot be used: MaxAttempts below 0, a negative duration, a Strategy that strategy.Parse
// does not read, BaseDelay together with Strategy. The error is a *ConfigError that names the field, such as
// "Config.MaxDelay"; for several problems it is an errors.Join of them, a line for each. Use as an option returns the same error: call
// Validate to tell the operator early.
func (c Config) Validate() error {
	_, err := c.parse()
	return err
}

// parse is Validate, and returns the strategy if one is set.
func (c Config) parse() (s strategy.Strategy, err error) {
	var problems problems
	if c.MaxAttempts < 0 {
		problems.add(badAttempts(c.MaxAttempts))
	}
	for _, f := range c.durations() {
		if *f.at < 0 {
			problems.add(badSetting(f.name, f.env, *f.at, "must not be negative", nil))
		}
	}
	if strings.TrimSpace(c.Strategy) != "" {
		if s, err = strategy.Parse(c.Strategy); err != nil {
			problems.add(badSetting("Strategy", "STRATEGY", c.Strategy, err.Error(), err))
		}
		if c.BaseDelay != 0 {
			problems.add(badSetting("BaseDelay", "BASE_DELAY, STRATEGY", c.BaseDelay,
				"must not be set together with Strategy: the base belongs into its text, as in fulljitter(base="+c.BaseDelay.String()+")", nil))
		}
	}
	return s, problems.err()
}

// configure applies a Config's set fields.
func (c *config) configure(o Config) error {
	s, err := o.parse()
	if err != nil {
		return err
	}
	if o.MaxAttempts != 0 {
		c.maxAttempts = int(o.MaxAttempts)
	}
	if o.BaseDelay != 0 {
		c.base = o.BaseDelay
		c.strategy, c.starter, c.learner = nil, nil, nil
	}
	if o.MaxDelay != 0 {
		c.maxDelay = o.MaxDelay
	}
	if o.MaxElapsed != 0 {
		c.maxElapsed = o.MaxElapsed
	}
	if o.AttemptTimeout != 0 {
		c.attemptTimeout = o.AttemptTimeout
	}
	if s != nil {
		return c.setStrategy(s)
	}
	return nil
}

type configDuration struct {
	name, env string
	at        *time.Duration
}

func (c *Config) durations() [4]configDuration {
	return [...]configDuration{
		{"BaseDelay", "BASE_DELAY", &c.BaseDelay},
		{"MaxDelay", "MAX_DELAY", &c.MaxDelay},
		{"MaxElapsed", "MAX_ELAPSED", &c.MaxElapsed},
		{"AttemptTimeout", "ATTEMPT_TIMEOUT", &c.AttemptTimeout},
	}
}

// badSetting says what is wrong with a field of Config, in a way that whoever wrote the file or the variable can find it.
func badSetting(name, env string, value any, problem string, err error) error {
	return &ConfigError{Option: "Config." + name, Value: value, Problem: problem + " (" + env + ")", err: err}
}
