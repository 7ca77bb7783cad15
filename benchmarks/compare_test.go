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
	"github.com/seed-89b3229b/retry/benchmarks/speed"
)

var (
	compare = flag.Bool("compare", false, "measure, and print both tables")
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
	fmt.Print("What the libraries do\n\n")
	verdicts := correct.JudgeAll(t)
	fmt.Print(correct.Text(verdicts))

	machine := report.Machine(time.Now())
	fmt.Printf("\nWhat it costs\n%s\n%d rounds of %v, in turn; the median, and what half of the rounds lie between\n\n", machine, *rounds, *slice)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := speed.Results(speed.Measure(ctx, speed.Cases(), *rounds, *slice, func(round int) {
		if round%10 == 0 {
			fmt.Fprintf(os.Stderr, "round %d of %d, load %s\n", round+1, *rounds, report.Load())
		}
	}))
	fmt.Print(results.Text(), "\n")
	for _, line := range results.Summary() {
		fmt.Println(line)
	}
	if *write == "" {
		return
	}
	text, err := os.ReadFile(*write)
	require.NoError(t, err)
	head := fmt.Sprintf("%s, load average after it %s. %d rounds of %v in turn.\n\n- %s\n\n",
		machine, report.Load(), *rounds, *slice, strings.Join(results.Summary(), "\n- "))
	document, err := report.Replace(string(text), "speed", head+results.Markdown())
	require.NoError(t, err)
	document, err = report.Replace(document, "correctness", correct.Markdown(verdicts))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(*write, []byte(document), 0o644))
}
