package roundtrip

import (
	"net/http"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
)

func failsafeHTTP() *Client {
	c := &Client{Name: "failsafehttp", Module: "github.com/failsafe-go/failsafe-go", Hints: true}
	c.New = func(s Settings) (http.RoundTripper, error) { return failsafeOver(s, failsafeRetries(s)), nil }
	c.KeepLast = &Option{"ReturnLastFailure", func(s Settings) (http.RoundTripper, error) {
		return failsafeOver(s, failsafeRetries(s).ReturnLastFailure()), nil
	}}
	c.Ways = []Way{plain(c), timed(c)}
	return c
}

func failsafeRetries(s Settings) retrypolicy.Builder[*http.Response] {
	return failsafehttp.NewRetryPolicyBuilder().WithMaxAttempts(s.Attempts).WithDelay(s.Delay)
}

func failsafeOver(s Settings, retries retrypolicy.Builder[*http.Response]) http.RoundTripper {
	policies := []failsafe.Policy[*http.Response]{retries.Build()}
	if s.AttemptTimeout > 0 {
		policies = append(policies, timeout.New[*http.Response](s.AttemptTimeout))
	}
	return failsafehttp.NewRoundTripper(s.Base, policies...)
}
