package hint

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// maxItems is how many members of a list are read; one with more is invalid.
const maxItems = 64

// rateLimits reads RateLimit and RateLimit-Policy as they are from draft-ietf-httpapi-ratelimit-headers-08 on, and
// RateLimit as it was in draft 07. The longest wait of the limits that are used up counts. A field that is not valid as a
// whole says nothing.
func (m *message) rateLimits(a *answer) {
	before := len(a.Quotas)
	w, ok := wait{}, false
	if lines := m.field(rateLimit); isList(lines) {
		w, ok = limits(a, lines)
	} else {
		w, ok = m.limit(a, lines)
	}
	if !ok {
		w = wait{}
		a.cut(before)
	}
	quotas := len(a.Quotas)
	if !policies(a, before, m.field(rateLimitPolicy)) {
		a.cut(quotas)
	}
	a.tell(w)
}

// isList tells the two forms apart by the first character.
func isList(lines []string) bool {
	for _, line := range lines {
		if line = trim(line); line != "" {
			return line[0] == '"'
		}
	}
	return false
}

// limits reads a list such as "burst";r=0;t=3, "daily";r=900;t=40000, with seconds in t.
func limits(a *answer, lines []string) (w wait, ok bool) {
	items := 0
	for _, line := range lines {
		p := structured{rest: line}
		for p.next() {
			q := throttle.Quota{Limit: -1, Remaining: -1}
			name := p.item()
			for key := p.parameter(); key != ""; key = p.parameter() {
				switch v := p.value(); key {
				case "r":
					q.Remaining = v.count()
				case "t":
					n := v.count()
					q.Delay, q.HasDelay = saturate.Times(n, time.Second), n >= 0
				}
			}
			if items++; p.invalid || name.kind != stringKind || items > maxItems {
				return wait{}, false
			}
			q.Name = name.s
			if q.Remaining < 0 {
				continue // r is what an item must have
			}
			a.add(q)
			if q.Remaining == 0 && q.HasDelay {
				w.longest(q.Delay, fieldNames[rateLimit])
			}
		}
		if p.invalid {
			return wait{}, false
		}
	}
	return w, true
}

// policies reads a list such as "burst";q=10;w=1: how much each limit allows.
func policies(a *answer, from int, lines []string) (ok bool) {
	known, items := a.Quotas[from:], 0
	var limits [maxItems]int64
	for i := range known {
		limits[i] = known[i].Limit
	}
	for _, line := range lines {
		p := structured{rest: line}
		for p.next() {
			limit := int64(-1)
			name := p.item()
			for key := p.parameter(); key != ""; key = p.parameter() {
				if v := p.value(); key == "q" {
					limit = v.count()
				}
			}
			if items++; p.invalid || name.kind != stringKind || items > maxItems {
				return false
			}
			met := false
			for i := range known {
				if known[i].Name == name.s {
					limits[i], met = limit, true
				}
			}
			if !met && limit >= 0 {
				a.add(throttle.Quota{Name: name.s, Limit: limit, Remaining: -1})
			}
		}
		if p.invalid {
			return false
		}
	}
	for i := range known {
		a.Quotas[from+i].Limit = limits[i]
	}
	return true
}

// limit reads draft 07's dictionary, such as limit=100, remaining=0, reset=17.
func (m *message) limit(a *answer, lines []string) (w wait, ok bool) {
	limit, remaining, reset := int64(-1), int64(-1), int64(-1)
	for _, line := range lines {
		p := structured{rest: line}
		for p.next() {
			key := p.key()
			v := p.member()
			p.parameters()
			switch key {
			case "limit":
				limit = v.count()
			case "remaining":
				remaining = v.count()
			case "reset":
				reset = v.count()
			}
		}
		if p.invalid {
			return wait{}, false
		}
	}
	q := throttle.Quota{Name: fieldNames[rateLimit], Limit: limit, Remaining: remaining, Delay: saturate.Times(reset, time.Second), HasDelay: reset >= 0}
	if says(&q) {
		a.add(q)
	}
	if q.HasDelay && m.usedUp(remaining) {
		w.longest(q.Delay, fieldNames[rateLimit])
	}
	return w, true
}

// count returns an integer that is not negative; -1 for anything else.
func (v bare) count() int64 {
	if v.kind != integerKind {
		return -1
	}
	return max(v.n, -1)
}
