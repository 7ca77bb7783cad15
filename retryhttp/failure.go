package retryhttp

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/throttle"
)

// ErrBody is matched by the error of a request that was not sent again because its body could not be: it has no GetBody and
// was read already, or GetBody failed.
var ErrBody = errors.New("retryhttp: request body cannot be sent again")

var (
	errCanceled   = errors.New("retryhttp: Request.Cancel was closed")
	errNoResponse = errors.New("retryhttp: Base returned neither a response nor an error")
	errNoBody     = errors.New("GetBody returned nil")
)

// Failure is how one attempt failed: by an error, or by an answer. It is what the policy's conditions, strategy and
// observers see, and what errors.As finds in the *retry.Error of a call that gave up. It is read only, but for the body
// of an answer: a condition may read of it if it puts what it read back, by setting Response.Body to a body that closes
// the old one. All methods answer for a nil *Failure too.
type Failure struct {
	// Request is the caller's.
	Request *http.Request
	// Response is the answer; nil if there was none. Its body is open while conditions are asked.
	Response *http.Response
	// Sent says that the server may have seen the request. It is false if no header was written, and if the server said
	// that it did nothing (HTTP/2's REFUSED_STREAM).
	Sent bool
	// Err is the error of Base; nil if there was an answer.
	Err error

	signal  throttle.Signal
	verdict condition.Verdict // where the policy's conditions leave it open
	veto    string            // why they are not asked
}

// Error returns Err's text, or what was answered, such as `503 Service Unavailable (GET example.com/orders)`: no query, no
// user information.
func (f *Failure) Error() string {
	switch {
	case f == nil:
		return "retryhttp: no failure"
	case f.Err != nil:
		return f.Err.Error()
	case f.Response == nil:
		return "retryhttp: no response"
	}
	text := strconv.Itoa(f.Response.StatusCode)
	if meaning := http.StatusText(f.Response.StatusCode); meaning != "" {
		text += " " + meaning
	}
	if f.Request == nil || f.Request.URL == nil {
		return text
	}
	return text + " (" + f.method() + " " + f.Request.URL.Host + pathOf(f.Request.URL) + ")"
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error {
	if f == nil {
		return nil
	}
	return f.Err
}

// HTTPStatusCode returns the status of the answer; 0 without one.
func (f *Failure) HTTPStatusCode() int {
	if f == nil || f.Response == nil {
		return 0
	}
	return f.Response.StatusCode
}

// ErrorType returns the answer's status as text, such as "503", for telemetry (error.type, as the conventions of
// OpenTelemetry have it for HTTP); empty without an answer: then Err tells.
func (f *Failure) ErrorType() string {
	if status := f.HTTPStatusCode(); status != 0 {
		return strconv.Itoa(status)
	}
	return ""
}

// SafeToRetry reports whether the server has not seen the request, so that condition.NotSent says Retry.
func (f *Failure) SafeToRetry() bool { return f != nil && !f.Sent }

// Timeout reports whether Err is one for lack of time.
func (f *Failure) Timeout() bool { return f != nil && errtree.TimedOut(f.Err) }

// ThrottleSignal returns what the answer said about trying again; ok false: nothing.
func (f *Failure) ThrottleSignal() (s throttle.Signal, ok bool) {
	if f == nil {
		return s, false
	}
	return f.signal, !f.signal.IsZero()
}

// RetryAfter returns the wait that the answer asked for; negative if it did not.
func (f *Failure) RetryAfter() time.Duration {
	if f == nil || !f.signal.HasDelay {
		return -1
	}
	return f.signal.Delay
}
