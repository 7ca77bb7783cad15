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
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestReadme finds every block of Go in the README in a file that the compiler sees.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	var compiled string
	for _, file := range []string{"readme_test.go", "../examples/hello/main.go"} {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		compiled += unindented(string(code))
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		assert.Contains(t, compiled, unindented(block[1]), "no test compiles this block of the README")
	}
}

// TestReadmeWaterfall holds the drawing in the README to what the tests of package waterfall hold that to.
func TestReadmeWaterfall(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	golden, err := os.ReadFile("../observe/waterfall/testdata/call.golden")
	require.NoError(t, err)
	lines := 0
	for line := range strings.Lines(string(readme)) {
		if strings.Contains(line, "fetch") && strings.Contains(line, "|===") || strings.Contains(line, "  fetch attempt") {
			lines++
			assert.Contains(t, string(golden), strings.TrimRight(line, "\n"))
		}
	}
	assert.Equal(t, strings.Count(string(golden), "\n"), lines)
}

// unindented takes the indentation away: a block of the README stands inside a function.
func unindented(code string) string {
	return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(code, "")
}

// TestDefaults holds the tables of defaults in the README and the package comment to what the code does.
func TestDefaults(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	doc, err := os.ReadFile("../doc.go")
	require.NoError(t, err)

	waits := func(u float64) (waits []time.Duration, total time.Duration) {
		flow := new(retry.Policy).Begin(time.Time{}, time.Time{}, func() float64 { return u })
		for s := flow.Next(t.Context(), time.Time{}); s.Action != retry.Done; {
			if s.Action == retry.Wait {
				waits, total = append(waits, s.Delay), total+s.Delay
				s = flow.Next(t.Context(), time.Time{})
				continue
			}
			s = flow.Report(t.Context(), time.Time{}, throttle.Outcome{Err: errFlaky})
		}
		return waits, total
	}
	longest, total := waits(1 - 1e-12)
	want := strategy.Delays(strategy.Exponential{Base: 200 * time.Millisecond, Max: 20 * time.Second}, 4, nil)
	assert.Len(t, longest, 5-1)
	for i, d := range longest {
		assert.InDelta(t, want[i], d, float64(time.Microsecond))
	}
	assert.Equal(t, 3*time.Second, total.Round(time.Millisecond))
	_, mean := waits(0.5)
	assert.Equal(t, 1500*time.Millisecond, mean)

	for _, row := range []string{"| attempts, the first included | 5 |", "`strategy.FullJitter{Base: 200ms, Max: 20s}`", "1.5 s on average, 3 s at most", "| wait that a server may ask for | 60 s |"} {
		assert.True(t, strings.Contains(string(readme), row), row)
	}
	for _, row := range []string{"attempts            5\n", "strategy.FullJitter{Base: 200ms, Max: 20s}: 1.5s in all on average, 3s at most", "told waits          up to 60s"} {
		assert.True(t, strings.Contains(string(doc), row), row)
	}
}
