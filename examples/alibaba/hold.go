package main

import (
	"context"
	"fmt"

	"github.com/seed-89b3229b/retry"
)

// call makes a call that is served at once.
func (s *stage) call(c client, action string) error {
	err := c.call(s.ctx, action)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

// hold begins n calls, one after another, each of which has to wait, and returns when they do. The function that it
// returns waits for them.
func (s *stage) hold(c client, action string, n int) (wait func() error) {
	ended := make(chan error, n)
	for range n {
		waits, done := make(chan struct{}), make(chan struct{})
		go func() {
			ended <- c.call(s.ctx, action, retry.WithObserver(&witness{stage: s, action: action, waits: waits}))
			close(done)
		}()
		select {
		case <-waits:
		case <-done: // it should have waited; verify says so
		}
	}
	return func() error {
		for range n {
			if err := <-ended; err != nil {
				return fmt.Errorf("%s: %w", action, err)
			}
		}
		return nil
	}
}

// witness says when its call waits.
type witness struct {
	stage  *stage
	action string
	waits  chan struct{} // closed at the first wait
	paused bool
}

func (w *witness) Start(ctx context.Context, _ retry.Call) (context.Context, retry.Observation) {
	return ctx, w
}

func (w *witness) Pause(_ context.Context, p retry.Pause) {
	if w.paused {
		return
	}
	w.paused = true
	if p.Before == 1 {
		w.stage.say("%s is held back for %.1fs without a request", w.action, p.Delay.Seconds())
	} else {
		w.stage.say("%s was turned away, and waits for %.1fs", w.action, p.Delay.Seconds())
	}
	close(w.waits)
}

func (w *witness) Attempt(ctx context.Context, _ retry.AttemptStart) context.Context { return ctx }
func (w *witness) AttemptDone(context.Context, retry.Event)                          {}
func (w *witness) Done(context.Context, retry.Summary)                               {}
