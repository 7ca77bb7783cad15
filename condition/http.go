package condition

import (
	"net/http"
	"slices"
)

// HTTPStatus returns a Condition for errors that carry one of the given HTTP status codes. It says Throttled for 429
// (the server turned the request away because there were too many), Retry for any other listed code, and is Unknown for a
// code that is not listed and for an error without one. 503 is Retry: it means an outage as often as it means too much
// load. Where the server named a wait, the executor counts any failure as throttled by itself.
//
// The code is the outermost one in the error's tree, the first of joined ones, that is from 100 to 999, read through one
// of the methods
//
//	HTTPStatusCode() int     AWS (smithy-go), retryhttp
//	StatusCode() int         many others
//	HTTPCode() int           Google (gax apierror)
//	GetStatusCode() *int     Alibaba Cloud (darabonba-openapi); nil is no code
//
// or the field StatusCode of Alibaba Cloud's *tea.SDKError, which has no method for it.
//
// A code says nothing about whether the request may be repeated: 500, 502 and 504 leave open what the server did.
//
// It takes a copy of the list, and is safe for concurrent use. No codes and a code below 100 or above 999 match nothing,
// and are a ConfigError. Source of the codes: RFC 9110, RFC 6585.
func HTTPStatus(codes ...int) Condition {
	return &httpStatus{slices.Clone(codes)}
}

type httpStatus struct{ codes []int }

func (c *httpStatus) Check(err error) Verdict {
	status := statusOf(err)
	switch {
	case status == 0 || !slices.Contains(c.codes, status):
		return Unknown
	case status == http.StatusTooManyRequests:
		return Throttled
	}
	return Retry
}

func (c *httpStatus) Validate() error {
	if len(c.codes) == 0 {
		return &ConfigError{Field: "HTTPStatus", Problem: "needs at least one code"}
	}
	for i, code := range c.codes {
		if !isStatus(code) {
			return &ConfigError{Field: at("HTTPStatus", i), Value: code, Problem: "must be from 100 to 999"}
		}
	}
	return nil
}

func isStatus(code int) bool { return code >= 100 && code <= 999 }

// statusOf returns the HTTP status that err carries, 0 if none.
func statusOf(err error) (status int) {
	find(err, func(err error) bool {
		status = ownStatus(err)
		return status != 0
	})
	return status
}

func ownStatus(err error) int {
	if e, ok := err.(interface{ HTTPStatusCode() int }); ok {
		if code := e.HTTPStatusCode(); isStatus(code) {
			return code
		}
	}
	if e, ok := err.(interface{ StatusCode() int }); ok {
		if code := e.StatusCode(); isStatus(code) {
			return code
		}
	}
	if e, ok := err.(interface{ HTTPCode() int }); ok {
		if code := e.HTTPCode(); isStatus(code) {
			return code
		}
	}
	if e, ok := err.(interface{ GetStatusCode() *int }); ok {
		if code := e.GetStatusCode(); code != nil && isStatus(*code) {
			return *code
		}
	}
	if _, code := teaFields(err); isStatus(code) {
		return code
	}
	return 0
}
