package drivertest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/sethvargo/go-envconfig"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
)

// envSettings are a service's, with settings for retries in two places. Each package has its own tag for prefixes.
type envSettings struct {
	Service string
	Orders  retry.Config
	Users   retry.Config
}

type envConfigSettings struct {
	Service string       `env:"SERVICE"`
	Orders  retry.Config `env:", prefix=SHOP_ORDERS_"`
	Users   retry.Config `env:", prefix=SHOP_USERS_"`
}

type envSettingsWithPrefix struct {
	Service string       `env:"SERVICE"`
	Orders  retry.Config `envPrefix:"SHOP_ORDERS_"`
	Users   retry.Config `envPrefix:"SHOP_USERS_"`
}

var envs = []struct {
	name string
	read func(t *testing.T, had envSettings, vars map[string]string) (envSettings, error)
}{
	{"go-envconfig", func(t *testing.T, had envSettings, vars map[string]string) (envSettings, error) {
		s := envConfigSettings(had)
		err := envconfig.ProcessWith(t.Context(), &envconfig.Config{Target: &s, Lookuper: envconfig.MapLookuper(vars), DefaultOverwrite: true})
		return envSettings(s), err
	}},
	{"env", func(_ *testing.T, had envSettings, vars map[string]string) (envSettings, error) {
		s := envSettingsWithPrefix(had)
		err := env.ParseWithOptions(&s, env.Options{Environment: vars})
		return envSettings(s), err
	}},
}

func TestConfigEnv(t *testing.T) {
	for _, e := range envs {
		t.Run(e.name, func(t *testing.T) {
			s, err := e.read(t, envSettings{}, map[string]string{
				"SERVICE":                  "shop",
				"SHOP_ORDERS_MAX_ATTEMPTS": "4", "SHOP_ORDERS_BASE_DELAY": "500ms", "SHOP_ORDERS_MAX_DELAY": "8s",
				"SHOP_ORDERS_MAX_ELAPSED": "1h1s", "SHOP_ORDERS_ATTEMPT_TIMEOUT": "1.5s",
				"SHOP_USERS_MAX_ATTEMPTS": "unlimited", "SHOP_USERS_MAX_ELAPSED": "10s", "SHOP_USERS_STRATEGY": "linear(initial=1s, increment=2s)",
				"MAX_ATTEMPTS": "nobody's", "ORDERS_MAX_DELAY": "nobody's",
			})
			require.NoError(t, err)
			require.Equal(t, envSettings{"shop", filled, tuned}, s)
			requireEffect(t, s.Orders, s.Users)
		})
	}
}

func TestConfigEnvReads(t *testing.T) {
	had := envSettings{Users: retry.Config{MaxAttempts: 7, MaxDelay: 7}}
	for _, e := range envs {
		for text, want := range map[string]retry.Config{
			"":                                  {MaxAttempts: 7, MaxDelay: 7},
			"SHOP_USERS_MAX_ATTEMPTS=3":         {MaxAttempts: 3, MaxDelay: 7},
			"SHOP_USERS_MAX_ATTEMPTS= 3 ":       {MaxAttempts: 3, MaxDelay: 7},
			"SHOP_USERS_MAX_ATTEMPTS=Unlimited": {MaxAttempts: retry.Unlimited, MaxDelay: 7},
			"SHOP_USERS_MAX_DELAY=-1s":          {MaxAttempts: 7, MaxDelay: -time.Second}, // Validate's to say
			"SHOP_USERS_STRATEGY=expo":          {MaxAttempts: 7, MaxDelay: 7, Strategy: "expo"},
		} {
			vars := map[string]string{}
			if name, value, ok := strings.Cut(text, "="); ok {
				vars[name] = value
			}
			s, err := e.read(t, had, vars)
			require.NoError(t, err, "%s %s", e.name, text)
			require.Equal(t, envSettings{Users: want}, s, "%s %s", e.name, text)
		}
		// Variables that are set but empty, as compose files make them, set nothing.
		empty := map[string]string{}
		for _, name := range []string{"MAX_ATTEMPTS", "BASE_DELAY", "MAX_DELAY", "MAX_ELAPSED", "ATTEMPT_TIMEOUT", "STRATEGY"} {
			empty["SHOP_USERS_"+name] = ""
		}
		s, err := e.read(t, envSettings{}, empty)
		require.NoError(t, err, e.name)
		require.Zero(t, s, e.name)
	}
}

// TestConfigEnvErrors: the error names the value and the field.
func TestConfigEnvErrors(t *testing.T) {
	for _, e := range envs {
		for _, value := range badAttempts {
			_, err := e.read(t, envSettings{}, map[string]string{"SHOP_USERS_MAX_ATTEMPTS": value})
			if parsing := (env.ParseError{}); errors.As(err, &parsing) { // it has no Unwrap method
				require.ErrorContains(t, err, parsing.Err.Error())
				err = parsing.Err
			}
			requireBadAttempts(t, err, value)
		}
		for name, field := range map[string]string{
			"BASE_DELAY": "BaseDelay", "MAX_DELAY": "MaxDelay", "MAX_ELAPSED": "MaxElapsed", "ATTEMPT_TIMEOUT": "AttemptTimeout",
		} {
			for _, value := range badDurations {
				_, err := e.read(t, envSettings{}, map[string]string{"SHOP_USERS_" + name: value})
				require.ErrorContains(t, err, field, e.name)
				require.ErrorContains(t, err, fmt.Sprintf("%q", value), e.name)
			}
		}
		s, err := e.read(t, envSettings{}, map[string]string{
			"SHOP_USERS_MAX_ELAPSED": "-5s", "SHOP_USERS_STRATEGY": "constant(delay=1)", "SHOP_USERS_BASE_DELAY": "1s",
		})
		require.NoError(t, err)
		err = s.Users.Validate()
		require.ErrorIs(t, err, retry.ErrConfig)
		for _, want := range []string{"Config.MaxElapsed(-5s)", `Config.Strategy("constant(delay=1)")`, "Config.BaseDelay(1s)"} {
			require.ErrorContains(t, err, want)
		}
	}
}

// TestConfigEnvJSON: go-envconfig also reads a Config from one variable that holds JSON.
func TestConfigEnvJSON(t *testing.T) {
	read := func(text string) (retry.Config, error) {
		var s struct {
			Retry retry.Config `env:"RETRY"`
		}
		err := envconfig.ProcessWith(t.Context(), &envconfig.Config{Target: &s, Lookuper: envconfig.MapLookuper(map[string]string{"RETRY": text})})
		return s.Retry, err
	}
	c, err := read(`{"max_attempts": "unlimited", "max_elapsed": "10s", "strategy": "linear(initial=1s, increment=2s)"}`)
	require.NoError(t, err)
	require.Equal(t, tuned, c)
	_, err = read(`{"max_attempts": 0, "base_delay": 5}`)
	require.ErrorContains(t, err, "Config.MaxAttempts(0)")
	require.ErrorContains(t, err, "Config.BaseDelay(5)")
	_, err = read(`4`)
	require.ErrorContains(t, err, `retry: Config("4"): must be a JSON object`)
	_, err = read(`{"max_attempts": 3,}`)
	require.ErrorContains(t, err, "must be a JSON object: invalid character '}'")
}
