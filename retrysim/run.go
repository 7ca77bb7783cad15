package retrysim

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Progress says how far a simulation is.
type Progress struct {
	// Done of Total runs are over, a run being a trial of a contender.
	Done, Total int
}

// Run simulates a scenario as often as trials says, with each of the contenders. Trials run in parallel, and their random numbers
// come from the seed. The error is a *ConfigError for what cannot be used, found before anything runs, or found later for a scenario
// that does not end; or ctx's, if that ends first.
func Run(ctx context.Context, s Scenario, seed uint64, trials int, c ...Contender) (*Report, error) {
	return RunProgress(ctx, s, seed, trials, nil, c...)
}

// RunProgress is Run, and tells progress after every trial of a contender. The calls come one at a time, from the goroutine that
// called it.
func RunProgress(ctx context.Context, s Scenario, seed uint64, trials int, progress func(Progress), c ...Contender) (*Report, error) {
	if err := ready(s, trials, c); err != nil {
		return nil, err
	}
	pools := make([]pool, len(c))
	for i := range c {
		pools[i].Name = c[i].Name
	}
	n := trials * len(c)
	one := func(ctx context.Context, i int) (*outcome, error) {
		return simulate(ctx, &s, &c[i%len(c)], trialSeed(seed, i/len(c)), 0)
	}
	err := inOrder(ctx, n, one, func(i int, o *outcome) {
		pools[i%len(c)].add(o)
		if progress != nil {
			progress(Progress{i + 1, n})
		}
	})
	if err != nil {
		return nil, err
	}
	r := &Report{Scenario: s, Seed: seed, Trials: trials}
	for i := range pools {
		r.Results = append(r.Results, pools[i].result())
	}
	return r, nil
}

// ready checks everything before something runs.
func ready(s Scenario, trials int, c []Contender) error {
	if err := s.Validate(); err != nil {
		return err
	}
	switch {
	case trials < 1 || trials > 1_000_000:
		return &ConfigError{"trials", trials, "must be from 1 to a million"}
	case len(c) == 0:
		return &ConfigError{"contenders", "none", "there must be one at least"}
	}
	names := map[string]bool{}
	for i, one := range c {
		switch {
		case one.Name == "":
			return &ConfigError{fmt.Sprintf("Contender[%d].Name", i), `""`, "must not be empty"}
		case names[one.Name]:
			return &ConfigError{fmt.Sprintf("Contender[%d].Name", i), fmt.Sprintf("%q", one.Name), "must not be that of another"}
		}
		if one.Timeout < 0 {
			return &ConfigError{fmt.Sprintf("Contender[%d].Timeout", i), one.Timeout, notNegative}
		}
		names[one.Name] = true
		// Policies of one kind: the first client's tells for all.
		draws := newStream(0, forClient, 0)
		client := Client{Rand: draws.float}
		if err := s.ends(one.Name, one.policy(client)); err != nil {
			return err
		}
		if _, layered := s.Server.(Layers); layered {
			if err := s.ends(one.Name+" (between the layers)", one.inner(client)); err != nil {
				return err
			}
		}
	}
	return nil
}

func trialSeed(seed uint64, trial int) uint64 {
	s := newStream(seed, forTrial, uint64(trial))
	return s.pcg.Uint64()
}

// simulate runs one trial of one contender.
func simulate(ctx context.Context, s *Scenario, c *Contender, seed uint64, enough int) (*outcome, error) {
	w := newWorld(s, c, seed)
	w.enough = enough
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	o := w.outcome()
	return o, o.problem
}

// inOrder calls one for 0 … n-1, on as many goroutines as there are processors, and then hands each result to take, in order and
// on this goroutine. It is not far ahead of take, so that few results are held. The first error ends it.
func inOrder[T any](ctx context.Context, n int, one func(context.Context, int) (T, error), take func(int, T)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	workers := min(runtime.GOMAXPROCS(0), n)
	window := make(chan struct{}, 2*workers)
	results := make([]chan result, 2*workers)
	for i := range results {
		results[i] = make(chan result, 1)
	}
	indices := make(chan int)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() {
		defer close(indices)
		for i := range n {
			select {
			case window <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case indices <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for range workers {
		all.Go(func() {
			for i := range indices {
				v, err := one(ctx, i)
				results[i%len(results)] <- result{v, err}
			}
		})
	}
	for i := range n {
		select {
		case r := <-results[i%len(results)]:
			if r.err != nil {
				return r.err
			}
			take(i, r.value)
			<-window
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
