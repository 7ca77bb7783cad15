package hint

import (
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// wireParser is a parser made of the fields that it reads.
type wireParser struct {
	reads fields
	// reset is what the resets of windows and dimensions are.
	reset Unit
}

// Parse returns what the fields of p say. Only looks.
func (p *wireParser) Parse(h http.Header, status int, now time.Time) (throttle.Signal, bool) {
	m := message{times: times{header: h, now: now}, status: status}
	if !m.gather(p.reads) {
		return throttle.Signal{}, false
	}
	var a answer
	// The order is that of precedence: the first that tells a wait wins. All are asked for quotas.
	m.shouldRetry(&a)
	m.pushback(&a)
	m.told(&a)
	m.rateLimits(&a)
	m.alibaba(&a)
	m.perDimension(&a, p.reset)
	m.windows(&a, p.reset)
	m.shopify(&a)
	return a.Signal, !a.IsZero()
}

// answer is a Signal in the making.
type answer struct {
	throttle.Signal
	// final says that no wait is taken any more.
	final bool
}

// wait is a candidate for a Signal's Delay.
type wait struct {
	delay  time.Duration
	told   bool
	source string
	rule   throttle.Rule
}

// longest takes d if it is longer than what it has.
func (w *wait) longest(d time.Duration, source string) {
	if !w.told || d > w.delay {
		*w = wait{delay: d, told: true, source: source}
	}
}

// tell takes w, if it is the first that says anything. Waits are in whole milliseconds, rounded up: coming back too early
// is answered with another refusal.
func (a *answer) tell(w wait) {
	if !w.told || a.final {
		return
	}
	a.final = true
	a.Delay, a.HasDelay, a.Source, a.Rule = up(w.delay, time.Millisecond), true, w.source, w.rule
}

// add takes a quota, with its delay in whole milliseconds too.
func (a *answer) add(q throttle.Quota) {
	q.Delay = up(q.Delay, time.Millisecond)
	if a.Quotas == nil {
		a.Quotas = make([]throttle.Quota, 0, 2)
	}
	a.Quotas = append(a.Quotas, q)
}

// cut takes back all quotas but the first n.
func (a *answer) cut(n int) {
	if a.Quotas = a.Quotas[:n]; n == 0 {
		a.Quotas = nil
	}
}
