package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
)

// policy is the promise that receivers of notifications are given: four attempts of at most ten seconds each, one, five
// and thirty seconds apart.
var policy = retry.MustNew(
	retry.WithName("notify"),
	retry.WithMaxAttempts(4),
	retry.WithAttemptTimeout(10*time.Second),
	retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}}),
	retry.WithCondition(condition.Only(
		condition.Network(),
		condition.Timeout(),
		condition.HTTPStatus(429, 502, 503, 504),
	)),
)

// Notification is what receivers are told.
type Notification struct{ ID, Text string }

// Notifier tells others that something has happened. It is safe for concurrent use.
type Notifier struct {
	post   func(context.Context, Notification) error
	policy *retry.Policy
}

// NewNotifier returns a Notifier that makes single attempts by post, which should heed its context and return a
// StatusError for an answer other than 200. Options change the policy: tests give it a clock.
func NewNotifier(post func(context.Context, Notification) error, opts ...retry.Option) (*Notifier, error) {
	p, err := retry.New(append([]retry.Option{policy}, opts...)...)
	if err != nil {
		return nil, err
	}
	return &Notifier{post, p}, nil
}

// Notify delivers n, by as many attempts as the policy allows.
func (s *Notifier) Notify(ctx context.Context, n Notification) error {
	return retry.Run(ctx, func(ctx context.Context) error { return s.post(ctx, n) }, s.policy)
}

// StatusError is an HTTP status. condition.HTTPStatus reads it by its method.
type StatusError int

// HTTPStatusCode returns the status.
func (code StatusError) HTTPStatusCode() int { return int(code) }

// Error returns the status and its text.
func (code StatusError) Error() string {
	return fmt.Sprintf("%d %s", int(code), http.StatusText(int(code)))
}
