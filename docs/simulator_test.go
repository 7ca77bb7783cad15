package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/throttle"
)

// This file is the code of simulator.md, word for word. Its commands are run by the command's own tests.

func TestSurvivesAnOutage(t *testing.T) {
	scenario := retrysim.Scenario{
		Length:  20 * time.Second,
		Load:    retrysim.Open{Rate: retrysim.PerSecond(1000)},
		Timeout: 100 * time.Millisecond,
		Server:  retrysim.Queue{Workers: 22, Service: retrysim.LogNormal(10*time.Millisecond, 0.25)},
		Faults:  []retrysim.Fault{{From: 2 * time.Second, To: 4 * time.Second, Fail: 1}},
	}
	report, err := retrysim.Run(t.Context(), scenario, 1, 3, retrysim.Fleet("ours", func(retrysim.Client) *retry.Policy {
		return retry.MustNew(retry.WithMaxAttempts(3), retry.WithBudget(throttle.NewTokenBudget()))
	}))
	require.NoError(t, err)
	require.NoError(t, report.Check("recovery <= 1s", "peak_amplification < 1.2"))
}

// TestSimulatorPage finds every block of Go in simulator.md in this file, and every metric in its table.
func TestSimulatorPage(t *testing.T) {
	page, err := os.ReadFile("simulator.md")
	require.NoError(t, err)
	source, err := os.ReadFile("simulator_test.go")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		assert.Contains(t, string(source), block[1])
	}
	for _, m := range retrysim.Metrics() {
		name, _ := strings.CutPrefix(m.Name, "all_")
		if name != "p90" && name != "p99" && m.Name != "all_max" && m.Name != "all_p999" { // of the row "p50 … p999"
			assert.Contains(t, string(page), "`"+name+"`", m.Name)
		}
	}
}
