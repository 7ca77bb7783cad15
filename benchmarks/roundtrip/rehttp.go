package roundtrip

import (
	"net/http"

	"github.com/PuerkitoBio/rehttp"
)

func rehttpClient() *Client {
	c := &Client{Name: "rehttp", Module: "github.com/PuerkitoBio/rehttp", New: rehttpNew}
	c.Ways = []Way{plain(c), timed(c)}
	return c
}

// rehttpNew uses the functions that the library comes with. What is retried is the user's choice there: this one is that of
// the documentation, and answers of servers that have trouble.
func rehttpNew(s Settings) (http.RoundTripper, error) {
	t := rehttp.NewTransport(s.Base, rehttp.RetryAll(
		rehttp.RetryMaxRetries(s.Attempts-1),
		rehttp.RetryAny(
			rehttp.RetryStatuses(http.StatusTooManyRequests),
			rehttp.RetryStatusInterval(500, 600),
			rehttp.RetryTemporaryErr(),
		),
	), rehttp.ConstDelay(s.Delay))
	t.PerAttemptTimeout = s.AttemptTimeout
	return t, nil
}
