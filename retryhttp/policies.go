package retryhttp

import (
	"net/http"
	"strings"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// host is where a request goes, without the port that the scheme implies.
type host struct{ scheme, name string }

func hostOf(r *http.Request) host {
	if r == nil || r.URL == nil {
		return host{}
	}
	h := host{strings.ToLower(r.URL.Scheme), strings.ToLower(r.URL.Host)}
	switch h.scheme {
	case "http":
		h.name = strings.TrimSuffix(h.name, ":80")
	case "https":
		h.name = strings.TrimSuffix(h.name, ":443")
	}
	h.name = strings.TrimSuffix(h.name, ":") // a port may be left empty
	return h
}

// HostKey returns the key of a request's host: scheme://host, in lower case and with the port unless it is the scheme's
// own. Transport.Gate uses it unless Keys is set.
func HostKey(r *http.Request) throttle.Key { return hostOf(r).key() }

func (h host) key() throttle.Key { return throttle.Key(h.scheme + "://" + h.name) }

// policyKey is what a derived policy depends on.
type policyKey struct {
	policy *retry.Policy
	host   host // zero where all hosts are alike
}

// derived is a policy with the transport's part of it, or what is wrong with it.
type derived struct {
	policy *retry.Policy
	err    error
}

var defaultPolicy = new(retry.Policy)

// policyFor returns the policy for a request; override is that of its context, if it has one. One is derived for each host, once, so that nothing is put together for a
// single request.
func (t *Transport) policyFor(r *http.Request, override *retry.Policy) (*retry.Policy, error) {
	if t == nil {
		return nil, t.Validate()
	}
	key := policyKey{policy: t.Policy}
	if override != nil {
		key.policy = override
	}
	if t.Budget != nil || t.Gate != nil && t.Keys == nil {
		key.host = hostOf(r)
	}
	if t.Budget != nil {
		t.budgets.entry(key.host) // so that it is remembered as long as the policies which have it
	}
	d := t.policies.of(key, func() derived {
		p, err := t.derive(key)
		return derived{p, err}
	})
	return d.policy, d.err
}

func (t *Transport) derive(key policyKey) (*retry.Policy, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	policy := key.policy
	if policy == nil {
		policy = defaultPolicy
	}
	opts := []retry.Option{policy, retry.WithResults(retry.Results[*flight]{
		Classify: (*flight).classify,
		Discard:  (*flight).discard,
		Keep:     (*flight).keep,
	})}
	switch {
	case t.Gate == nil:
	case t.Keys == nil:
		opts = append(opts, retry.WithThrottle(t.Gate.For(key.host.key())))
	default:
		opts = append(opts, retry.WithThrottle(byKeys{}))
	}
	if t.Budget != nil {
		if b := t.budget(key.host); b != nil {
			opts = append(opts, retry.WithBudget(b))
		}
	}
	if t.AttemptHeaders != nil {
		opts = append(opts, retry.WithAttemptInfo())
	}
	p, err := retry.New(opts...)
	if err != nil {
		return nil, err
	}
	// A policy whose own conditions always decide takes no further one, and needs none.
	if full, err := retry.New(p, retry.WithCondition(table{})); err == nil {
		p = full
	}
	return p, nil
}

// budget returns the host's budget, which all policies share.
func (t *Transport) budget(h host) throttle.Budget {
	return t.budgets.of(h, func() throttle.Budget { return t.Budget(h.name) })
}
