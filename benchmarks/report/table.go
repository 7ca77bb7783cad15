// Package report lays tables out, for terminals and for documents.
package report

import (
	"strings"
	"unicode/utf8"
)

// Table is a table of words.
type Table struct {
	Head []string
	// Right says which columns are aligned to the right.
	Right []bool
	Rows  [][]string
}

// Text is the table for a terminal.
func (t *Table) Text() string {
	var b strings.Builder
	t.each(func(cells []string, _ int) { b.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n") })
	return b.String()
}

// Markdown is the table for a document. It reads well without being rendered too.
func (t *Table) Markdown() string {
	var b strings.Builder
	t.each(func(cells []string, line int) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if line > 0 {
			return
		}
		for i, cell := range cells {
			dashes := []byte(strings.Repeat("-", utf8.RuneCountInString(cell)+2))
			if t.right(i) {
				dashes[len(dashes)-1] = ':'
			}
			b.WriteString("|" + string(dashes))
		}
		b.WriteString("|\n")
	})
	return b.String()
}

// each calls f with the cells of every line, filled up to the width of their columns.
func (t *Table) each(f func(cells []string, line int)) {
	lines := append([][]string{t.Head}, t.Rows...)
	widths := make([]int, len(t.Head))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, cells := range lines {
		filled := make([]string, len(cells))
		for i, cell := range cells {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right(i) {
				filled[i] = space + cell
			} else {
				filled[i] = cell + space
			}
		}
		f(filled, n)
	}
}

func (t *Table) right(column int) bool { return column < len(t.Right) && t.Right[column] }
