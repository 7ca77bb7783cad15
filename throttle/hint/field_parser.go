package hint

import (
	"net/http"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// FieldSpec describes the header fields of a server that none of the parsers knows, or whose numbers they would take for
// something else. Names are in any case.
type FieldSpec struct {
	// Wait is the field that says how long to wait or when to come back. It must be set.
	Wait string
	// Unit is what Wait's values are. Default Auto.
	Unit Unit
	// Remaining is the field that says how much is left. If it is set, Wait counts only if that is 0 or less, or if the
	// field is not in the response, or not valid, and the status is 429 or 503. Default "": Wait always counts.
	Remaining string
	// Limit is the field that says how much is allowed, for the Quota. Default "".
	Limit string
	// Name is the Quota's name. Default Wait in lower case.
	Name string
	// Rule says how the wait is used. Default AtLeast().
	Rule throttle.Rule
}

// Validate returns a *ConfigError for a name that is no header field's, or none for Wait, for a Unit that is not one of
// the constants, and for a Rule that is not valid.
func (f FieldSpec) Validate() error {
	switch {
	case !isToken(f.Wait):
		return &throttle.ConfigError{Field: "FieldSpec.Wait", Value: f.Wait, Problem: notAName}
	case f.Remaining != "" && !isToken(f.Remaining):
		return &throttle.ConfigError{Field: "FieldSpec.Remaining", Value: f.Remaining, Problem: notAName}
	case f.Limit != "" && !isToken(f.Limit):
		return &throttle.ConfigError{Field: "FieldSpec.Limit", Value: f.Limit, Problem: notAName}
	case f.Unit > RFC3339:
		return &throttle.ConfigError{Field: "FieldSpec.Unit", Value: uint8(f.Unit), Problem: "must be one of the constants"}
	}
	return f.Rule.Validate()
}

const notAName = "must be the name of a header field"

// FieldParser returns the Parser of the fields that spec describes. Of several lines of Wait the longest valid one
// counts; the wait is rounded up to whole milliseconds. Parsers adds it to others. The Parser has a Validate method,
// which is spec's, and finds nothing if that returns an error. Safe for concurrent use.
func FieldParser(spec FieldSpec) Parser {
	p := &fieldParser{
		FieldSpec: spec, valid: spec.Validate() == nil, source: strings.ToLower(spec.Wait),
		wait:      http.CanonicalHeaderKey(spec.Wait),
		remaining: http.CanonicalHeaderKey(spec.Remaining),
		limit:     http.CanonicalHeaderKey(spec.Limit),
	}
	if p.Name == "" {
		p.Name = p.source
	}
	return p
}

type fieldParser struct {
	FieldSpec
	valid                          bool
	source, wait, remaining, limit string
}

func (p *fieldParser) Parse(h http.Header, status int, now time.Time) (throttle.Signal, bool) {
	if !p.valid {
		return throttle.Signal{}, false
	}
	m := message{times: times{header: h, now: now}, status: status}
	read := func(name string) []string {
		if name == "" {
			return nil
		}
		return within(named(h, name))
	}
	var a answer
	q := throttle.Quota{Name: p.Name, Limit: least(read(p.limit), -1), Remaining: least(read(p.remaining), 0)}
	q.Delay, q.HasDelay = p.Unit.longest(read(p.wait), &m.times)
	if !says(&q) {
		return throttle.Signal{}, false
	}
	if q.Limit >= 0 || q.Remaining >= 0 {
		a.add(q)
	}
	if q.HasDelay && (p.remaining == "" || m.usedUp(q.Remaining)) {
		a.tell(wait{q.Delay, true, p.source, p.Rule})
	}
	return a.Signal, !a.IsZero()
}

// isToken reports whether s can be the name of a header field.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if !isLower(c|0x20) && !isDigit(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
