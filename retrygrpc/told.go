package retrygrpc

import (
	"net/http"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// told fills in what the server said about trying again: in the trailer, or else in a RetryInfo. Nothing counts beside the pushback.
func (f *Failure) told(p hint.Parser) {
	if len(f.Trailer) > 0 {
		f.signal, _ = p.Parse(canonical(f.Trailer), httpStatus(f.code()), time.Now())
	}
	if f.signal.HasDelay || f.signal.Retry == throttle.No {
		return
	}
	if d, ok := retryInfo(f.GRPCStatus()); ok {
		f.signal.Delay, f.signal.HasDelay, f.signal.Rule, f.signal.Source = d, true, throttle.AtLeast(), "retryinfo"
	}
}

// canonical is a trailer with the keys that parsers of HTTP headers look for.
func canonical(md metadata.MD) http.Header {
	h := make(http.Header, len(md))
	for key, values := range md {
		h[http.CanonicalHeaderKey(key)] = values
	}
	return h
}

// httpStatus is the status that a parser of HTTP headers is to assume.
func httpStatus(c codes.Code) int {
	switch c {
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.Unavailable:
		return http.StatusServiceUnavailable
	}
	return 0
}

// retryInfo returns the longest wait of the google.rpc.RetryInfo among a status's details.
func retryInfo(s *status.Status) (wait time.Duration, ok bool) {
	for _, detail := range s.Proto().GetDetails() {
		info := new(errdetails.RetryInfo)
		if !detail.MessageIs(info) || detail.UnmarshalTo(info) != nil || info.GetRetryDelay().CheckValid() != nil {
			continue
		}
		if d := info.GetRetryDelay().AsDuration(); d >= wait {
			wait, ok = d, true
		}
	}
	return wait, ok
}
