package retrysim

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// WriteText draws the report for a terminal: what is simulated, load and success over time for each contender, and one table.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Scenario.Describe())
	fmt.Fprintf(&b, "seed %d, %s\n", r.Seed, plural(r.Trials, "trial"))
	most := 0.0
	for i := range r.Results {
		for _, s := range r.Results[i].Series {
			most = max(most, r.load(s))
		}
	}
	for i := range r.Results {
		r.draw(&b, &r.Results[i], most)
	}
	b.WriteByte('\n')
	r.table(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// WriteTable writes the table alone.
func (r *Report) WriteTable(out io.Writer) error {
	var b strings.Builder
	r.table(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// load is the attempts of a step, by the second and trial.
func (r *Report) load(s Step) float64 {
	return float64(s.Attempts) / r.Scenario.step().Seconds() / float64(r.Trials)
}

// columns is how wide charts are at most; longer series have several steps in a column.
const chartWidth = 80

// draw shows load and success over time.
func (r *Report) draw(b *strings.Builder, one *Result, most float64) {
	// Where little is left to drain, the tail of the series is empty: it ends with the calls, or twice as late.
	steps := one.Series
	length := int((r.Scenario.Length + r.Scenario.step() - 1) / r.Scenario.step())
	for len(steps) > length && (steps[len(steps)-1].Attempts == 0 || len(steps) > 2*length) {
		steps = steps[:len(steps)-1]
	}
	per := (len(steps) + chartWidth - 1) / chartWidth
	var load, success strings.Builder
	for i := 0; i < len(steps); i += per {
		column := steps[i:min(i+per, len(steps))]
		top, calls, good, over := 0.0, 0, 0, true
		for _, s := range column {
			top = max(top, r.load(s))
			calls, good, over = calls+s.Calls, good+s.Succeeded, over && s.Ended == s.Calls
		}
		load.WriteRune(block(top / max(most, 1e-9)))
		switch {
		case calls == 0 || !over:
			success.WriteByte(' ')
		default:
			success.WriteRune(block(float64(good) / float64(calls)))
		}
	}
	fmt.Fprintf(b, "\n%s\n  load     %s  of %.0f/s\n  success  %s\n", one.Name, load.String(), most, strings.TrimRight(success.String(), " "))
	if axis := r.axis(per); axis != "" {
		fmt.Fprintf(b, "           %s\n", axis)
	}
}

// block returns a column that is filled by a share of its height; one of 0 is a line.
func block(share float64) rune {
	blocks := []rune("_▁▂▃▄▅▆▇█")
	return blocks[min(max(int(share*8+0.5), 0), 8)]
}

// axis marks the faults.
func (r *Report) axis(per int) string {
	if len(r.Scenario.Faults) == 0 {
		return ""
	}
	column := func(t time.Duration) int { return int(t / r.Scenario.step() / time.Duration(per)) }
	line := []byte(strings.Repeat(" ", min(column(r.Scenario.faultsEnd()), 2*chartWidth)+1))
	var words []string
	for _, f := range r.Scenario.Faults {
		from, to := min(column(f.From), len(line)-1), min(max(column(f.To)-1, column(f.From)), len(line)-1)
		for i := from; i <= to; i++ {
			line[i] = '-'
		}
		line[from], line[to] = '|', '|'
		words = append(words, f.Describe())
	}
	return strings.TrimRight(string(line), " ") + " " + strings.Join(words, "; ")
}

type tableColumn struct {
	kind  metricKind
	title string
}

// tableColumns are the columns of the table: recovery where there is something to recover from, the end where all begin at once.
func (r *Report) tableColumns() []tableColumn {
	columns := []tableColumn{
		{metricAmplification, "attempts per call"}, {metricPeakAmplification, "at worst"}, {metricSuccess, "succeeded"},
		{metricWasted, "work wasted"}, {metricP99, "p99"},
	}
	if len(r.Scenario.Faults) > 0 {
		return append(columns, tableColumn{metricRecovery, "well again after"})
	}
	columns[1] = tableColumn{metricPeakLoad, "peak/mean load"}
	if _, burst := r.Scenario.Load.(Burst); burst {
		columns = append(columns, tableColumn{metricCompletion, "all over after"})
	}
	return columns
}

// table compares the contenders. Where there are several trials, ± is the standard error of the mean.
func (r *Report) table(b *strings.Builder) {
	rows := make([][]string, len(r.Results)+1)
	rows[0] = []string{""}
	columns := r.tableColumns()
	for _, c := range columns {
		rows[0] = append(rows[0], c.title)
	}
	for i := range r.Results {
		one := &r.Results[i]
		rows[i+1] = []string{one.Name}
		for _, c := range columns {
			m := metrics[c.kind]
			m.kind = c.kind
			cell := m.Format(one.Value(m))
			switch {
			case c.kind == metricRecovery && one.Recovery.Share > 0 && one.Recovery.Share < 1:
				cell = fmt.Sprintf("never, or %v in %.0f%%", short(one.Recovery.Median), 100*one.Recovery.Share)
				if one.Recovery.Median == Never {
					cell = fmt.Sprintf("never in %.0f%%", 100*(1-one.Recovery.Share))
				}
			case m.pool != worst && r.Trials > 1 && !math.IsInf(one.Value(m), 0):
				cell += " ±" + m.Format(one.Error(m))
			}
			rows[i+1] = append(rows[i+1], cell)
		}
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for k, cell := range row {
			widths[k] = max(widths[k], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		line := ""
		for k, cell := range row {
			gap := strings.Repeat(" ", widths[k]-len([]rune(cell)))
			if k == 0 {
				line += cell + gap
			} else {
				line += "  " + gap + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
