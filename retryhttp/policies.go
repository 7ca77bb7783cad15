package retryhttp

import (
	"net/http"
	"strings"
	"sync"

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
		t.budgets.get(key.host) // so that it is remembered as long as the policies which have it
	}
	d, ok := t.policies.get(key)
	if !ok {
		p, err := t.derive(key)
		d = t.policies.put(key, derived{p, err})
	}
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
	b, ok := t.budgets.get(h)
	if !ok {
		b = t.budgets.put(h, t.Budget(h.name))
	}
	return b
}

// recentLimit is how many entries a recent keeps at least.
const recentLimit = 1000

// recent is a map that forgets what was not asked for lately. The zero recent is ready for use, by many goroutines.
type recent[K comparable, V any] struct {
	mu         sync.RWMutex
	young, old map[K]V
}

func (r *recent[K, V]) get(k K) (v V, ok bool) {
	r.mu.RLock()
	v, ok = r.young[k]
	r.mu.RUnlock()
	if ok {
		return v, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok = r.young[k]; ok {
		return v, true
	}
	if v, ok = r.old[k]; ok {
		r.keep(k, v)
	}
	return v, ok
}

// put adds an entry, unless there is one: it returns the one that counts.
func (r *recent[K, V]) put(k K, v V) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	if had, ok := r.young[k]; ok {
		return had
	}
	if had, ok := r.old[k]; ok {
		v = had
	}
	r.keep(k, v)
	return v
}

// keep makes an entry one of the young, which become the old when there are enough of them. The caller holds mu.
func (r *recent[K, V]) keep(k K, v V) {
	if len(r.young) >= recentLimit {
		r.old, r.young = r.young, nil
	}
	if r.young == nil {
		r.young = make(map[K]V)
	}
	r.young[k] = v
}
