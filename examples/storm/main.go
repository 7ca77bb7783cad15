// Command storm shows how retries keep a server down, and how a budget lets it get up again. Two hundred clients call a server
// that has capacity to spare. For ten seconds it loses half of its capacity. Requests pile up, answers come too
// late, and the clients try again: now most of what the server works on is repeats that nobody waits for any more, and that goes
// on after the capacity is back.
//
// A minute passes in virtual time: each call is a retry.Flow, driven by one loop that jumps from event to event. The program draws
// load and success over time for four policies, and fails if they do not do what is said here.
//
//	go run ./examples/storm
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

const (
	clients  = 200
	each     = 3 // calls a second of a client, at random times
	attempts = 3
	patience = 500 * time.Millisecond // an attempt that has no answer by then has failed
	length   = time.Minute
)

// trial is a way to try again, and what came of it.
type trial struct {
	name   string
	policy func(client int) *retry.Policy
	want   verdict
}

type verdict string

const (
	recovers verdict = "recovers"
	never    verdict = "never"
)

func trials() []trial {
	jittered := strategy.FullJitter{Base: 200 * time.Millisecond, Max: 20 * time.Second}
	with := func(s strategy.Strategy, options ...retry.Option) *retry.Policy {
		return retry.MustNew(append(options, retry.WithStrategy(s), retry.WithMaxAttempts(attempts))...)
	}
	immediate, full := with(strategy.Constant{}), with(jittered)
	budgeted := with(jittered, retry.WithBudget(throttle.NewTokenBudget()))
	var fleet [clients]*retry.Policy
	for i := range fleet {
		fleet[i] = with(jittered, retry.WithBudget(throttle.NewTokenBudget()))
	}
	return []trial{
		{"retry at once", func(int) *retry.Policy { return immediate }, never},
		{"full jitter", func(int) *retry.Policy { return full }, never},
		{"full jitter, one token budget", func(int) *retry.Policy { return budgeted }, recovers},
		{"full jitter, a budget a client", func(client int) *retry.Policy { return fleet[client] }, recovers},
	}
}

func main() {
	seed := flag.Uint64("seed", 1, "of the random numbers: when calls begin, and the jitter")
	flag.Parse()
	if err := run(os.Stdout, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, seed uint64) error {
	fmt.Fprintf(out, "%d clients make %d calls a second, up to %d attempts each. The server serves %d requests a second, and %d from\nsecond %.0f to %.0f; an attempt without an answer in %v has failed.\n",
		clients, clients*each, attempts, rate(0), rate(outageBegins), outageBegins.Seconds(), outageEnds.Seconds(), patience)
	var results []result
	for _, t := range trials() {
		r := simulate(t, seed)
		results = append(results, r)
		draw(out, r)
	}
	table(out, results)
	fmt.Fprint(out, `
Waiting longer spreads retries, but does not make them fewer: where most calls fail, each still comes to three requests, more than
the server can serve even when it is whole. A budget stops paying for retries while nothing succeeds. It does so once for
everybody who shares it; clients that have one each may first spend all of theirs, here 35 retries times 200.
`)
	for _, r := range results {
		if err := r.verify(); err != nil {
			return err
		}
	}
	return nil
}
