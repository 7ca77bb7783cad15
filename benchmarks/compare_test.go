package benchmarks_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/benchmarks/correct"
	"github.com/seed-89b3229b/retry/benchmarks/report"
	"github.com/seed-89b3229b/retry/benchmarks/roundtrip"
	"github.com/seed-89b3229b/retry/benchmarks/speed"
)

var (
	compare = flag.Bool("compare", false, "measure, and print all tables")
	only    = flag.String("only", "", "compare these only: `libraries` or http")
	write   = flag.String("write", "", "write the tables into the generated parts of this `document` too")
	rounds  = flag.Int("rounds", 41, "how often to measure everything")
	slice   = flag.Duration("slice", 20*time.Millisecond, "how long to measure one thing in one round")
)

// TestCompare is a program rather than a test: it runs if asked for, and prints. It is a test because virtual time is to be
// had in tests only.
func TestCompare(t *testing.T) {
	if !*compare {
		t.Skip("asked for by -args -compare")
	}
	require.Contains(t, []string{"", "libraries", "http"}, *only)
	var parts []part
	if *only != "http" {
		parts = append(parts, compareLibraries(t)...)
	}
	if *only != "libraries" {
		parts = append(parts, compareHTTP(t)...)
	}
	if *write == "" {
		return
	}
	text, err := os.ReadFile(*write)
	require.NoError(t, err)
	document := string(text)
	for _, p := range parts {
		document, err = report.Replace(document, p.name, p.body)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(*write, []byte(document), 0o644))
}

// part is a generated part of the document.
type part struct{ name, body string }

func compareLibraries(t *testing.T) []part {
	fmt.Print("What the libraries do\n\n")
	verdicts := correct.JudgeAll(t)
	fmt.Print(correct.Text(verdicts))

	fmt.Print("\nWhat it costs\n")
	machine := announce()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := speed.Results(speed.Measure(ctx, speed.Cases(), *rounds, *slice, progress))
	fmt.Print(results.Text(), "\n")
	for _, line := range results.Summary() {
		fmt.Println(line)
	}
	head := fmt.Sprintf("%s\n\n- %s\n\n", since(machine), strings.Join(results.Summary(), "\n- "))
	return []part{{"speed", head + results.Markdown()}, {"correctness", correct.Markdown(verdicts)}}
}

func compareHTTP(t *testing.T) []part {
	fmt.Print("\nWhat HTTP clients do\n\n")
	found := roundtrip.AskAll(t)
	fmt.Print(roundtrip.Text(found))

	fmt.Print("\nWhat they cost\n")
	machine := announce()
	costs, err := roundtrip.Measure(t.Context(), *rounds, *slice, progress)
	require.NoError(t, err)
	fmt.Print(costs.Table().Text())
	return []part{{"http", roundtrip.Markdown(found)}, {"http cost", since(machine) + "\n\n" + costs.Table().Markdown()}}
}

// announce says what measures, and how.
func announce() (machine string) {
	machine = report.Machine(time.Now())
	fmt.Printf("%s\n%d rounds of %v, in turn; the median, and what half of the rounds lie between\n\n", machine, *rounds, *slice)
	return machine
}

// since is what was announced, for the document.
func since(machine string) string {
	return fmt.Sprintf("%s, load average after it %s. %d rounds of %v in turn.", machine, report.Load(), *rounds, *slice)
}

func progress(round int) {
	if round%10 == 0 {
		fmt.Fprintf(os.Stderr, "round %d of %d, load %s\n", round+1, *rounds, report.Load())
	}
}
