package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

const (
	maxAttempts = 4
	whole       = time.Minute // for a URL with all attempts, waits, and its body
)

// newClient returns a client whose requests are repeated where that is safe and promises something. All of them share what
// servers ask for: one that is told to wait holds back the others to the same host.
func newClient(timeout time.Duration) (*http.Client, error) {
	transport := retryhttp.NewTransport(http.DefaultTransport.(*http.Transport).Clone(),
		retry.WithMaxAttempts(maxAttempts),
		retry.WithStrategy(strategy.EqualJitter{Base: 50 * time.Millisecond, Max: 5 * time.Second}),
		retry.WithAttemptTimeout(timeout),
		retry.WithObserver(observer{}),
	)
	transport.Gate = new(throttle.Gate)
	return &http.Client{Transport: transport}, transport.Validate()
}

// fetched is what came of one URL.
type fetched struct {
	url      string
	status   int // 0: no answer
	err      error
	reason   error // why there was no further attempt, if one was worth it
	attempts int
	waited   time.Duration
	bytes    int64

	progress progress
}

// fetchAll fetches all URLs, several at a time, and returns what came of them in their order.
func fetchAll(ctx context.Context, client *http.Client, urls []string, parallel int, p progress) []*fetched {
	all := make([]*fetched, len(urls))
	places := make(chan struct{}, parallel)
	var running sync.WaitGroup
	for i, url := range urls {
		all[i] = &fetched{url: url, progress: p}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			all[i].fetch(ctx, client)
			p.done(all[i])
		})
	}
	running.Wait()
	return all
}

// fetch makes the request and reads the answer to its end. What happens on the way is told to f: the observer finds it in the
// request's context.
func (f *fetched) fetch(ctx context.Context, client *http.Client) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, fetchedKey{}, f), whole)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		f.err = err
		return
	}
	response, err := client.Do(request)
	if err != nil {
		f.err = err
		return
	}
	defer response.Body.Close()
	f.status = response.StatusCode
	f.bytes, f.err = io.Copy(io.Discard, response.Body) // a body that breaks off here is not fetched again
}

type fetchedKey struct{}

// observer is told what happens to every request of the client. Where one is redirected each request counts.
type observer struct{}

func (observer) Start(ctx context.Context, _ retry.Call) (context.Context, retry.Observation) {
	if f, ok := ctx.Value(fetchedKey{}).(*fetched); ok {
		return ctx, f
	}
	return ctx, nil
}

func (f *fetched) Attempt(ctx context.Context, _ retry.AttemptStart) context.Context { return ctx }

func (f *fetched) AttemptDone(_ context.Context, e retry.Event) {
	if e.Retrying {
		f.progress.retrying(f, e)
	}
}

func (f *fetched) Pause(context.Context, retry.Pause) {}

// Done adds up: attempts, and the time that was spent in waits, those for other requests' sake too.
func (f *fetched) Done(_ context.Context, s retry.Summary) {
	f.attempts += s.Attempts
	f.waited += s.TotalDelay
	if f.reason = s.Reason; errors.Is(f.reason, retry.ErrNotRetryable) {
		f.reason = nil
	}
}
