// Package quote shortens what an error repeats of its input, so that a text of megabytes does not make an error of megabytes.
package quote

import (
	"strconv"
	"unicode/utf8"
)

// Limit is how many bytes of an input an error repeats.
const Limit = 100

const cutMark = "…"

// Quote returns text as a Go string literal: the whole of it, or its first Limit bytes and "…" behind the closing quote.
func Quote(text string) string {
	if len(text) <= Limit {
		return strconv.Quote(text)
	}
	return strconv.Quote(text[:end(text)]) + cutMark
}

// Cut returns text, or its first Limit bytes and "…".
func Cut(text string) string {
	if len(text) <= Limit {
		return text
	}
	return text[:end(text)] + cutMark
}

// end is where a text that is too long is cut: before the rune that Limit would split.
func end(text string) int {
	n := Limit
	for n > Limit-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
