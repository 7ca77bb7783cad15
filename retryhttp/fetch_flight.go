package retryhttp

import (
	"context"
	"net/http"

	"github.com/seed-89b3229b/retry"
)

// roundTrip makes one flight of an attempt.
func (s *fetch) roundTrip(r *http.Request) (*http.Response, error) {
	whole := &s.whole
	f := &flight{
		Context: whole.Context, t: whole.t, request: r, fetch: s, hops: s.hops,
		safe: whole.safe, id: whole.id, number: whole.number - 1, unknown: whole.unknown,
	}
	if s.hops == 0 {
		if before := s.head; before != nil { // what it knows of its connection
			f.probe, f.detour, f.failure = before.probe, before.detour, before.failure
		}
		s.head = f
	}
	if whole.key != "" && !keyed(r) && !whole.t.idempotent(r) {
		f.key = whole.key // the same for redirects, which are repeated with the whole
	}
	s.hops++
	s.last = f
	defer f.end()
	s.sending = false // what Sign or the Base sends by the same client is no part of it
	_, f.err = f.try(r.Context())
	s.sending = true
	f.landed = true
	if f.response != nil {
		f.count()
	}
	return f.response, f.err
}

// overrideOf is the policy of ContextWithPolicy, and the fetch that a request is part of; nil: none.
func overrideOf(ctx context.Context) (*retry.Policy, *fetch) {
	switch v := ctx.Value(overrideKey{}).(type) {
	case *retry.Policy:
		return v, nil
	case *fetch:
		return v.override, v
	}
	return nil, nil
}

// fetchPolicy is policyFor with options. Those of a single call are not worth remembering.
func (t *Transport) fetchPolicy(r *http.Request, override *retry.Policy, opts []retry.Option) (*retry.Policy, error) {
	if t == nil || len(opts) == 0 {
		return t.policyFor(r, override)
	}
	base := t.Policy
	if override != nil {
		base = override
	}
	if p, ok := opts[0].(*retry.Policy); ok && p != nil {
		if len(opts) == 1 {
			return t.policyFor(r, p)
		}
	} else if base != nil {
		opts = append([]retry.Option{base}, opts...)
	}
	p, err := retry.New(opts...)
	if err != nil {
		return nil, err
	}
	return t.derive(policyKey{p, hostOf(r)})
}
