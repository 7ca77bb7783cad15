package drivertest_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"
	yamlv4 "go.yaml.in/yaml/v4"

	"github.com/seed-89b3229b/retry"
)

// The YAML organisation's package: v4 is developed, v3, which most programs use, is maintained.
var yamls = []struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
	strict    func(io.Reader, any) error // unknown names are errors
}{
	{"v3", yamlv3.Marshal, yamlv3.Unmarshal, func(r io.Reader, v any) error {
		d := yamlv3.NewDecoder(r)
		d.KnownFields(true)
		return d.Decode(v)
	}},
	{"v4", yamlv4.Marshal, yamlv4.Unmarshal, func(r io.Reader, v any) error {
		d := yamlv4.NewDecoder(r)
		d.KnownFields(true)
		return d.Decode(v)
	}},
}

// yamlSettings are a service's, with settings for retries in two places.
type yamlSettings struct {
	Service string       `yaml:"service"`
	Orders  yamlUpstream `yaml:"orders"`
	Users   yamlUpstream `yaml:"users"`
}

type yamlUpstream struct {
	URL   string       `yaml:"url"`
	Retry retry.Config `yaml:"retry"`
}

const yamlFile = `
service: shop
orders:
  url: http://orders
  retry:
    max_attempts: 4
    base_delay: 500ms
    max_delay: 8s
    max_elapsed: 1h1s
    attempt_timeout: 1.5s
users:
  retry: {max_attempts: unlimited, max_elapsed: 10s, strategy: "linear(initial=1s, increment=2s)"}
`

func TestConfigYAML(t *testing.T) {
	for _, y := range yamls {
		t.Run(y.name, func(t *testing.T) {
			var s yamlSettings
			require.NoError(t, y.unmarshal([]byte(yamlFile), &s))
			require.Equal(t, yamlSettings{"shop", yamlUpstream{"http://orders", filled}, yamlUpstream{"", tuned}}, s)
			requireEffect(t, s.Orders.Retry, s.Users.Retry)

			text, err := y.marshal(s)
			require.NoError(t, err)
			var back yamlSettings
			require.NoError(t, y.unmarshal(text, &back))
			require.Equal(t, s, back)
			require.NoError(t, y.strict(strings.NewReader(yamlFile), &back))
			require.ErrorContains(t, y.strict(strings.NewReader("retry: {max_attempt: 3}"), &yamlUpstream{}), "max_attempt")
		})
	}
}

func TestConfigYAMLText(t *testing.T) {
	for _, y := range yamls {
		for want, c := range map[string]retry.Config{
			"{}\n": {},
			"max_attempts: 4\nbase_delay: 500ms\nmax_delay: 8s\nmax_elapsed: 1h0m1s\nattempt_timeout: 1.5s\n": filled,
			"max_attempts: unlimited\nmax_elapsed: 10s\nstrategy: linear(initial=1s, increment=2s)\n":         tuned,
			"strategy: bythrottled(normal=sequence(delays=[0s, 1s]), throttled=constant)\n":                   {Strategy: "bythrottled(normal=sequence(delays=[0s, 1s]), throttled=constant)"},
		} {
			text, err := y.marshal(c)
			require.NoError(t, err)
			require.Equal(t, want, string(text), y.name)
			var back retry.Config
			require.NoError(t, y.unmarshal(text, &back))
			require.Equal(t, c, back, y.name)
		}
	}
}

func TestConfigYAMLReads(t *testing.T) {
	for _, y := range yamls {
		for text, want := range map[string]retry.Config{
			`{}`:                           {MaxAttempts: 7, MaxDelay: 7},
			`{max_attempts: 3}`:            {MaxAttempts: 3, MaxDelay: 7},
			`{max_attempts: "3"}`:          {MaxAttempts: 3, MaxDelay: 7},
			`{max_attempts: " 3 "}`:        {MaxAttempts: 3, MaxDelay: 7},
			`{max_attempts: UNLIMITED}`:    {MaxAttempts: retry.Unlimited, MaxDelay: 7},
			`{max_attempts: ""}`:           {MaxDelay: 7},
			`{max_delay: -1s}`:             {MaxAttempts: 7, MaxDelay: -time.Second}, // Validate's to say
			`{strategy: expo, other: [1]}`: {MaxAttempts: 7, MaxDelay: 7, Strategy: "expo"},
		} {
			got := retry.Config{MaxAttempts: 7, MaxDelay: 7}
			require.NoError(t, y.unmarshal([]byte(text), &got), "%s %s", y.name, text)
			require.Equal(t, want, got, "%s %s", y.name, text)
		}
	}
}

// TestConfigYAMLErrors: the error names the value, and the line it stands in or the field.
func TestConfigYAMLErrors(t *testing.T) {
	for _, y := range yamls {
		for _, value := range badAttempts {
			err := y.unmarshal([]byte("users:\n  retry:\n    max_attempts: "+value), new(yamlSettings))
			require.ErrorIs(t, err, retry.ErrConfig, y.name)
			if first := (*yamlv4.LoadError)(nil); errors.As(err, &first) { // v4's list of errors does not let errors.As through
				require.ErrorContains(t, err, "line 3: "+first.Message)
				err = first
			}
			requireBadAttempts(t, err, value)
		}
		for _, name := range []string{"base_delay", "max_delay", "max_elapsed", "attempt_timeout"} {
			for _, value := range badDurations {
				err := y.unmarshal(fmt.Appendf(nil, "users:\n  retry:\n    %s: %q", name, value), new(yamlSettings))
				require.ErrorContains(t, err, "line 3: ", y.name)
				require.ErrorContains(t, err, value, y.name)
			}
			err := y.unmarshal([]byte("users:\n  retry:\n    "+name+": 5"), new(yamlSettings))
			require.ErrorContains(t, err, "line 3: ", y.name)
			require.ErrorContains(t, err, "5", y.name)
		}
		var s yamlSettings
		require.NoError(t, y.unmarshal([]byte("orders: {retry: {max_delay: -1s, base_delay: 1s, strategy: expo}}"), &s))
		_, err := retry.New(s.Orders.Retry)
		require.ErrorIs(t, err, retry.ErrConfig)
		for _, want := range []string{"Config.MaxDelay(-1s)", `Config.Strategy("expo")`, "Config.BaseDelay(1s)"} {
			require.ErrorContains(t, err, want)
		}
	}
}
