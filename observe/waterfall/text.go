package waterfall

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

const (
	defaultWidth = 48
	maxWidth     = 1000
	maxLabel     = 40 // columns of the names
	maxService   = 16
	red, green   = "\x1b[31m", "\x1b[32m"
	faint, plain = "\x1b[2m", "\x1b[0m"
)

// text is the drawing of a trace.
func (t *tree) text(width int, color bool) string {
	if width < 1 {
		width = defaultWidth
	}
	width = min(width, maxWidth)
	rows := t.rows()
	first, last := rows[0].start, rows[0].end
	var labels, services, durations column
	for _, r := range rows {
		if r.start.Before(first) {
			first = r.start
		}
		if r.end.After(last) {
			last = r.end
		}
		services.add(cut(r.service, maxService))
		durations.add(readable(r.end.Sub(r.start)).String())
		labels.add(label(r))
	}
	paint := func(code, s string) string {
		if !color {
			return s
		}
		return code + s + plain
	}
	var b strings.Builder
	for i, r := range rows {
		if services.several() {
			b.WriteString(services.left(i) + "  ")
		}
		status, code := "ok ", green
		if r.failed {
			status, code = "ERR", red
		}
		fmt.Fprintf(&b, "%s  %s |%s|  %s", labels.left(i), paint(code, status),
			paint(code, bar(r.start.Sub(first), r.end.Sub(first), last.Sub(first), width)), durations.right(i))
		if r.details != "" {
			b.WriteString("  " + paint(faint, r.details))
		}
		b.WriteByte('\n')
	}
	if t.dropped > 0 {
		fmt.Fprintf(&b, "… and %d more spans\n", t.dropped)
	}
	return b.String()
}

// label is the name of a span, indented by its depth, where half of the room is left for the name.
func label(r row) string {
	indent := min(2*r.depth, maxLabel/2)
	name := r.name
	if r.torn {
		name = "… " + name
	}
	return strings.Repeat(" ", indent) + cut(name, maxLabel-indent)
}

// bar draws the time from start to end of the whole, at least one cell of it.
func bar(start, end, whole time.Duration, width int) string {
	cell := func(d time.Duration) float64 {
		if whole <= 0 {
			return 0
		}
		// A span that starts after the last end lies beyond the whole, perhaps further than an int can tell.
		return min(float64(d)/float64(whole), 1) * float64(width)
	}
	from := min(int(cell(start)), width-1)
	to := int(cell(end))
	if float64(to) < cell(end) {
		to++
	}
	to = min(max(to, from+1), width)
	return strings.Repeat(" ", from) + strings.Repeat("=", to-from) + strings.Repeat(" ", width-to)
}

// readable rounds a duration to four digits.
func readable(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit)
}

// column is texts that stand below one another.
type column struct {
	texts []string
	width int
}

func (c *column) add(s string) {
	c.texts = append(c.texts, s)
	c.width = max(c.width, columns(s))
}

func (c *column) left(i int) string {
	return c.texts[i] + strings.Repeat(" ", c.width-columns(c.texts[i]))
}

func (c *column) right(i int) string {
	return strings.Repeat(" ", c.width-columns(c.texts[i])) + c.texts[i]
}

func (c *column) several() bool {
	for _, s := range c.texts {
		if s != c.texts[0] {
			return true
		}
	}
	return false
}

// printable replaces what would move the cursor, or do worse to a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, s)
}

// cut shortens a text to a number of columns, the mark of that included.
func cut(s string, limit int) string {
	if columns(s) <= limit {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeColumns(r); used > limit-1 {
			return s[:i] + "…"
		}
	}
	return s
}

func columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// wide are the runes that take two columns of a terminal, as far as they are met in names.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}
