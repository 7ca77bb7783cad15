package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
)

const (
	batchSize   = 25
	maxAttempts = 4 // from the last progress on, that one included
)

// policy is made once and shared by all calls. Where many clients write at once, their waits should be drawn:
// strategy.EqualJitter in place of strategy.Exponential.
var policy = retry.MustNew(
	retry.WithMaxAttempts(maxAttempts),
	retry.WithAttemptTimeout(5*time.Second),
	retry.WithStrategy(strategy.Exponential{Base: 10 * time.Millisecond, Max: time.Second}),
	retry.WithCondition(condition.Only(
		condition.As[incomplete](),
		condition.Network(),
		condition.Timeout(),
		condition.HTTPStatus(429, 502, 503, 504),
	)),
)

type item struct {
	ID    string `json:"id"`
	Price int    `json:"price"`
}

// answer is what the server says about a batch. What it does not mention is written.
type answer struct {
	Unprocessed []string          `json:"unprocessed"` // it had no room for these
	Rejected    map[string]string `json:"rejected"`    // these will not become better; why
}

// incomplete is the error for a batch of which so many items are left.
type incomplete int

func (n incomplete) Error() string { return fmt.Sprintf("%d left", int(n)) }

// outcome is what became of items.
type outcome struct {
	written  int
	rejected map[string]string
	left     []item // neither: the server had no room for them, or nothing was heard of them
}

// put sends one batch, once.
type put func(context.Context, []item) (answer, error)

// write writes items, at most batchSize of them at a time. It returns what became of them, and if any are left the first
// reason for it.
func (p put) write(ctx context.Context, items []item, opts ...retry.Option) (all outcome, err error) {
	all.rejected = map[string]string{}
	for batch := range slices.Chunk(items, batchSize) {
		left, failed := p.writeBatch(ctx, batch, all.rejected, opts...)
		all.left = append(all.left, left...)
		if err == nil {
			err = failed
		}
	}
	all.written = len(items) - len(all.left) - len(all.rejected)
	return all, err
}

// writeBatch sends a batch, then what is left of it, and so on until nothing is. Progress makes the attempts and their waits
// begin anew, so a batch may take many attempts, but not many in a row that get nothing done.
func (p put) writeBatch(ctx context.Context, batch []item, rejected map[string]string, opts ...retry.Option) (left []item, err error) {
	left = slices.Clone(batch)
	err = retry.Run(ctx, func(ctx context.Context) error {
		answer, err := p(ctx, left)
		if err != nil {
			return err // nothing is known of any item: all are sent again, and writing an item twice does no harm
		}
		before := len(left)
		left = slices.DeleteFunc(left, func(i item) bool {
			if why, ok := answer.Rejected[i.ID]; ok {
				rejected[i.ID] = why
				return true
			}
			return !slices.Contains(answer.Unprocessed, i.ID)
		})
		switch {
		case len(left) == 0:
			return nil
		case len(left) < before:
			return retry.Restart(incomplete(len(left)))
		}
		return incomplete(len(left))
	}, append([]retry.Option{policy}, opts...)...)
	return left, err
}

// putTo returns a put by HTTP.
func putTo(address string) put {
	return func(ctx context.Context, items []item) (a answer, err error) {
		body, err := json.Marshal(items)
		if err != nil {
			return a, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, address, bytes.NewReader(body))
		if err != nil {
			return a, err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return a, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return a, statusError(resp.StatusCode)
		}
		err = json.NewDecoder(resp.Body).Decode(&a)
		return a, err
	}
}

// statusError is an HTTP status. condition.HTTPStatus reads it by its method.
type statusError int

func (code statusError) HTTPStatusCode() int { return int(code) }
func (code statusError) Error() string {
	return fmt.Sprintf("%d %s", int(code), http.StatusText(int(code)))
}
