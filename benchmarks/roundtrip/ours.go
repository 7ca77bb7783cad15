package roundtrip

import (
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func ours() *Client {
	c := &Client{Name: "retryhttp", Module: "github.com/seed-89b3229b/retry", Hints: true, New: oursNew}
	c.Ways = []Way{plain(c), timed(c), {"attempts, gate for each host", func(base http.RoundTripper) (http.RoundTripper, error) {
		t := retryhttp.NewTransport(base, retry.WithMaxAttempts(5))
		t.Gate = new(throttle.Gate)
		return t, t.Validate()
	}}}
	return c
}

func oursNew(s Settings) (http.RoundTripper, error) {
	t := retryhttp.NewTransport(s.Base,
		retry.WithMaxAttempts(s.Attempts),
		retry.WithStrategy(strategy.Constant{Delay: s.Delay}),
		retry.WithAttemptTimeout(s.AttemptTimeout),
	)
	if s.Patient {
		t.DrainTime = time.Minute
	}
	return t, t.Validate()
}
