package roundtrip

import (
	"net/http"

	"github.com/ybbus/httpretry"
)

func httpretryClient() *Client {
	c := &Client{Name: "httpretry", Module: "github.com/ybbus/httpretry", New: httpretryNew}
	c.Ways = []Way{plain(c)}
	return c
}

func httpretryNew(s Settings) (http.RoundTripper, error) {
	if s.AttemptTimeout > 0 {
		return nil, ErrAbsent
	}
	client := httpretry.NewCustomClient(&http.Client{Transport: s.Base},
		httpretry.WithMaxRetryCount(s.Attempts-1),
		httpretry.WithBackoffPolicy(httpretry.ConstantBackoff(s.Delay, 0)),
	)
	return client.Transport, nil
}
