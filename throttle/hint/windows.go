package hint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-89b3229b/retry/throttle"
)

// says reports whether q has any number.
func says(q *throttle.Quota) bool { return q.Limit >= 0 || q.Remaining >= 0 || q.HasDelay }

// usedUp reports whether a limit is, by what remains of it; below 0: not said.
func (m *message) usedUp(remaining int64) bool {
	if remaining < 0 {
		return m.status == 429 || m.status == 503
	}
	return remaining == 0
}

// windows are the fields of a limit in general, in the three ways that its names are written.
var windows = [...]struct{ resetAfter, reset, remaining, limit, name, kin field }{
	{xResetAfter, xReset, xRemaining, xLimit, xResource, xBucket},
	{unknown, hyphenReset, hyphenRemaining, hyphenLimit, unknown, unknown},
	{unknown, plainReset, plainRemaining, plainLimit, plainName, unknown},
}

// windows reads them. A reset is an answer only if the limit is used up: GitHub's is an hour away while its other limits,
// which it does not name, want a minute.
func (m *message) windows(a *answer, reset Unit) {
	var w wait
	for _, f := range windows {
		q := throttle.Quota{Limit: least(m.field(f.limit), -1), Remaining: least(m.field(f.remaining), 0)}
		source := fieldNames[f.resetAfter]
		if q.Delay, q.HasDelay = DeltaSeconds.longest(m.field(f.resetAfter), &m.times); !q.HasDelay {
			source = fieldNames[f.reset]
			q.Delay, q.HasDelay = reset.longest(m.field(f.reset), &m.times)
		}
		if !says(&q) {
			continue
		}
		q.Name = m.title(f.name, f.kin, strings.TrimSuffix(fieldNames[f.reset], "-reset"))
		a.add(q)
		if q.HasDelay && m.usedUp(q.Remaining) {
			w.longest(q.Delay, source)
		}
	}
	a.tell(w)
}

// title returns the name that the server gives a limit, or else.
func (m *message) title(name, kin field, or string) string {
	for _, f := range [...]field{name, kin} {
		for _, line := range m.field(f) {
			if line = trim(line); line != "" {
				return line
			}
		}
	}
	return or
}

// perDimension reads the limits that are counted beside each other. Each has a reset that counts if it is itself used up.
func (m *message) perDimension(a *answer, reset Unit) {
	slices.SortFunc(m.dimensions, func(a, b dimension) int {
		return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.name, b.name), cmp.Compare(a.part, b.part))
	})
	var w wait
	for rest := m.dimensions; len(rest) > 0; {
		q := throttle.Quota{Name: rest[0].name, Limit: -1, Remaining: -1}
		source := ""
		n := 0
		for ; n < len(rest) && rest[n].field == rest[0].field && rest[n].name == q.Name; n++ {
			switch d := rest[n]; d.part {
			case limitPart:
				q.Limit = lesser(q.Limit, least(within(d.lines), -1))
			case remainingPart:
				q.Remaining = lesser(q.Remaining, least(within(d.lines), 0))
			case resetPart:
				if delay, ok := reset.longest(within(d.lines), &m.times); ok {
					q.Delay, q.HasDelay, source = max(q.Delay, delay), true, d.source
				}
			}
		}
		rest = rest[n:]
		if !says(&q) {
			continue
		}
		a.add(q)
		if q.Remaining == 0 && q.HasDelay {
			w.longest(q.Delay, source)
		}
	}
	a.tell(w)
}

// least returns the smallest number that the lines say; -1: none. Numbers may have a fraction, which is rounded up, and
// be followed by the window's parameters or by further windows: "100, 100;w=60". A negative one is read as below.
func least(lines []string, below int64) int64 {
	n := int64(-1)
	for _, line := range lines {
		if end := strings.IndexAny(line, ",;"); end >= 0 {
			line = line[:end]
		}
		line = trim(line)
		digits := strings.TrimPrefix(line, "-")
		if d, ok := readDecimal(digits); ok {
			if len(digits) == len(line) {
				n = lesser(n, d.ceiling())
			} else {
				n = lesser(n, below)
			}
		}
	}
	return n
}

// lesser returns the smaller one, where below 0 is none.
func lesser(a, b int64) int64 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// shopify reads "40/40", how many calls of how many are used. How fast they come back is not said.
func (m *message) shopify(a *answer) {
	for _, line := range m.field(shopifyCalls) {
		used, limit, _ := strings.Cut(line, "/")
		u, ok := readInteger(trim(used))
		n, valid := readInteger(trim(limit))
		if ok && valid && u >= 0 && n >= 0 {
			a.add(throttle.Quota{Name: fieldNames[shopifyCalls], Limit: n, Remaining: max(n-u, 0)})
			return
		}
	}
}
