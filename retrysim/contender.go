package retrysim

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// Contender is a way to retry. All contenders of a trial meet the same calls: the same arrivals and, attempt by attempt, the same
// network and the same service times.
type Contender struct {
	Name string
	// Policy makes the policy of a client. It is asked anew in every trial, so that budgets and gates begin afresh: make them
	// inside of it. Nil, and a nil answer, is the default policy. It may be called from several goroutines at a time.
	Policy func(Client) *retry.Policy
	// Shared makes Policy be asked once a trial, for all clients. False: once for each client.
	Shared bool
	// Timeout is how long its clients wait for the answer to an attempt. 0: the scenario's Timeout.
	Timeout time.Duration
	// Inner makes the policies with which the services of Layers call each other. Nil: Policy, asked once for each layer.
	Inner func(Client) *retry.Policy
}

// Fleet is a Contender whose clients share one policy, as the goroutines of one process do.
func Fleet(name string, policy func(Client) *retry.Policy) Contender {
	return Contender{Name: name, Policy: policy, Shared: true}
}

// Each is a Contender whose clients have a policy each, as processes on different machines do: budgets and gates are each one's own.
func Each(name string, policy func(Client) *retry.Policy) Contender {
	return Contender{Name: name, Policy: policy}
}

// Client is one of those for whom a policy is made.
type Client struct {
	// Index counts clients, and layers, from 0.
	Index int
	// Rand draws from [0, 1), for throttles that want random numbers (Gate.Rand, Adaptive.Rand): with a source of their own the
	// same seed would not give the same result.
	Rand func() float64

	watch func(throttle.Budget)
}

// Watch reports b's level in the series (Step.Budget), and has Run see to it that nothing is left in flight in it. It returns b.
func (c Client) Watch(b throttle.Budget) throttle.Budget {
	if c.watch != nil && b != nil {
		c.watch(b)
	}
	return b
}

func (c Contender) policy(client Client) *retry.Policy { return ask(c.Policy, client) }

func (c Contender) inner(client Client) *retry.Policy {
	if c.Inner == nil {
		return ask(c.Policy, client)
	}
	return ask(c.Inner, client)
}

func ask(policy func(Client) *retry.Policy, client Client) *retry.Policy {
	if policy == nil {
		return nil
	}
	return policy(client)
}

// level is how many retries a budget would pay for, as far as it can tell.
func level(b throttle.Budget, now time.Time) float64 {
	switch b := b.(type) {
	case *throttle.TokenBudget:
		return float64(b.Tokens())
	case *throttle.FailureBudget:
		return b.Tokens()
	case *throttle.RatioBudget:
		return float64(b.Balance(now))
	case *throttle.InFlightBudget:
		return float64(-b.Retrying())
	}
	return 0
}

// probe is how many attempts a call makes at most in the search for one that does not end.
const probe = 10_000

// ends returns a *ConfigError if calls of this scenario may go on for ever under p: it does not limit them, nor does the scenario,
// and no attempt is sure to have a chance. A Flow of a fresh policy finds out, with failures of a second each.
func (s Scenario) ends(name string, p *retry.Policy) error {
	if s.Deadline > 0 || s.Drain > 0 {
		return nil
	}
	switch server := s.Server.(type) {
	case Row:
		if s.Timeout == 0 && s.faultsEnd() <= s.Length {
			return nil // one of those who write succeeds
		}
	case Chance:
		if server.P <= 0.999 && s.Timeout == 0 && s.faultsEnd() <= s.Length {
			return nil
		}
	}
	ctx, now := context.Background(), epoch
	flow := p.Begin(now, time.Time{}, func() float64 { return 0.5 })
	step := flow.Next(ctx, now)
	for attempts := 0; step.Action != retry.Done; {
		if step.Action == retry.Go {
			if attempts++; attempts > probe {
				flow.Abort(ctx, now, throttle.Canceled)
				return &ConfigError{"Contender", fmt.Sprintf("%q", name),
					"its calls may never end: it does not limit attempts or time, and the scenario has no Deadline and no Drain"}
			}
			now = now.Add(time.Second)
			step = flow.Report(ctx, now, throttle.Outcome{Err: ErrServer, Class: throttle.Transient})
			continue
		}
		now = now.Add(step.Delay)
		step = flow.Next(ctx, now)
	}
	return nil
}

func singleAttempt(Client) *retry.Policy { return retry.MustNew(retry.WithMaxAttempts(1)) }
