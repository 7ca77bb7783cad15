// Command pacing shows many workers that find the right pace together. Forty workers poll one queue, which turns polls away
// that come faster than it allows, and what it allows changes without notice. All of them share one strategy.LIMD: a poll
// that is turned away raises its level by a fixed amount, a poll that is served lowers it by a hundredth, and the level is
// what each worker waits before its next poll, whether the last one was served or not.
//
// Five minutes pass in virtual time: the workers are retry.Flow values, driven by one loop that jumps from event to event.
// The program draws the level over time and fails if it does not follow the queue's limit.
//
//	go run ./examples/pacing
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-89b3229b/retry/strategy"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the random numbers that spread the workers")
	flag.Parse()
	if err := run(os.Stdout, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "pacing:", err)
		os.Exit(1)
	}
}

const workers = 40

// What the queue allows, and for how long.
var phases = []phase{
	{60 * time.Second, 100}, // one poll per worker every 400 ms
	{90 * time.Second, 20},  // every 2 s
	{60 * time.Second, 50},  // every 800 ms
	{90 * time.Second, 16},  // every 2.5 s
}

func newPace() *strategy.LIMD {
	return &strategy.LIMD{
		Initial:            100 * time.Millisecond,
		IncrementOnFailure: 100 * time.Millisecond,
		MultipleOnSuccess:  0.99,
		Min:                20 * time.Millisecond,
		Max:                10 * time.Second,
	}
}

func run(out io.Writer, seed uint64) error {
	pace := newPace()
	fmt.Fprintf(out, "%d workers poll one queue. They share %v\n\n", workers, pace)
	seconds := simulate(pace, pace.Level, seed)
	draw(out, seconds)
	if err := verify(seconds); err != nil {
		return err
	}

	// The same with a wait that nobody adapts, right for the first minute.
	fixed := strategy.Constant{Delay: phases[0].ideal()}
	other := simulate(fixed, func() time.Duration { return fixed.Delay }, seed)
	with, without := turnedAway(seconds), turnedAway(other)
	fmt.Fprintf(out, "\nturned away: %.0f%% of all polls; with a fixed wait of %v it would have been %.0f%%\n", 100*with, fixed.Delay, 100*without)
	if with > without/3 {
		return fmt.Errorf("a third of what a fixed wait makes, %.0f%%, should have been turned away at most, not %.0f%%", 100*without, 100*with)
	}
	return nil
}
