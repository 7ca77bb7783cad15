package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
)

const (
	maxAttempts    = 5
	attemptTimeout = 800 * time.Millisecond
)

// policy is made once and shared by all calls.
var policy = retry.MustNew(
	retry.WithMaxAttempts(maxAttempts),
	retry.WithAttemptTimeout(attemptTimeout),
	retry.WithStrategy(strategy.EqualJitter{Base: 100 * time.Millisecond, Max: 2 * time.Second}),
	retry.WithCondition(condition.Only( // anything else, such as a 404, ends the call at once
		condition.Network(),
		condition.Timeout(),
		condition.HTTPStatus(429, 502, 503, 504),
	)),
)

type order struct {
	ID     int    `json:"id"`
	Status string `json:"status"`
}

// fetch gets the order at the address, by as many attempts as the policy allows. Options change the policy for this call.
func fetch(ctx context.Context, address string, opts ...retry.Option) (order, error) {
	return retry.Do(ctx, func(ctx context.Context) (order, error) {
		return fetchOnce(ctx, address)
	}, append([]retry.Option{policy}, opts...)...)
}

// fetchOnce makes one attempt. ctx is the attempt's own: it ends with the attempt's timeout.
func fetchOnce(ctx context.Context, address string) (o order, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return o, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return o, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return o, statusFailure(resp)
	}
	err = json.NewDecoder(resp.Body).Decode(&o)
	return o, err
}

// statusFailure is the error for an answer other than 200, with the wait that the server asks for if it names one. (32
// bits of seconds fit into a Duration.)
func statusFailure(resp *http.Response) error {
	err := statusError(resp.StatusCode)
	if seconds, parseErr := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 32); parseErr == nil {
		return retry.After(time.Duration(seconds)*time.Second, err)
	}
	return err
}

// statusError is an HTTP status. condition.HTTPStatus reads it by its method.
type statusError int

func (code statusError) HTTPStatusCode() int { return int(code) }

func (code statusError) Error() string {
	return fmt.Sprintf("%d %s", int(code), http.StatusText(int(code)))
}
