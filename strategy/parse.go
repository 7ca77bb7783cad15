package strategy

import (
	"slices"
	"strings"
)

// names are what Parse knows.
var names = []string{
	"constant", "linear", "exponential", "fibonacci", "sequence", "fulljitter", "equaljitter", "decorrelated",
	"lild", "limd", "mild", "mimd", "bythrottled",
}

// deepest is how many strategies may stand inside one another in a text, the outermost included.
const deepest = 8

// Parse reads a strategy from text, such as the value of an environment variable. It reads what String writes: the name
// alone, or the name with fields.
//
//	constant(delay=1s)
//	linear(initial=100ms, increment=50ms, max=5s)
//	exponential(base=100ms, factor=1.5, max=20s)
//	fibonacci(first=100ms, second=200ms, max=20s)
//	sequence(delays=[0s, 100ms, 1s], repeat=true)
//	fulljitter(base=200ms, max=20s)
//	equaljitter(base=200ms, max=20s)
//	decorrelated(base=200ms, max=20s, capped=true)
//	lild(initial=2s, incrementonfailure=4s, incrementonsuccess=-1s, min=1s, max=1m)
//	limd(initial=2s, incrementonfailure=4s, multipleonsuccess=0.2, min=1s, max=1m)
//	mild(initial=2s, multipleonfailure=1.5, incrementonsuccess=-1s, min=1s, max=1m)
//	mimd(initial=2s, multipleonfailure=3, multipleonsuccess=0.25, min=1s, max=1m)
//	bythrottled(normal=fulljitter(base=50ms), throttled=fulljitter(base=1s))
//
// Names and fields are those of the Go types, in any case. Every field may be left out but sequence's delays and bythrottled's
// two, and zero means what it means in
// the type: exponential and exponential(base=0s) are both Exponential{}. Durations are as time.ParseDuration reads them,
// so they need a unit. Spaces around names, values and commas do not matter. At most 8 strategies stand inside one
// another. The four that have a level are pointers, each Parse making a new one: keep the result, and share it, or the level
// is lost.
//
// The error is a *ConfigError: the text is not of that form, a name or field is unknown (the problem lists the known
// ones), a field is given twice, a value cannot be read, or Validate refuses the result. A Func cannot be parsed.
func Parse(text string) (Strategy, error) {
	return parse(text, 1)
}

func parse(text string, depth int) (Strategy, error) {
	text = strings.TrimSpace(text)
	name, body, fields := strings.Cut(text, "(")
	if fields {
		var closed bool
		if body, closed = strings.CutSuffix(body, ")"); !closed {
			return nil, &ConfigError{"text", text, "must end with a closing parenthesis"}
		}
	}
	name = strings.TrimSpace(name)
	switch strings.ToLower(name) {
	case "constant":
		return read[Constant](body, depth)
	case "linear":
		return read[Linear](body, depth)
	case "exponential":
		return read[Exponential](body, depth)
	case "fibonacci":
		return read[Fibonacci](body, depth)
	case "sequence":
		return read[Sequence](body, depth)
	case "fulljitter":
		return read[FullJitter](body, depth)
	case "equaljitter":
		return read[EqualJitter](body, depth)
	case "decorrelated":
		return read[Decorrelated](body, depth)
	case "lild":
		return readLevel[LILD](body, depth)
	case "limd":
		return readLevel[LIMD](body, depth)
	case "mild":
		return readLevel[MILD](body, depth)
	case "mimd":
		return readLevel[MIMD](body, depth)
	case "bythrottled":
		return read[ByThrottled](body, depth)
	}
	return nil, &ConfigError{"name", name, "unknown strategy; known are " + strings.Join(names, ", ")}
}

// read fills a new T from the text between the parentheses.
func read[T Strategy, P interface {
	*T
	table() (kind string, fields []field)
}](body string, depth int) (Strategy, error) {
	var v T
	kind, fields := P(&v).table()
	if err := fill(kind, fields, body, depth); err != nil {
		return nil, err
	}
	return v, nil
}

// readLevel is read for the types that are strategies as pointers, because they have a level.
func readLevel[T any, P interface {
	*T
	Strategy
	table() (kind string, fields []field)
}](body string, depth int) (Strategy, error) {
	p := P(new(T))
	kind, fields := p.table()
	if err := fill(kind, fields, body, depth); err != nil {
		return nil, err
	}
	return p, nil
}

// fill sets fields from body, the comma-separated field=value list of a strategy, and checks them.
func fill(kind string, fields []field, body string, depth int) error {
	if strings.TrimSpace(body) == "" {
		return check(kind, fields)
	}
	parts, balanced := split(body)
	if !balanced {
		return &ConfigError{"text", body, "brackets do not match"}
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = strings.ToLower(f.name)
	}
	set := make([]bool, len(fields))
	for _, part := range parts {
		name, value, found := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found {
			return &ConfigError{kind, name, "must be of the form field=value; fields are " + strings.Join(known, ", ")}
		}
		i := slices.Index(known, strings.ToLower(name))
		if i < 0 {
			return &ConfigError{kind + "." + name, value, "unknown field; known are " + strings.Join(known, ", ")}
		}
		full := kind + "." + fields[i].name
		if set[i] {
			return &ConfigError{full, value, "must not be given twice"}
		}
		set[i] = true
		if err := readField(full, fields[i].at, value, depth); err != nil {
			return err
		}
	}
	return check(kind, fields)
}

// split cuts text at the commas that stand outside of brackets. It does not tell the kinds of brackets apart: what stands
// between them is read, and refused if need be, later.
func split(text string) (parts []string, balanced bool) {
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < 0 {
				return nil, false
			}
		case ',':
			if depth == 0 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, text[start:]), depth == 0
}
