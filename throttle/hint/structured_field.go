package hint

import "strings"

// structured reads a structured field (RFC 9651), one line of it, strictly: what is wrong anywhere makes all of it
// invalid. It is used like this:
//
//	for p := (structured{rest: line}); p.next(); {
//		item := p.item()                             // in a dictionary: key := p.key(); item := p.member()
//		for key := p.parameter(); key != ""; key = p.parameter() {
//			value := p.value()
//		}
//	}
//	// and now p.invalid
type structured struct {
	rest    string
	begun   bool
	invalid bool
}

// bare is an item without its parameters.
type bare struct {
	kind kind
	n    int64  // of an integer
	s    string // of a string
}

type kind uint8

const (
	otherKind kind = iota
	integerKind
	stringKind
)

// next moves to the next member and reports whether there is one.
func (p *structured) next() bool {
	if !p.begun {
		p.begun = true
		p.rest = trim(p.rest)
		return p.rest != ""
	}
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" {
		return false
	}
	if !p.take(',') {
		p.fail()
		return false
	}
	p.rest = strings.TrimLeft(p.rest, " \t")
	return true // what follows a comma is a member: reading it fails if there is nothing
}

// fail makes the line invalid, and ends all loops.
func (p *structured) fail() { p.invalid, p.rest = true, "" }

// take removes c if it comes next.
func (p *structured) take(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// run removes what is made of bytes that in accepts.
func (p *structured) run(in func(byte) bool) string {
	i := 0
	for i < len(p.rest) && in(p.rest[i]) {
		i++
	}
	s := p.rest[:i]
	p.rest = p.rest[i:]
	return s
}

func (p *structured) blanks() { p.rest = strings.TrimLeft(p.rest, " ") }

// key reads the key of a dictionary's member or of a parameter.
func (p *structured) key() string {
	if p.rest == "" || !isLower(p.rest[0]) && p.rest[0] != '*' {
		p.fail()
	}
	return p.run(func(c byte) bool { return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0 })
}

// member reads what follows the key of a dictionary's member: nothing means true.
func (p *structured) member() bare {
	if !p.take('=') {
		return bare{}
	}
	return p.item()
}

// parameter moves to an item's next parameter and returns its key; "" after the last.
func (p *structured) parameter() string {
	if !p.take(';') {
		return ""
	}
	p.blanks()
	return p.key()
}

// value reads what follows a parameter's key: nothing means true.
func (p *structured) value() bare {
	if !p.take('=') {
		return bare{}
	}
	return p.bare()
}

// item reads a bare item, or an inner list, whose contents are nobody's concern here.
func (p *structured) item() bare {
	if !p.take('(') {
		return p.bare()
	}
	for p.blanks(); !p.invalid && !p.take(')'); p.blanks() {
		p.bare()
		p.parameters()
		if p.rest == "" || p.rest[0] != ' ' && p.rest[0] != ')' {
			p.fail()
		}
	}
	return bare{}
}

// parameters passes over those that are left.
func (p *structured) parameters() {
	for p.parameter() != "" {
		p.value()
	}
}

// bare reads an item without its parameters.
func (p *structured) bare() bare {
	if p.rest == "" {
		p.fail()
		return bare{}
	}
	switch c := p.rest[0]; {
	case c == '-' || isDigit(c):
		return p.number()
	case c == '"':
		p.take('"')
		return bare{kind: stringKind, s: p.text()}
	case c == '*' || isLower(c|0x20): // token
		p.run(func(c byte) bool {
			return isLower(c|0x20) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
		})
	case c == ':': // bytes
		p.take(':')
		p.run(func(c byte) bool { return isLower(c|0x20) || isDigit(c) || c == '+' || c == '/' || c == '=' })
		p.must(':')
	case c == '?': // boolean
		p.take('?')
		if !p.take('0') {
			p.must('1')
		}
	case c == '@': // date
		p.take('@')
		if p.number().kind != integerKind {
			p.fail()
		}
	case c == '%': // display string
		p.take('%')
		p.must('"')
		p.displayed()
	default:
		p.fail()
	}
	return bare{}
}

func (p *structured) must(c byte) {
	if !p.take(c) {
		p.fail()
	}
}

// number reads an integer of up to 15 digits, or a decimal of up to 12 and 3 digits.
func (p *structured) number() bare {
	negative := p.take('-')
	digits := p.run(isDigit)
	if p.take('.') {
		if fraction := len(p.run(isDigit)); digits == "" || len(digits) > 12 || fraction < 1 || fraction > 3 {
			p.fail()
		}
		return bare{}
	}
	n, ok := readInteger(digits)
	if !ok || len(digits) > 15 {
		p.fail()
	}
	if negative {
		n = -n
	}
	return bare{kind: integerKind, n: n}
}

// text reads a string after its first quote.
func (p *structured) text() string {
	escaped := false
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			s := p.rest[:i]
			p.rest = p.rest[i+1:]
			if escaped {
				s = unescaper.Replace(s)
			}
			return s
		case c == '\\':
			if i++; i == len(p.rest) || p.rest[i] != '"' && p.rest[i] != '\\' {
				p.fail()
			}
			escaped = true
		case c < ' ' || c > '~':
			p.fail()
		}
	}
	p.fail()
	return ""
}

var unescaper = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// displayed passes over a display string after its first quote.
func (p *structured) displayed() {
	hex := func(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' }
	for {
		p.run(func(c byte) bool { return ' ' <= c && c <= '~' && c != '"' && c != '%' })
		if !p.take('%') {
			p.must('"')
			return
		}
		if len(p.rest) < 2 || !hex(p.rest[0]) || !hex(p.rest[1]) {
			p.fail()
			return
		}
		p.rest = p.rest[2:]
	}
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
