package runcmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// dryRows is how many attempts a dry run shows.
const dryRows = 20

// dryRun shows what a run would be whose attempts all fail at once.
func (s *settings) dryRun(w io.Writer) error {
	policy, err := s.policy()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "policy: %s\nattempt  at  wait\n", s)
	ctx, now := context.Background(), time.Now()
	began, deadline := now, time.Time{}
	if s.deadline > 0 {
		deadline = began.Add(s.deadline)
	}
	flow := policy.Begin(now, deadline, nil)
	step, number := flow.Next(ctx, now), 0
	for step.Action != retry.Done && number < dryRows {
		switch step.Action {
		case retry.Wait:
			now = now.Add(step.Delay)
			step = flow.Next(ctx, now)
		case retry.Go:
			number++
			step = flow.Report(ctx, now, throttle.Outcome{Err: &result{code: 1}, Decided: throttle.Yes})
			fmt.Fprintf(&b, "%7d  %v", number, now.Sub(began).Round(time.Microsecond))
			if step.Action == retry.Wait {
				fmt.Fprintf(&b, "  %v", step.Delay.Round(time.Microsecond))
			}
			b.WriteByte('\n')
		}
	}
	if step.Action == retry.Done {
		fmt.Fprintf(&b, "end: %s\n", reasonOf(step, nil))
	} else {
		flow.Abort(ctx, now, throttle.Skipped)
		b.WriteString("…\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// String is the policy in one line.
func (s *settings) String() string {
	text := fmt.Sprintf("attempts %v, %s", s.config.MaxAttempts, s.waits())
	if s.jitter.Jitter != nil {
		text += ", jitter " + s.jitter.text
	}
	for _, limit := range []struct {
		name string
		d    time.Duration
	}{
		{"max delay", s.config.MaxDelay}, {"max elapsed", s.config.MaxElapsed}, {"deadline", s.deadline}, {"attempt timeout", s.config.AttemptTimeout},
	} {
		if limit.d > 0 {
			text += fmt.Sprintf(", %s %v", limit.name, limit.d)
		}
	}
	return text
}
