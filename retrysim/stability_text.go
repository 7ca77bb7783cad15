package retrysim

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Stable returns the largest load up to which the contender k recovers from every outage of the map, in every trial. 0: it does at
// none of them.
func (m *Map) Stable(k int) (load float64) {
	for i, row := range m.Cells[k] {
		for _, cell := range row {
			if cell.Worst == Never {
				return load
			}
		}
		load = m.Loads[i]
	}
	return load
}

// WriteText draws the map for a terminal: for each contender a grid of seconds, ∞ where a trial never recovers, and a ! beside it
// where it is the retries that keep the server down.
func (m *Map) WriteText(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nseconds until all is well after an outage of so long (across), at so much of the capacity (down); %s each\n",
		"server: "+describeServer(m.Scenario.Server), plural(m.Trials, "trial"))
	b.WriteString("∞: not within 60 s in one trial at least; ∞!: in no trial, and with one attempt per call in every one\n")
	for k, name := range m.Names {
		fmt.Fprintf(&b, "\n%s: every outage is survived up to %s of the capacity\n%6s", name, percent(m.Stable(k)), "")
		for _, outage := range m.Outages {
			fmt.Fprintf(&b, " %5v", outage)
		}
		b.WriteByte('\n')
		for i, load := range m.Loads {
			fmt.Fprintf(&b, "%6s", percent(load))
			for _, cell := range m.Cells[k][i] {
				fmt.Fprintf(&b, " %5s", cell.text())
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (c Cell) text() string {
	switch {
	case c.Metastable:
		return "∞!"
	case c.Worst == Never:
		return "∞ "
	}
	return fmt.Sprintf("%d ", (c.Worst+time.Second/2)/time.Second)
}
