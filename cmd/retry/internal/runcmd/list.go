package runcmd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
)

// list is a LIST of outcomes.
type list struct {
	given   bool
	codes   [256]bool
	timeout bool
	signal  bool
	signals []int
}

const listForm = "exit codes (0 to 255), ranges such as 1-9, success, failure, timeout, signal, names of signals such as SIGSEGV, or none"

// Decode reads a flag.
func (l *list) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return frame.Usage("--%s needs a list of %s", ctx.Value.Name, listForm)
	}
	return l.parse("--"+ctx.Value.Name, token.String())
}

func (l *list) parse(flag, text string) error {
	*l = list{given: true}
	words := strings.Split(text, ",")
	for _, word := range words {
		word = strings.ToLower(strings.TrimSpace(word))
		switch word {
		case "success":
			l.codes[0] = true
		case "failure":
			l.span(1, 255)
		case "timeout":
			l.timeout = true
		case "signal":
			l.signal = true
		case "none":
			if len(words) > 1 {
				return frame.Usage("%s %s: none must stand alone", flag, text)
			}
		default:
			if first, last, ok := codes(word); ok {
				l.span(first, last)
			} else if n := signalNumber(word); n > 0 {
				l.signals = append(l.signals, n)
			} else {
				return frame.Usage("%s %s: %q is none of %s", flag, text, word, listForm)
			}
		}
	}
	return nil
}

func (l *list) span(first, last int) {
	for i := first; i <= last; i++ {
		l.codes[i] = true
	}
}

// codes reads an exit code or a range of them.
func codes(word string) (first, last int, ok bool) {
	a, b, ranged := strings.Cut(word, "-")
	if !ranged {
		b = a
	}
	first, okFirst := code(a)
	last, okLast := code(b)
	return first, last, okFirst && okLast && first <= last
}

func code(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 8)
	return int(n), err == nil
}

// has says whether an attempt's end is in the list. Death by a signal is also the code that a shell makes of it, and lack of
// time is also 124.
func (l *list) has(r *result) bool {
	return r.code >= 0 && r.code < len(l.codes) && l.codes[r.code] || r.timeout && l.timeout ||
		r.signal > 0 && (l.signal || slices.Contains(l.signals, r.signal))
}
