package simreport

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/seed-89b3229b/retry/retrysim"
)

// WriteCSV writes a row for each policy: its metrics, times in seconds, and "never" where one is.
func (r *Report) WriteCSV(out io.Writer) error {
	rows := [][]string{{"policy"}}
	for _, m := range retrysim.Metrics() {
		name := m.Name
		if m.Unit == retrysim.Duration {
			name += "_s"
		}
		rows[0] = append(rows[0], name)
	}
	for _, one := range r.Results {
		row := []string{one.Name}
		for _, m := range retrysim.Metrics() {
			row = append(row, cell(one.Metrics[m.Name]))
		}
		rows = append(rows, row)
	}
	if r.Map != nil {
		rows = r.Map.rows()
	}
	return write(out, rows)
}

// WriteSeries writes a row for each policy and step.
func (r *Report) WriteSeries(out io.Writer) error {
	rows := [][]string{{"policy", "at_s", "calls", "ended", "succeeded", "attempts", "completed", "refused", "in_flight", "queue", "waiting", "budget"}}
	for _, one := range r.Results {
		for _, s := range one.Series {
			row := []string{one.Name, decimal(s.At)}
			for _, n := range []int{s.Calls, s.Ended, s.Succeeded, s.Attempts, s.Completed, s.Refused, s.InFlight, s.Queue, s.Waiting} {
				row = append(row, strconv.Itoa(n))
			}
			rows = append(rows, append(row, decimal(s.Budget)))
		}
	}
	return write(out, rows)
}

func (m *Map) rows() [][]string {
	rows := [][]string{{"policy", "load", "outage_s", "worst_s", "median_s", "recovered", "metastable"}}
	for _, of := range m.Policies {
		for i, row := range of.Cells {
			for j, c := range row {
				rows = append(rows, []string{of.Name, decimal(m.Loads[i]), decimal(m.Outages[j]), cell(c.Worst), cell(c.Median), decimal(c.Share), strconv.FormatBool(c.Metastable)})
			}
		}
	}
	return rows
}

func write(out io.Writer, rows [][]string) error {
	w := csv.NewWriter(out)
	_ = w.WriteAll(rows) // which Error repeats
	return w.Error()
}

func cell(v *float64) string {
	if v == nil {
		return "never"
	}
	return decimal(*v)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
