// Package delayscmd is the command "delays": what strategies come to, as numbers and as a picture.
package delayscmd

import (
	"math/rand/v2"
	"time"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/runcmd"
	"github.com/seed-89b3229b/retry/strategy"
)

// Command is the command line of "delays". Numbers and durations are read by hand, because with --algorithm they are seconds.
type Command struct {
	Show      `group:"What is shown"`
	Pacer     `group:"With events"`
	Algorithm `group:"As show-backoff-delays, in seconds"`

	Strategy string   `arg:"" optional:"" help:"The strategy, such as 'fibonacci(first=1s)'. Not with --algorithm."`
	Event    []string `arg:"" optional:"" help:"0 for a failure, 1 for a success; 0:+2 is 2 seconds after the event before, 0:1700000000 at that second since 1970, without a time it is at the same instant."`
}

// Show is about waits in a row, and about the form of the answer.
type Show struct {
	N       int     `short:"n" default:"10" placeholder:"N" help:"How many waits. Default: 10."`
	Jitter  string  `placeholder:"full|equal|FACTOR" help:"Spread the waits of a strategy that does not draw them itself."`
	Seed    *uint64 `placeholder:"N" help:"Draw the same waits every time."`
	Samples int     `placeholder:"K" help:"Draw each wait K times: smallest, 5 %, median, mean, 95 %, largest."`
	CSV     bool    `name:"csv" xor:"form" help:"n,delay_s,sum_s"`
	JSON    bool    `name:"json" xor:"form" help:"An array of seconds."`
	Plot    bool    `xor:"form" help:"A bar for each wait."`
}

// Pacer are the settings of a strategy.Pacer.
type Pacer struct {
	MinDelay            string  `placeholder:"D" help:"Shortest wait; it wins over the longest."`
	MaxDelay            string  `placeholder:"D" help:"Longest wait; without events too."`
	JitterFactor        float64 `placeholder:"F" help:"Spread waits by this part of them."`
	MaxAttempts         int     `placeholder:"N" help:"So many failures in a row end it: -1."`
	MaxActualDuration   string  `placeholder:"D" help:"So long after the start failures end it: -1."`
	ConsiderActualDelay bool    `help:"Take time that passed beyond a wait off the next."`
	DelayOnSuccess      string  `placeholder:"D" help:"Wait after a success, for strategies without a level."`
	Start               string  `placeholder:"EPOCH" help:"When --max-actual-duration begins. Default: with the first event."`
	Compat010           bool    `name:"compat-010" help:"Go on from the last answer, as Algorithm::Backoff 0.010 does."`
}

// Algorithm are the attributes of Algorithm::Backoff's strategies.
type Algorithm struct {
	Algorithm               string   `short:"a" placeholder:"NAME" help:"Constant, Exponential, Fibonacci, LILD, LIMD, MILD or MIMD: then all values are seconds."`
	Delay                   *float64 `placeholder:"S" help:"Of Constant."`
	InitialDelay            *float64 `placeholder:"S" help:"Of Exponential, LILD, LIMD, MILD and MIMD."`
	InitialDelay1           *float64 `name:"initial-delay1" placeholder:"S" help:"Of Fibonacci."`
	InitialDelay2           *float64 `name:"initial-delay2" placeholder:"S" help:"Of Fibonacci."`
	ExponentBase            *float64 `placeholder:"X" help:"Of Exponential. Default: 2."`
	DelayIncrementOnFailure *float64 `placeholder:"S" help:"Of LILD and LIMD."`
	DelayIncrementOnSuccess *float64 `placeholder:"S" help:"Of LILD and MILD; one that lowers is negative: --delay-increment-on-success=-5."`
	DelayMultipleOnFailure  *float64 `placeholder:"X" help:"Of MILD and MIMD."`
	DelayMultipleOnSuccess  *float64 `placeholder:"X" help:"Of LIMD and MIMD."`
}

// Examples are tested.
func (*Command) Examples() []string {
	return []string{
		"retry delays 'fibonacci(first=1s)' --plot",
		"retry delays 'fulljitter(base=1s, max=1m)' -n 6 --samples 10000 --seed 1",
		"retry delays -a LIMD --initial-delay 2 --min-delay 1 --delay-increment-on-failure 4 \\\n    --delay-multiple-on-success 0.2 0 0 0 1 1 1 0 0 0",
	}
}

