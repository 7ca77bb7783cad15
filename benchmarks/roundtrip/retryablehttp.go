package roundtrip

import (
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

func retryableHTTP() *Client {
	c := &Client{Name: "retryablehttp", Module: "github.com/hashicorp/go-retryablehttp", Hints: true, New: retryableNew}
	c.KeepLast = &Option{"PassthroughErrorHandler", func(s Settings) (http.RoundTripper, error) {
		client := retryableClient(s)
		client.ErrorHandler = retryablehttp.PassthroughErrorHandler
		return client.StandardClient().Transport, nil
	}}
	c.Ways = []Way{plain(c), timed(c)}
	return c
}

func retryableNew(s Settings) (http.RoundTripper, error) {
	return retryableClient(s).StandardClient().Transport, nil
}

func retryableClient(s Settings) *retryablehttp.Client {
	client := retryablehttp.NewClient()
	client.HTTPClient = &http.Client{Transport: s.Base, Timeout: s.AttemptTimeout}
	client.Logger = nil // else every request is written to standard error
	client.RetryMax = s.Attempts - 1
	client.RetryWaitMin, client.RetryWaitMax = s.Delay, s.Delay
	return client
}
