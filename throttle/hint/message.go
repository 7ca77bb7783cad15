package hint

import (
	"net/http"
	"strings"
	"time"
)

// What is read of a header at most. Parser's comment says so.
const (
	maxNames = 256
	maxLines = 32
	maxBytes = 4096
)

// message is a response taken apart: the lines of the fields that a parser reads.
type message struct {
	times
	status     int
	lines      [fieldCount][]string
	dimensions []dimension // under their own names
}

// dimension is a field of one of several limits that a server has beside each other, such as x-ratelimit-reset-tokens.
type dimension struct {
	field  field
	source string
	name   string
	part   part
	lines  []string
}

// fields is a set of them.
type fields uint32

func setOf(list ...field) (s fields) {
	for _, f := range list {
		s |= 1 << f
	}
	return s
}

func (s fields) has(f field) bool { return s&(1<<f) != 0 }

// gather collects the fields of reads and reports whether there are any.
func (m *message) gather(reads fields) (found bool) {
	h := m.header
	if len(h) > maxNames {
		for name, k := range canonicalNames {
			if lines := h[name]; len(lines) > 0 && reads.has(k.field) {
				m.add(k, lines)
				found = true
			}
		}
		return found
	}
	for name, lines := range h {
		if k, ok := lookUp(name); ok && len(lines) > 0 && reads.has(k.field) {
			m.add(k, lines)
			found = true
		}
	}
	return found
}

func (m *message) add(k known, lines []string) {
	if k.field >= xDimension {
		if m.dimensions == nil {
			m.dimensions = make([]dimension, 0, 8)
		}
		name, part, _ := dissect(k.field, k.name)
		m.dimensions = append(m.dimensions, dimension{k.field, k.name, name, part, lines})
		return
	}
	if m.lines[k.field] != nil {
		// The same name in another case: one of them, whatever the order of the map.
		lines = named(m.header, http.CanonicalHeaderKey(k.name))
	}
	m.lines[k.field] = lines
}

// field returns the lines of f that are read.
func (m *message) field(f field) []string { return within(m.lines[f]) }

// within returns the first lines, as many as are read.
func within(lines []string) []string {
	total := 0
	for i, line := range lines {
		if total += len(line); total > maxBytes || i == maxLines {
			return lines[:i]
		}
	}
	return lines
}

// times tells the time by the server's clock, as far as that is known.
type times struct {
	header    http.Header
	date, now time.Time
	asked     bool
}

// clock returns the response's Date if it has a valid one, else now. It is asked for absolute times only.
func (t *times) clock() time.Time {
	if !t.asked {
		t.asked = true
		if lines := named(t.header, "Date"); len(lines) > 0 {
			t.date, _ = httpDate(trim(lines[0]), t.now)
		}
	}
	if t.date.IsZero() {
		return t.now
	}
	return t.date
}

// until returns how long it is until at; 0 if that is over.
func (t *times) until(at time.Time) time.Duration { return max(at.Sub(t.clock()), 0) }

// named returns the lines of a field whose canonical name is given, in whatever case it is stored. Of several the
// canonical one counts, else the one that sorts first.
func named(h http.Header, name string) []string {
	if lines := h[name]; lines != nil || len(h) > maxNames {
		return lines
	}
	found, lines := "", []string(nil)
	for other, have := range h {
		if len(other) == len(name) && strings.EqualFold(other, name) && (lines == nil || other < found) {
			found, lines = other, have
		}
	}
	return lines
}

// trim removes optional whitespace as HTTP has it.
func trim(s string) string { return strings.Trim(s, " \t") }
