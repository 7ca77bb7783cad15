package speed

import (
	"fmt"
	"strings"

	"github.com/seed-89b3229b/retry/benchmarks/report"
)

// Results are the results of all cases.
type Results []Result

var columns = []string{"work", "library", "version", "how", "op gets ctx", "ns/op", "quartiles", "B/op", "allocs/op", "ratio", "scaling"}

var toTheRight = []bool{5: true, 6: true, 7: true, 8: true, 9: true, 10: true}

// Text is one table of all results, and what each work is.
func (rs Results) Text() string {
	t := report.Table{Head: columns, Right: toTheRight}
	for i, row := range Rows {
		if i > 0 {
			t.Rows = append(t.Rows, make([]string, len(columns)))
		}
		t.Rows = append(t.Rows, rs.rows(row)...)
	}
	b := new(strings.Builder)
	b.WriteString(t.Text() + "\n")
	for _, row := range Rows {
		fmt.Fprintf(b, "%-17s %s\n", row.ID, row.Does)
	}
	return b.String()
}

// Markdown is a table for each work.
func (rs Results) Markdown() string {
	b := new(strings.Builder)
	for _, row := range Rows {
		last := len(columns) - 1
		if row == Sixteen {
			last++
		}
		t := report.Table{Head: columns[1:last], Right: toTheRight[1:last]}
		for _, cells := range rs.rows(row) {
			t.Rows = append(t.Rows, cells[1:last])
		}
		fmt.Fprintf(b, "**%s**: %s.\n\n%s\n", row.ID, row.Does, t.Markdown())
	}
	return b.String()
}

func (rs Results) rows(row Row) [][]string {
	var all [][]string
	for _, r := range rs {
		if r.Row != row {
			continue
		}
		cells := []string{
			row.ID, "none", "", string(r.Use), "yes", ns(r.Ns), ns(r.Low) + ".." + ns(r.High),
			fmt.Sprint(r.Bytes), fmt.Sprint(r.Allocs), fmt.Sprintf("%.2f", r.Ns/rs.ours(row).Ns), "",
		}
		if r.Library != nil {
			cells[1], cells[2] = r.Library.Name, r.Library.Version()
			if !r.Library.PassesContext {
				cells[4] = "no"
			}
		}
		if row == Sixteen {
			cells[10] = fmt.Sprintf("%.1f", rs.scaling(r))
		}
		all = append(all, cells)
	}
	return all
}

func ns(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// ours is what the ratios are taken to: this library, as it is used best.
func (rs Results) ours(row Row) Result {
	for _, r := range rs {
		if r.Row == row && r.Library != nil {
			return r // the first
		}
	}
	return Result{}
}

// find is a library, "" for none, at a work.
func (rs Results) find(row Row, library string, use Use) Result {
	for _, r := range rs {
		if r.Row == row && r.name() == library && r.Use == use {
			return r
		}
	}
	return Result{}
}

func (r *Result) name() string {
	if r.Library == nil {
		return ""
	}
	return r.Library.Name
}

// scaling is how many times as many calls 16 goroutines make as one, each in its best round: it takes all cores to see it.
func (rs Results) scaling(sixteen Result) float64 {
	return rs.find(One, sixteen.name(), sixteen.Use).Best / sixteen.Best
}

// fastest is the peer that does a work in the least time, of those that are used as documented.
func (rs Results) fastest(row Row, passesContext bool) Result {
	best, own := Result{}, rs.ours(row)
	for _, r := range rs {
		if r.Row != row || !r.Documented() || r.Library.Name == own.Library.Name || passesContext && !r.Library.PassesContext {
			continue
		}
		if best.Ns == 0 || r.Ns < best.Ns {
			best = r
		}
	}
	return best
}

// slowest is the peer that takes the most time.
func (rs Results) slowest(row Row) Result {
	worst, own := Result{}, rs.ours(row)
	for _, r := range rs {
		if r.Row == row && r.Documented() && r.Library.Name != own.Library.Name && r.Ns > worst.Ns {
			worst = r
		}
	}
	return worst
}

// Summary is what the numbers say, in sentences.
func (rs Results) Summary() []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	own := rs.ours(First)
	passing := rs.fastest(First, true)
	say("A first success with a policy made once takes %s ns, %s more than the bare call; of the peers that pass a context the fastest is %s with %s ns.",
		ns(own.Ns), ns(own.Ns-rs.find(First, "", Bare).Ns), passing.Library.Name, ns(passing.Ns))
	v4 := rs.find(First, "cenkalti 4", Fresh)
	say("cenkalti/backoff v4 as its documentation shows it takes %.0f times as long.", v4.Ns/own.Ns)
	for _, row := range []Row{Inline, NoWait, Wait} {
		peer := rs.fastest(row, false)
		say("%s: the fastest peer is %s, which takes %.1f times as long.", row.ID, peer.Library.Name, peer.Ns/rs.ours(row).Ns)
	}
	say("%s: the peers take %.2f to %.2f times as long.", LongWait.ID, rs.fastest(LongWait, false).Ns/rs.ours(LongWait).Ns, rs.slowest(LongWait).Ns/rs.ours(LongWait).Ns)
	say("One policy used by 16 goroutines does %.1f times as many calls in the same time as used by 1; the bare call by itself, %.1f times.",
		rs.scaling(rs.ours(Sixteen)), rs.scaling(rs.find(Sixteen, "", Bare)))
	return all
}
