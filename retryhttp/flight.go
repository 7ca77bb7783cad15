package retryhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/throttle"
)

// flight is one request on its way: what is known of it, and of its attempt that is running or was the last. It is the
// value of the call that makes the attempts, so that the hooks of a shared policy find all facts in it, and its
// context.
type flight struct {
	context.Context // the request's

	t       *Transport
	request *http.Request // the caller's: only read
	body    *source       // the request's body, if it cannot be had anew
	passed  bool          // the request's body is Base's to close
	safe    bool          // it may be sent again though the server may have seen it
	key     string        // generated Idempotency-Key
	id      string        // of the call, for attempt headers
	keys    throttle.Throttle

	number   int
	attempt  context.Context // the attempt's; the flight itself if that has none
	probe    *probe
	first    probe
	response *http.Response    // nil: none, or thrown away
	failure  *Failure          // of the last attempt that failed
	unknown  bool              // what became of an attempt before this one
	detour   detour            // from the connections of earlier attempts
	kept     keptBody          // the body of response, if it is returned
	counted  *http.Request     // that of the response that is returned, with f as its context
	cookies  []*http.Cookie    // the Jar's at the first attempt
	fetch    *fetch            // it is part of one; nil: none
	hops     int               // flights before it in the same attempt
	err      error             // of its attempt, if it is part of a fetch
	settled  *throttle.Outcome // the judgement, where that was made already
	unready  bool              // the attempt was not made for want of a request to send
	landed   bool              // the call is over, without a panic
}

// Value finds the flight itself, beside what the request's context has.
func (f *flight) Value(key any) any {
	if key == (flightKey{}) {
		return f
	}
	return f.Context.Value(key)
}

// begin works out what holds for all attempts.
func (f *flight) begin() {
	t, r := f.t, f.request
	f.safe = t.idempotent(r)
	if t.IdempotencyKey != nil && !f.safe && !keyed(r) {
		f.key = t.IdempotencyKey(r)
		f.safe = f.key != ""
	}
	if hasBody(r) && r.GetBody == nil {
		f.body = &source{body: r.Body, limit: t.BufferBody}
	}
	if t.AttemptHeaders != nil {
		f.id = newID()
	}
	if t.Gate != nil && t.Keys != nil {
		f.keys = t.Gate.For(t.Keys(r, nil)...)
	}
}

// try makes one attempt.
func (f *flight) try(ctx context.Context) (*flight, error) {
	f.number++
	f.attempt = ctx
	if f.number == 1 {
		f.probe = &f.first
	} else {
		if f.failure.HTTPStatusCode() == http.StatusMisdirectedRequest {
			f.leaveMisdirected()
		}
		f.probe = new(probe) // what is left of the attempt before may still call the hooks of its own
	}
	f.unready = true
	r, err := f.prepare()
	if err != nil {
		if f.failure != nil {
			err = fmt.Errorf("%w (after: %w)", err, f.failure)
		}
		return f, err
	}
	f.unready, f.passed = false, true
	response, err := f.send(r)
	if err != nil && response != nil { // against the contract; the error counts, as in http.Client
		f.t.shut(response.Body)
		response = nil
	}
	if errtree.IsNil(err) { // a nil pointer too
		err = nil
	}
	if response != nil {
		response.Request = f.request // as Base would have it: ours is a copy with a context that ends
		if response.Body == nil {
			response.Body = http.NoBody
		}
	}
	f.response = response
	f.storeCookies()
	return f, err
}

// send makes the attempt on a connection that is not one of those that let earlier ones down.
func (f *flight) send(r *http.Request) (response *http.Response, err error) {
	base := f.t.base()
	if pool, ok := base.(*http.Transport); ok && f.detour.apart {
		response, err = f.probe.apart(pool, r)
	} else {
		response, err = base.RoundTrip(r)
	}
	if err != nil {
		f.leaveSilent(err)
	}
	return response, err
}

// prepare makes the request of one attempt.
func (f *flight) prepare() (r *http.Request, err error) {
	if canceled(f.request) {
		return nil, errCanceled
	}
	f.watch()
	ctx := f.probe.attach(f.attempt, !f.safe)
	if t := f.t; t.AttemptHeaders != nil || t.Sign != nil || t.Jar != nil || f.key != "" {
		r = f.request.Clone(ctx)
		r.Trailer = f.request.Trailer // which the caller may fill in while the body is read
	} else {
		r = f.request.WithContext(ctx) // a RoundTripper changes neither header nor URL
	}
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	r.Close = r.Close || f.detour.close
	if err := f.fill(r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBody, err)
	}
	made, ready := r, false
	defer func() {
		if !ready && f.number > 1 && f.fetch == nil {
			closeBody(made.Body) // of this attempt alone
		}
	}()
	if f.key != "" {
		r.Header.Set(idempotencyKey, f.key)
	}
	if f.t.Jar != nil {
		f.sendCookies(r)
	}
	if f.t.AttemptHeaders != nil {
		f.t.AttemptHeaders(r.Header, f.facts())
	}
	if f.t.Sign != nil {
		if err := f.t.Sign(r); err != nil {
			return nil, err
		}
	}
	ready = true
	return r, nil
}

// fill gives the request of an attempt its body.
func (f *flight) fill(r *http.Request) error {
	switch {
	case !hasBody(r):
	case f.body != nil:
		r.Body = f.body.lease()
		if f.t.BufferBody > 0 {
			r.GetBody = f.body.again
		}
	case f.number > 1 && f.fetch == nil:
		body, err := r.GetBody()
		if err != nil {
			return err
		}
		if body == nil {
			return errNoBody
		}
		r.Body = body
	}
	return nil
}

// repeatable reports whether the request's body can be sent again.
func (f *flight) repeatable() bool {
	if f.fetch != nil {
		f = &f.fetch.whole
	}
	return f.body == nil || f.body.repeatable()
}

// ownContext reports whether the attempt has a context of its own, which may end before the call's.
func (f *flight) ownContext() bool { return f.attempt != context.Context(f) }

// expired reports whether the attempt's context has ended, and not the call's.
func (f *flight) expired() bool { return f.ownContext() && f.attempt.Err() != nil && f.Err() == nil }

// result is what RoundTrip returns.
func (f *flight) result(err error) (*http.Response, error) {
	f.landed = true
	if f.response == nil {
		return nil, surface(err)
	}
	if f.t.ErrorOnExhausted {
		if gaveUp, ok := err.(*retry.Error); ok && !errors.Is(gaveUp.Reason, retry.ErrNotRetryable) {
			f.retain()
			return nil, surface(err)
		}
	}
	f.count()
	return f.response, nil
}

// end closes what nobody else will close.
func (f *flight) end() {
	if f.response != nil && !f.landed {
		f.t.shut(f.response.Body)
	}
	switch {
	case f.body != nil:
		f.body.end(f.unready || f.number == 0)
	case !f.passed:
		closeBody(f.request.Body)
	}
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

func closeBody(body io.ReadCloser) {
	if body != nil {
		_ = body.Close()
	}
}

// canceled reports whether the channel of Request.Cancel was closed. It is deprecated, but net/http heeds it.
func canceled(r *http.Request) bool {
	select {
	case <-r.Cancel: //lint:ignore SA1019 requests may still have one
		return true
	default:
		return false
	}
}
