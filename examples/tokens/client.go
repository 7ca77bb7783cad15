package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

type client struct {
	http   *http.Client
	url    string
	tokens *pool.Pool[string]
	policy *retry.Policy
	clk    retry.Clock
}

func newClient(url string, tokens *pool.Pool[string], attempts int, clk retry.Clock) *client {
	tokens.Classify = judge
	return &client{
		http:   &http.Client{Transport: new(http.Transport)},
		url:    url,
		tokens: tokens,
		clk:    clk,
		policy: retry.MustNew(
			retry.WithThrottle(tokens),
			retry.WithHint(throttle.Ignore()), // a told wait is the token's; the call goes on with another one
			retry.WithMaxAttempts(attempts),
			retry.WithStrategy(strategy.ByThrottled{
				Normal:    strategy.Exponential{Base: 100 * time.Millisecond, Max: 2 * time.Second},
				Throttled: strategy.Constant{}, // at once
			}),
			retry.WithCondition(condition.Only(condition.Network(), condition.HTTPStatus(403, 429, 500, 502, 503))),
			retry.WithClock(clk),
		),
	}
}

// judge says what an outcome means for its token. A refused one is not tried again for ten minutes. 429 needs no word here,
// and other failures are not the token's.
func judge(o throttle.Outcome) throttle.Outcome {
	if errors.Is(o.Err, statusError(http.StatusForbidden)) {
		o.Class = throttle.Throttled
		o.Signal = throttle.Signal{Delay: 10 * time.Minute, HasDelay: true, Source: "forbidden"}
	}
	return o
}

// fetch gets a page, with whatever tokens it takes.
func (c *client) fetch(ctx context.Context, page int) error {
	return retry.Run(ctx, func(ctx context.Context) error {
		return c.fetchOnce(ctx, page, c.tokens.Key(ctx))
	}, c.policy)
}

func (c *client) fetchOnce(ctx context.Context, page int, token string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+strconv.Itoa(page), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	told, _ := hint.Standard().Parse(resp.Header, resp.StatusCode, c.clk.Now())
	return told.Wrap(statusError(resp.StatusCode))
}

// statusError is an HTTP status. condition.HTTPStatus reads it by its method.
type statusError int

func (code statusError) HTTPStatusCode() int { return int(code) }

func (code statusError) Error() string {
	return fmt.Sprintf("%d %s", int(code), http.StatusText(int(code)))
}
