package alibaba

import (
	"net/http"
	"strconv"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// Error is an answer that is a failure. condition.Alibaba reads its Status and Code, and the executor its Signal. It is a
// value to read: safe for concurrent use while nobody writes to it.
type Error struct {
	// Status is the answer's HTTP status.
	Status int
	// Code and Message are those of its body, such as "Throttling.User".
	Code, Message string
	// RequestID is what the vendor's support asks for.
	RequestID string
	// Signal is what its headers said about quotas.
	Signal throttle.Signal
}

// ErrorFrom returns the Error of an answer that the caller has found to be a failure. The body is the caller's, and so are
// code and message, as the body has them. now is the time of the answer; it matters where a quota names the end of its
// window by the clock. A nil answer is an Error without Status. ErrorFrom never returns nil.
func ErrorFrom(answer *http.Response, code, message string, now time.Time) *Error {
	e := &Error{Code: code, Message: message}
	if answer != nil {
		e.Status = answer.StatusCode
		e.RequestID = answer.Header.Get("x-acs-request-id")
		e.Signal, _ = hint.Alibaba().Parse(answer.Header, answer.StatusCode, now)
	}
	return e
}

// Error returns the text, such as `alibaba: 429 Throttling.User: Request was denied (request 4F1B)`.
func (e *Error) Error() string {
	if e == nil {
		return "alibaba: no error"
	}
	text := "alibaba:"
	if e.Status != 0 {
		text += " " + strconv.Itoa(e.Status)
	}
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Status == 0 && e.Code == "" {
		text += " no answer"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// HTTPStatusCode returns Status, 0 for a nil Error.
func (e *Error) HTTPStatusCode() int {
	if e == nil {
		return 0
	}
	return e.Status
}

// ErrorCode returns Code, "" for a nil Error.
func (e *Error) ErrorCode() string {
	if e == nil {
		return ""
	}
	return e.Code
}

// ErrorType returns Code, or the status as text where there is none, for telemetry (error.type); "" for a nil Error.
func (e *Error) ErrorType() string {
	switch {
	case e == nil:
		return ""
	case e.Code == "" && e.Status != 0:
		return strconv.Itoa(e.Status)
	}
	return e.Code
}

// ThrottleSignal returns Signal, and whether it says anything.
func (e *Error) ThrottleSignal() (s throttle.Signal, ok bool) {
	if e == nil {
		return s, false
	}
	return e.Signal, !e.Signal.IsZero()
}