// Run shows the waits.
func (c *Command) Run(std *frame.IO) error {
	if c.Algorithm.Algorithm != "" {
		return c.algorithm(std)
	}
	if c.Strategy == "" {
		return frame.Usage("delays needs a strategy; see retry delays --help")
	}
	if err := c.noAttributes(); err != nil {
		return err
	}
	s, err := strategy.Parse(c.Strategy)
	if err != nil {
		return frame.Usage("delays: %v", err)
	}
	if len(c.Event) > 0 {
		return c.events(std, s, frame.ParseDuration)
	}
	return c.waits(std, s)
}

// random is where waits are drawn from; nil: anew every time.
func (c *Command) random() func() float64 {
	if c.Seed == nil {
		return nil
	}
	return rand.New(rand.NewPCG(*c.Seed, 0)).Float64
}

// waits shows the waits of a call that keeps failing.
func (c *Command) waits(std *frame.IO, s strategy.Strategy) error {
	switch {
	case c.MinDelay+c.MaxActualDuration+c.DelayOnSuccess+c.Start != "" || c.JitterFactor != 0 || c.MaxAttempts != 0 || c.ConsiderActualDelay || c.Compat010:
		return frame.Usage("delays: --min-delay, --jitter-factor, --max-attempts, --max-actual-duration, --consider-actual-delay, --delay-on-success, --start and --compat-010 need events")
	case c.N < 0:
		return frame.Usage("--n %d: must not be negative", c.N)
	case c.Samples < 0:
		return frame.Usage("--samples %d: must not be negative", c.Samples)
	}
	var most time.Duration
	var err error
	if c.MaxDelay != "" {
		if most, err = frame.ParseDuration("--max-delay", c.MaxDelay); err != nil {
			return err
		}
	}
	draws, _ := s.(interface{ Jittered() bool })
	drawn := draws != nil && draws.Jittered()
	var spread strategy.Jitter
	if c.Jitter != "" {
		if spread, err = runcmd.ParseJitter(c.Jitter); err != nil {
			return err
		}
		if drawn {
			return frame.Usage("--jitter %s: the strategy draws its waits itself", c.Jitter)
		}
		drawn = true
	}
	random := c.random()
	if c.Samples == 0 {
		return c.write(std, series(s, c.N, spread, most, random), seconds)
	}
	if !drawn {
		return frame.Usage("--samples %d: needs a strategy that draws its waits, or --jitter", c.Samples)
	}
	all := make([][]time.Duration, c.Samples)
	for i := range all {
		all[i] = series(s, c.N, spread, most, random)
	}
	return c.writeSamples(std, summaries(all))
}

// series is one run of waits, cap and jitter included, as strategy.ToBackOff answers them.
func series(s strategy.Strategy, n int, spread strategy.Jitter, most time.Duration, random func() float64) []time.Duration {
	if spread == nil && most <= 0 {
		return strategy.Delays(s, n, random)
	}
	b := strategy.ToBackOff(still{s}, strategy.WithMaxDelay(most), strategy.WithJitter(spread), strategy.WithRand(random))
	var waits []time.Duration
	for range n {
		d := b.NextBackOff()
		if d < 0 {
			break
		}
		waits = append(waits, d)
	}
	return waits
}

// still is a strategy that does not learn: a level is shown as it is, as strategy.Delays does.
type still struct{ strategy.Strategy }

// Ceiling is the strategy's own cap, which a jitter keeps.
func (s still) Ceiling(state strategy.State) time.Duration {
	if c, ok := s.Strategy.(interface {
		Ceiling(strategy.State) time.Duration
	}); ok {
		return c.Ceiling(state)
	}
	return 0
}

// Start starts a strategy that has a memory of each call.
func (s still) Start() strategy.Strategy {
	if starter, ok := s.Strategy.(strategy.Starter); ok {
		if started := starter.Start(); started != nil {
			return started
		}
	}
	return s.Strategy
}
