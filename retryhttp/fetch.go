package retryhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// Fetch sends a request, looks at the status, and has read take the body, all within the attempt: a body that breaks off is a
// failed attempt like one without an answer, and the whole is repeated where that is safe. It returns what read returned.
//
// An answer from 200 to 299 is put to read, unless Transport.Statuses makes it a failure; after any other the call fails.
// What read leaves of the body is drained, and the body closed. If the body broke off (or read's error is an
// io.ErrUnexpectedEOF, as of a decoder), that is worth another attempt; any other error of read is its own, and ends the
// call unless a condition of the policy says Retry. The policy's attempt timeout covers reading, and so does the client's
// Timeout, which limits one attempt here: the request's context limits the whole.
//
// A nil client is http.DefaultClient. If its Transport is a *Transport, all of that is in force, its policy included, and
// its attempts and those of Fetch are the same: nothing is multiplied. Any other is used as the Base of a zero Transport,
// and what retries by itself below that makes one attempt each. Options are added to the policy; a Policy in the first place
// replaces it. Each attempt goes through the client, with its cookies and redirects, from the first request of them on: the
// throttles and the budget are those of that request's host, and what was redirected is repeated only if that request may
// be.
//
// Errors: a *Failure where the last attempt was not worth another, with the beginning of the answer's body in memory
// (Transport.DrainBytes); else a *retry.Error around one; a *retry.ConfigError before anything is sent. Not safe for
// concurrent use of the same request.
func Fetch[T any](client *http.Client, r *http.Request, read func(*http.Response) (T, error), opts ...retry.Option) (T, error) {
	var v, none T
	s := &fetch{}
	if read != nil {
		s.read = func(response *http.Response) (fault, error) {
			var err error
			v, err = read(response)
			return ofReader, err
		}
	}
	if err := s.run(client, r, opts); err != nil {
		return none, err
	}
	return v, nil
}

// fetch is a request whose answers are read within the attempts. An attempt is one call of the client, which makes a flight
// for the request and for each that redirects make of it.
type fetch struct {
	whole    flight // what holds for all attempts, and the context of the call
	client   *http.Client
	override *retry.Policy               // of the caller's context; nil: none
	shape    func(r *http.Request) error // prepares an attempt's request; nil: there is nothing to do
	takes    func(code int) bool         // statuses besides 2xx that are put to read; nil: none
	read     func(*http.Response) (fault, error)
	stall    *stall // nil: none

	head    *flight // of the attempt, its first
	last    *flight // of the attempt, its last
	hops    int     // flights of the attempt
	sending bool    // what the client sends now is of the attempt
}

// fault says whose an error of reading is.
type fault uint8

const (
	ofReader fault = iota // unless the body broke off
	ofAnswer              // another may be better
	ofCaller              // no further attempt can change it, and no condition is asked
)

func (s *fetch) run(client *http.Client, r *http.Request, opts []retry.Option) error {
	switch {
	case r == nil:
		return &retry.ConfigError{Option: "request", Problem: "must not be nil"}
	case s.read == nil:
		return refuse(r, &retry.ConfigError{Option: "read", Problem: "must not be nil"})
	case client == nil:
		client = http.DefaultClient
	}
	t, ok := client.Transport.(*Transport)
	if !ok {
		own := *client
		t = &Transport{Base: client.Transport}
		own.Transport = t
		client = &own
	}
	s.client = client
	f := &s.whole
	f.Context, f.t, f.request = r.Context(), t, r
	defer s.end()
	s.override, _ = overrideOf(r.Context())
	policy, err := t.fetchPolicy(r, s.override, opts)
	if err != nil {
		return err
	}
	f.begin()
	_, err = retry.Do(f, s.attempt, policy)
	f.landed = true
	return err
}

// end closes what a panic has left open, and the request's body.
func (s *fetch) end() {
	if f := s.last; f != nil && !s.whole.landed {
		if f.response != nil {
			f.t.shut(f.response.Body)
		}
		f.release()
	}
	s.whole.end()
}

// attempt makes one attempt, reading included. The flight that it returns is the one to be judged.
func (s *fetch) attempt(ctx context.Context) (*flight, error) {
	whole := &s.whole
	whole.number++
	if s.last != nil {
		whole.unknown = whole.unknown || s.last.unknown
	}
	whole.attempt, whole.unready = ctx, true
	s.hops, s.last = 0, &flight{Context: whole.Context, t: whole.t, request: whole.request, fetch: s, attempt: ctx, unready: true}
	if s.stall != nil {
		var cancel context.CancelFunc
		ctx, cancel = s.stall.begin(ctx)
		defer func() {
			if f := s.last; f.response != nil {
				f.kept.release = cancel // its body is still to be drained
			} else {
				cancel()
			}
		}()
	}
	ctx = context.WithValue(retry.ContextWithoutRetry(ctx), overrideKey{}, s)
	r := whole.request.Clone(ctx) // a client with a Jar adds to the fields
	r.Trailer = whole.request.Trailer
	if s.shape != nil {
		if err := s.shape(r); err != nil {
			return s.last, err
		}
	}
	if err := whole.fill(r); err != nil {
		return s.last, fmt.Errorf("%w: %w", ErrBody, err)
	}
	whole.unready, whole.passed = false, true
	s.sending = true
	response, err := s.client.Do(r)
	s.sending = false
	s.stall.rest()
	f := s.last
	switch {
	case err != nil && f.err == nil: // the client's own word, such as of a redirect
		f.response, f.settled = nil, &throttle.Outcome{Err: err, Decided: throttle.No}
		return f, err
	case err != nil:
		if s.stall.fired() {
			err = errStalled
		}
		f.response = nil
		return f, err
	}
	f.response = response
	if f.failing() {
		return f, nil
	}
	return f, s.take(f)
}

// take has the answer read, and judges that.
func (s *fetch) take(f *flight) error {
	response := f.response
	body := &watchedBody{ReadCloser: response.Body, stall: s.stall}
	response.Body = body
	defer func() {
		f.response = nil
		if body.err != nil || body.ReadCloser == http.NoBody {
			f.t.shut(response.Body)
			return
		}
		f.t.drain(response, io.Discard)
	}()
	whose, err := s.read(response)
	if err == nil {
		f.settled = &throttle.Outcome{}
		return nil
	}
	if body.err != nil && !errors.Is(err, body.err) {
		err = fmt.Errorf("%w: %w", err, body.err)
	}
	if whose == ofReader && (body.err != nil || errors.Is(err, io.ErrUnexpectedEOF)) {
		whose = ofAnswer
	}
	f.settled = f.broke(err, whose)
	return err
}
