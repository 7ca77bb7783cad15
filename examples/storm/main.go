// Command storm shows how retries keep a server down, and how a budget lets it get up again. Two hundred clients call a server
// that has capacity to spare. For ten seconds it loses half of its capacity. Requests pile up, answers come too
// late, and the clients try again: now most of what the server works on is repeats that nobody waits for any more, and that goes
// on after the capacity is back.
//
// A minute passes in virtual time, in package retrysim. The program draws load and success over time for four policies, and fails if
// they do not do what is said here.
//
//	go run ./examples/storm
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// scenario is what the clients and their server go through.
var scenario = retrysim.Scenario{
	Name:    "brownout",
	Length:  time.Minute,
	Clients: 200,
	Load:    retrysim.Open{Rate: retrysim.PerSecond(600)},
	Timeout: 500 * time.Millisecond,
	Network: retrysim.Fixed(time.Millisecond),
	Server:  retrysim.Queue{Workers: 10, Service: retrysim.Fixed(10 * time.Millisecond)},
	Faults:  []retrysim.Fault{{From: 10 * time.Second, To: 20 * time.Second, Capacity: 0.5}},
}

// contenders are four ways to try again, with three attempts each.
func contenders() []retrysim.Contender {
	jittered := strategy.FullJitter{Base: 200 * time.Millisecond, Max: 20 * time.Second}
	with := func(s strategy.Strategy) func(retrysim.Client) *retry.Policy {
		return func(retrysim.Client) *retry.Policy {
			return retry.MustNew(retry.WithStrategy(s), retry.WithMaxAttempts(3))
		}
	}
	budgeted := func(retrysim.Client) *retry.Policy {
		return retry.MustNew(retry.WithStrategy(jittered), retry.WithMaxAttempts(3), retry.WithBudget(throttle.NewTokenBudget()))
	}
	return []retrysim.Contender{
		retrysim.Fleet("retry at once", with(strategy.Constant{})),
		retrysim.Fleet("full jitter", with(jittered)),
		retrysim.Fleet("full jitter, one token budget", budgeted),
		retrysim.Each("full jitter, a budget a client", budgeted),
	}
}

// claims are what the program is there to show.
var claims = []string{
	"retry at once: recovery == never",
	"full jitter: recovery == never",
	"full jitter, one token budget: recovery <= 3s",
	"full jitter, a budget a client: recovery < 30s",
	"full jitter, a budget a client: recovery > 10s",
}

func main() {
	seed := flag.Uint64("seed", 1, "of the random numbers: when calls begin, and the jitter")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *seed, claims); err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, seed uint64, claims []string) error {
	report, err := retrysim.Run(ctx, scenario, seed, 1, contenders()...)
	if err != nil {
		return err
	}
	if err := report.WriteText(out); err != nil {
		return err
	}
	fmt.Fprint(out, `
Waiting longer spreads retries, but does not make them fewer: where most calls fail, each still comes to three requests, more than
the server can serve even when it is whole. A budget stops paying for retries while nothing succeeds. It does so once for
everybody who shares it; clients that have one each may first spend all of theirs, here 35 retries times 200.
`)
	return report.Check(claims...)
}
