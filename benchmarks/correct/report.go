package correct

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-89b3229b/retry/benchmarks/library"
	"github.com/seed-89b3229b/retry/benchmarks/report"
)

// Verdicts are the verdicts on one library, by the ids of the cases.
type Verdicts map[string]Verdict

// JudgeAll asks every library everything.
func JudgeAll(t *testing.T) []Verdicts {
	var all []Verdicts
	for _, l := range library.All() {
		verdicts := Verdicts{}
		for i := range Cases {
			verdicts[Cases[i].ID] = Cases[i].Judge(t, l)
		}
		all = append(all, verdicts)
	}
	return all
}

// table has a line for each case and a column for each library. emphasis is put around what is wrong.
func table(all []Verdicts, emphasis string) *report.Table {
	libraries := library.All()
	t := &report.Table{Head: []string{"", ""}}
	versions := []string{"", "version"}
	counts := []string{"", "wrong"}
	for i, l := range libraries {
		t.Head = append(t.Head, l.Name)
		versions = append(versions, l.Version())
		n := 0
		for _, v := range all[i] {
			if v.Answer == Wrong {
				n++
			}
		}
		counts = append(counts, fmt.Sprint(n))
	}
	t.Rows = append(t.Rows, versions)
	for _, c := range Cases {
		cells := []string{c.ID, c.Title}
		for i := range libraries {
			word := all[i][c.ID].Answer.String()
			if all[i][c.ID].Answer == Wrong {
				word = emphasis + word + emphasis
			}
			cells = append(cells, word)
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Rows = append(t.Rows, counts)
	return t
}

// Text is the table, what was asked, and what was seen where it is wrong.
func Text(all []Verdicts) string {
	b := new(strings.Builder)
	b.WriteString(table(all, "").Text() + "\n")
	for _, c := range Cases {
		fmt.Fprintf(b, "%-5s %s.\n", c.ID, c.Asks)
		for _, line := range seen(all, c.ID) {
			fmt.Fprintf(b, "        %s\n", line)
		}
	}
	return b.String()
}

// Markdown is Text for a document.
func Markdown(all []Verdicts) string {
	b := new(strings.Builder)
	b.WriteString(table(all, "**").Markdown() + "\n")
	for _, c := range Cases {
		fmt.Fprintf(b, "- **%s** %s.\n", c.ID, c.Asks)
		for _, line := range seen(all, c.ID) {
			fmt.Fprintf(b, "  - %s\n", line)
		}
	}
	return b.String()
}

// seen says what was seen where a case is wrong; libraries with the same to say share a line.
func seen(all []Verdicts, id string) []string {
	var lines []string
	names := map[string][]string{}
	for i, l := range library.All() {
		v := all[i][id]
		if v.Answer != Wrong {
			continue
		}
		if names[v.Seen] == nil {
			lines = append(lines, v.Seen)
		}
		names[v.Seen] = append(names[v.Seen], l.Name)
	}
	for i, text := range lines {
		lines[i] = strings.Join(names[text], ", ") + ": " + text
	}
	return lines
}
