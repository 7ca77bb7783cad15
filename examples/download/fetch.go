package main

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/strategy"
)

// policy is made once and shared by all downloads. An attempt that ran for ten seconds was worth something: those before it
// count no more.
var policy = retry.MustNew(
	retry.WithMaxAttempts(20),
	retry.WithResetAfter(10*time.Second),
	retry.WithStrategy(strategy.EqualJitter{Base: 50 * time.Millisecond, Max: 5 * time.Second}),
)

// stall is how long a server may say nothing. There is no limit on a whole attempt, which takes as long as the file is long.
const stall = time.Second

// fetch writes what is at url to a file, which it makes, and returns how long that is.
func fetch(ctx context.Context, client *http.Client, url, name string, progress func(retryhttp.Progress), opts ...retry.Option) (n int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr // what was written is in the file only now
		}
	}()
	return retryhttp.Download{
		Client:   client,
		Resume:   true,
		Stall:    stall,
		Progress: progress,
	}.To(file, request, append([]retry.Option{policy}, opts...)...)
}
