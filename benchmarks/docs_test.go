package benchmarks_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/benchmarks/correct"
	"github.com/seed-89b3229b/retry/benchmarks/library"
	"github.com/seed-89b3229b/retry/benchmarks/report"
)

// The verdicts do not depend on the machine, so the document must show them as they are. Its times cannot be checked, but
// they must be of the versions that are compared.
func TestDocument(t *testing.T) {
	if raceEnabled || runtime.GOARCH != "amd64" {
		t.Skip("see TestVerdicts")
	}
	text, err := os.ReadFile("../docs/benchmarks.md")
	require.NoError(t, err)
	shown, err := report.Part(string(text), "correctness")
	require.NoError(t, err)
	require.Equal(t, strings.Split(correct.Markdown(correct.JudgeAll(t)), "\n"), strings.Split(shown, "\n"), "make compare WRITE=1 writes it anew")
	times, err := report.Part(string(text), "speed")
	require.NoError(t, err)
	for _, l := range library.Peers() {
		require.Contains(t, times, l.Version(), l.Name)
	}
}

func TestParts(t *testing.T) {
	const document = "a\n<!-- generated: x -->\nold\n<!-- end of x -->\nb\n"
	changed, err := report.Replace(document, "x", "new\n")
	require.NoError(t, err)
	require.Equal(t, "a\n<!-- generated: x -->\nnew\n<!-- end of x -->\nb\n", changed)
	_, err = report.Replace(document, "y", "")
	require.ErrorContains(t, err, "generated: y")
	_, err = report.Part("<!-- generated: x -->\n", "x")
	require.ErrorContains(t, err, "end of x")
}

func TestTable(t *testing.T) {
	table := report.Table{Head: []string{"a", "long"}, Right: []bool{false, true}, Rows: [][]string{{"ä b", "1"}}}
	require.Equal(t, "a    long\nä b     1\n", table.Text())
	require.Equal(t, "| a   | long |\n|-----|-----:|\n| ä b |    1 |\n", table.Markdown())
}
