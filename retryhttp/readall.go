package retryhttp

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/seed-89b3229b/retry"
)

// ErrTooLarge is matched by the error of a body that is larger than it may be.
var ErrTooLarge = errors.New("retryhttp: response too large")

// ReadAll fetches a body of up to limit bytes, as Fetch has it; a larger one is ErrTooLarge. 0: only an empty body will do;
// negative: a *retry.ConfigError. The limit holds after unpacking, where net/http does that.
func ReadAll(client *http.Client, r *http.Request, limit int64, opts ...retry.Option) ([]byte, error) {
	if limit < 0 {
		return nil, refuse(r, &retry.ConfigError{Option: "limit", Value: limit, Problem: "must not be negative"})
	}
	return Fetch(client, r, func(response *http.Response) ([]byte, error) {
		if response.ContentLength > limit && !bodiless(response) {
			return nil, tooLarge(limit)
		}
		var body io.Reader = response.Body
		if limit < math.MaxInt64 {
			body = io.LimitReader(body, limit+1)
		}
		all, err := io.ReadAll(body)
		if int64(len(all)) > limit {
			return nil, tooLarge(limit)
		}
		return all, err
	}, opts...)
}

// refuse closes the body of a request that is not sent, as http.Client does.
func refuse(r *http.Request, err error) error {
	if r != nil {
		closeBody(r.Body)
	}
	return err
}

func tooLarge(limit int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit) }

// bodiless reports whether an answer's Content-Length is that of a body which was not asked for.
func bodiless(r *http.Response) bool { return r.Request != nil && r.Request.Method == http.MethodHead }
