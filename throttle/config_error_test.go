package throttle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

type validator interface{ Validate() error }

func TestConfigErrors(t *testing.T) {
	cooldown, keys := &throttle.Gate{MaxCooldown: -sec, MaxKeys: -1}, &throttle.Gate{MaxKeys: -1}
	for _, c := range []struct {
		v    validator
		want throttle.ConfigError
		text string
	}{
		{cooldown, throttle.ConfigError{Field: "Gate.MaxCooldown", Value: -sec, Problem: "must not be negative"},
			"throttle: Gate.MaxCooldown = -1s: must not be negative"},
		{keys, throttle.ConfigError{Field: "Gate.MaxKeys", Value: -1, Problem: "must not be negative"},
			"throttle: Gate.MaxKeys = -1: must not be negative"},
		{throttle.Clamp(-sec), throttle.ConfigError{Field: "Clamp", Value: -sec, Problem: "must not be negative"},
			"throttle: Clamp = -1s: must not be negative"},
	} {
		err := c.v.Validate()
		var own *throttle.ConfigError
		require.ErrorAs(t, err, &own)
		require.Equal(t, c.want, *own)
		require.EqualError(t, err, c.text)
	}
	require.Equal(t, cooldown.Validate(), cooldown.For("a").(validator).Validate())
	require.Equal(t, keys.Validate(), keys.By(nil).(validator).Validate())
	require.EqualError(t, (*throttle.ConfigError)(nil), "throttle: invalid")
}
