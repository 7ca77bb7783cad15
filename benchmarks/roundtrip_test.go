package benchmarks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/benchmarks/report"
	"github.com/seed-89b3229b/retry/benchmarks/roundtrip"
)

// findings are what was found of the HTTP libraries in these versions, in the order of roundtrip.Questions; "!" stands before
// what is wrong. A new version of a peer that does better fails here, and is to be entered.
var findings = []struct {
	module, version string
	seen            []string
}{
	{"github.com/seed-89b3229b/retry", "this tree", []string{
		"1", "1", "1", "not late", "response", "0 of 4", "1", "unchanged", "1", "1", "all forms", "ends at once", "ends at once", "Canceled", "read"}},
	{"github.com/hashicorp/go-retryablehttp", "v0.7.8", []string{
		"1", "!4", "!4", "!1h8m16s late", "!error (response with PassthroughErrorHandler)", "0 of 4", "!0", "!body replaced", "!4", "1",
		"!number, IMF", "!4 attempts in 0s", "!ends after 1s", "Canceled", "!cut off"}},
	{"github.com/PuerkitoBio/rehttp", "v1.4.0", []string{
		"1", "1", "1", "!2h0m0s late", "response", "0 of 4", "1", "!body replaced", "!4, 1 if it breaks", "1",
		"n/a", "n/a", "!ends after 1s", "!another error", "!cut off"}},
	{"github.com/ybbus/httpretry", "v1.0.2", []string{
		"1", "1", "!4", "!2h0m0s late", "response", "0 of 4", "!0 or 1", "!body replaced", "!4", "!4",
		"n/a", "n/a", "!ends after 1s", "Canceled", "n/a"}},
	{"github.com/failsafe-go/failsafe-go", "v0.9.8", []string{
		"!4", "!4", "!4", "not late", "!error (response with ReturnLastFailure)", "!4 of 4", "!0", "!body replaced", "!4", "!4",
		"!number", "!4 attempts in 0s", "!ends after 1s", "Canceled", "read"}},
}

func TestFindings(t *testing.T) {
	clients := roundtrip.Clients()
	require.Len(t, clients, len(findings))
	for i, want := range findings {
		c := clients[i]
		t.Run(c.Name, func(t *testing.T) {
			require.Equal(t, want.module, c.Module)
			require.Equal(t, want.version, c.Version(), "another version: look at each finding, and enter what has changed")
			require.Len(t, want.seen, len(roundtrip.Questions))
			for j := range roundtrip.Questions {
				q := &roundtrip.Questions[j]
				t.Run(q.ID, func(t *testing.T) {
					f := q.Ask(t, c)
					seen := f.Seen
					if f.Wrong {
						seen = "!" + seen
					}
					assert.Equal(t, want.seen[j], seen, "%s %s: %s", c.Module, want.version, q.Asks)
				})
			}
		})
	}
}

// TestHTTPDocument holds the document to what was found; of the costs it can tell the versions only.
func TestHTTPDocument(t *testing.T) {
	if raceEnabled {
		t.Skip("see TestFindings")
	}
	text, err := os.ReadFile("../docs/benchmarks.md")
	require.NoError(t, err)
	shown, err := report.Part(string(text), "http")
	require.NoError(t, err)
	require.Equal(t, strings.Split(roundtrip.Markdown(roundtrip.AskAll(t)), "\n"), strings.Split(shown, "\n"), "make compare WRITE=1 writes it anew")
	costs, err := report.Part(string(text), "http cost")
	require.NoError(t, err)
	for _, c := range roundtrip.Clients() {
		for _, way := range c.Ways {
			require.Regexp(t, `(?m)^\| `+c.Name+` +\| `+c.Version()+` +\| `+way.Name+` +\|`, costs)
		}
	}
}

// TestHTTPCosts holds what the comparison shows of this library, and that all libraries do what is measured.
func TestHTTPCosts(t *testing.T) {
	most := map[string]float64{"attempts": 4, "attempts, gate for each host": 4, "attempts, attempt timeout": 10}
	cases, err := roundtrip.Cases(t.Context())
	require.NoError(t, err)
	require.Len(t, cases, 11)
	for _, c := range cases {
		require.NoError(t, c.Call())
		if c.Client != nil && c.Client.Name == "retryhttp" && !raceEnabled {
			require.LessOrEqual(t, testing.AllocsPerRun(200, func() { _ = c.Call() }), most[c.Way], c.Way)
		}
	}
	costs, err := roundtrip.Measure(t.Context(), 2, 1, func(int) {})
	require.NoError(t, err)
	require.Len(t, costs, len(cases))
	require.Zero(t, costs[0].Allocs)
	require.Contains(t, costs.Table().Markdown(), "| retryablehttp | v0.7.8 ")
}
