package retryhttp

import (
	"net/http"
	"strconv"
	"time"

	"github.com/seed-89b3229b/retry"
)

// Attempt is an attempt's place in its call, for AttemptHeaders.
type Attempt struct {
	// Number counts from 1.
	Number int
	// Max is how many attempts there may be; 0: no limit.
	Max int
	// ID is random, and the same for all attempts of the call.
	ID string
	// Deadline is when the attempt's context ends; zero: never.
	Deadline time.Time
}

// facts are those of the attempt that is being prepared. Its policy has WithAttemptInfo.
func (f *flight) facts() Attempt {
	a := Attempt{Number: f.number, ID: f.id}
	if info, ok := retry.AttemptFrom(f.attempt); ok {
		a.Max = info.Max
	}
	a.Deadline, _ = f.attempt.Deadline()
	return a
}

// AWSHeaders writes an attempt as the SDKs of AWS do: Amz-Sdk-Invocation-Id, and
// Amz-Sdk-Request: ttl=20060102T150405Z; attempt=1; max=5, without ttl or max where there is none. For
// Transport.AttemptHeaders; with a nil h it does nothing.
func AWSHeaders(h http.Header, a Attempt) {
	if h == nil {
		return
	}
	text := "attempt=" + strconv.Itoa(a.Number)
	if !a.Deadline.IsZero() {
		text = "ttl=" + a.Deadline.UTC().Format("20060102T150405Z") + "; " + text
	}
	if a.Max > 0 {
		text += "; max=" + strconv.Itoa(a.Max)
	}
	h.Set("Amz-Sdk-Invocation-Id", a.ID)
	h.Set("Amz-Sdk-Request", text)
}

// GRPCHeaders writes how many attempts there were before as gRPC does: Grpc-Previous-Rpc-Attempts, absent from the
// first. For Transport.AttemptHeaders; with a nil h it does nothing. Source: gRFC A6.
func GRPCHeaders(h http.Header, a Attempt) {
	if h != nil && a.Number > 1 {
		h.Set("Grpc-Previous-Rpc-Attempts", strconv.Itoa(a.Number-1))
	}
}
