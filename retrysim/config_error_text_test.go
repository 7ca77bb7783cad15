package retrysim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/retrysim"
)

// TestConfigErrorTextIsShort: an error of a text of 4 MB is not one of 4 MB.
func TestConfigErrorTextIsShort(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	for _, text := range []string{long, long + " <= 1s", "recovery <= " + long} {
		_, err := retrysim.ParseAssertion(text)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 1000)
	}
	require.Less(t, len((&retrysim.ConfigError{Field: long, Value: long, Problem: "bad"}).Error()), 300)
}
