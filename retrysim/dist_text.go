package retrysim

import (
	"strconv"
	"strings"
	"time"
)

// distShapes are the distributions by kind: the name and the fields in their text.
var distShapes = [...]struct {
	name   string
	fields []string
}{
	distFixed:       {"fixed", []string{"value", ""}},
	distUniform:     {"uniform", []string{"min", "max"}},
	distExponential: {"exponential", []string{"mean", ""}},
	distLogNormal:   {"lognormal", []string{"median", "sigma"}},
	distAbsNormal:   {"absnormal", []string{"mean", "sd"}},
	distEmpirical:   {"empirical", []string{"samples", ""}},
}

// ParseDist reads a distribution from text. It reads what String writes:
//
//	fixed(1ms)
//	uniform(min=1ms, max=5ms)
//	exponential(mean=10ms)
//	lognormal(median=50ms, sigma=0.25)
//	absnormal(mean=10ms, sd=2ms)
//	empirical(samples=[9ms, 10ms, 40ms])
//
// A duration by itself, such as "1ms", is fixed. Names may be in any case; the field's name may be left out where there is only
// one. Durations need a unit. The error is a *ConfigError: an unknown name or field, one given twice, left out or unreadable, or
// what Validate refuses.
func ParseDist(text string) (Dist, error) {
	text = strings.TrimSpace(text)
	if v, err := time.ParseDuration(text); err == nil {
		d := Fixed(v)
		return d, d.Validate()
	}
	name, body, opened := strings.Cut(text, "(")
	body, closed := strings.CutSuffix(body, ")")
	kind := -1
	var known []string
	for i, shape := range distShapes {
		known = append(known, shape.name)
		if strings.EqualFold(strings.TrimSpace(name), shape.name) {
			kind = i
		}
	}
	switch {
	case kind < 0:
		return Dist{}, &ConfigError{"name", name, "unknown distribution; known are " + strings.Join(known, ", ")}
	case !opened || !closed:
		return Dist{}, &ConfigError{"text", text, "must be of the form name(field=value, ...)"}
	}
	d := Dist{kind: distKind(kind)}
	if err := d.fill(body); err != nil {
		return Dist{}, within(distShapes[kind].name, err)
	}
	if err := d.Validate(); err != nil {
		return Dist{}, within(distShapes[kind].name, err)
	}
	return d, nil
}

// fill reads the fields between the parentheses. Every one of them must be there: a distribution has no defaults.
func (d *Dist) fill(body string) error {
	shape := distShapes[d.kind]
	if d.kind == distEmpirical {
		name, list, named := strings.Cut(body, "=")
		if !named {
			list = body
		} else if !strings.EqualFold(strings.TrimSpace(name), "samples") {
			return &ConfigError{strings.TrimSpace(name), list, "unknown field; known are samples"}
		}
		return d.fillSamples(strings.TrimSpace(list))
	}
	single := shape.fields[1] == ""
	seen := map[string]bool{}
	for part := range strings.SplitSeq(body, ",") {
		name, value, named := strings.Cut(part, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !named && single {
			name, value = shape.fields[0], name
		}
		switch {
		case name != shape.fields[0] && (single || name != shape.fields[1]):
			return &ConfigError{name, value, "unknown field; known are " + strings.Trim(strings.Join(shape.fields, ", "), ", ")}
		case seen[name]:
			return &ConfigError{name, value, "must not be given twice"}
		}
		seen[name] = true
		if err := d.set(name, name == shape.fields[0], value); err != nil {
			return err
		}
	}
	for _, name := range shape.fields {
		if name != "" && !seen[name] {
			return &ConfigError{name, "", "must be given"}
		}
	}
	return nil
}

func (d *Dist) set(name string, first bool, value string) (err error) {
	if name == "sigma" {
		if d.sigma, err = strconv.ParseFloat(value, 64); err != nil || strings.ContainsAny(value, "_xX") {
			return &ConfigError{name, value, "must be a number, such as 0.25"}
		}
		return nil
	}
	at := &d.b
	if first {
		at = &d.a
	}
	if *at, err = time.ParseDuration(value); err != nil {
		return &ConfigError{name, value, "must be a duration with a unit, such as 150ms"}
	}
	return nil
}

func (d *Dist) fillSamples(list string) error {
	inner, opened := strings.CutPrefix(list, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed {
		return &ConfigError{"samples", list, "must be a list of durations, such as [9ms, 10ms]"}
	}
	for part := range strings.SplitSeq(inner, ",") {
		if strings.TrimSpace(part) == "" {
			continue // an empty list is Validate's to refuse
		}
		v, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil {
			return &ConfigError{"samples", part, "must be a duration with a unit, such as 150ms"}
		}
		d.samples = append(d.samples, v)
	}
	return nil
}
