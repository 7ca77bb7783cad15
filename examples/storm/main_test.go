package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/retrysim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What is said holds whatever is drawn, and the same seed gives the same picture.
func TestRun(t *testing.T) {
	var first, again strings.Builder
	require.NoError(t, run(t.Context(), &first, 1, claims))
	require.NoError(t, run(t.Context(), &again, 1, claims))
	require.Equal(t, first.String(), again.String())
	require.Equal(t, 4, strings.Count(first.String(), "| 50% of the capacity is left"))
	require.NoError(t, run(t.Context(), io.Discard, 100, claims))
}

// The README's table is this program's.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	report, err := retrysim.Run(t.Context(), scenario, 1, 1, contenders()...)
	require.NoError(t, err)
	var table strings.Builder
	require.NoError(t, report.WriteTable(&table))
	require.Contains(t, string(readme), table.String())
}

func TestClaimsBite(t *testing.T) {
	err := run(t.Context(), io.Discard, 1, []string{"retry at once: recovery <= 10s", "full jitter, one token budget: recovery == never"})
	require.EqualError(t, err, "retry at once: recovery is never, not <= 10s\nfull jitter, one token budget: recovery is 2s, not == never")
}
