package roundtrip

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-89b3229b/retry/benchmarks/report"
)

// Findings are what was found of one library, by the ids of the questions.
type Findings map[string]Finding

// AskAll puts every question to every library.
func AskAll(t *testing.T) []Findings {
	var all []Findings
	for _, c := range Clients() {
		findings := Findings{}
		for i := range Questions {
			findings[Questions[i].ID] = Questions[i].Ask(t, c)
		}
		all = append(all, findings)
	}
	return all
}

// table has a line for each question and a column for each library. emphasis is put around what is wrong.
func table(all []Findings, emphasis string) *report.Table {
	t := &report.Table{Head: []string{"", ""}}
	versions := []string{"", "version"}
	counts := []string{"", "wrong"}
	for i, c := range Clients() {
		t.Head = append(t.Head, c.Name)
		versions = append(versions, c.Version())
		n := 0
		for _, f := range all[i] {
			if f.Wrong {
				n++
			}
		}
		counts = append(counts, fmt.Sprint(n))
	}
	t.Rows = append(t.Rows, versions)
	for _, q := range Questions {
		cells := []string{q.ID, q.Title}
		for _, findings := range all {
			cell := findings[q.ID].Seen
			if findings[q.ID].Wrong {
				cell = emphasis + cell + emphasis
			}
			cells = append(cells, cell)
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Rows = append(t.Rows, counts)
	return t
}

// Text is the table, and what was asked.
func Text(all []Findings) string {
	b := new(strings.Builder)
	b.WriteString(table(all, "").Text() + "\n")
	for _, q := range Questions {
		fmt.Fprintf(b, "%-5s %s.\n", q.ID, q.Asks)
	}
	return b.String()
}

// Markdown is Text for a document.
func Markdown(all []Findings) string {
	b := new(strings.Builder)
	b.WriteString(table(all, "**").Markdown() + "\n")
	for _, q := range Questions {
		fmt.Fprintf(b, "- **%s** %s.\n", q.ID, q.Asks)
	}
	return b.String()
}
