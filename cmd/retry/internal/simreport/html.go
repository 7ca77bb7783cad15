package simreport

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/seed-89b3229b/retry/retrysim"
)

//go:embed page.html
var source string

var page = template.Must(template.New("page").Parse(source))

// Page is what the HTML page shows.
type Page struct {
	// Picture is an SVG, and Source the text of the scenario, to run it again.
	Picture, Source string
	Report          *Report
}

type card struct {
	Name, Verdict, Sign, Success, Amplification, Wasted, P99 string
}

// Write writes one page that needs no other file: picture, numbers, series and data.
func (p Page) Write(out io.Writer) error {
	data, err := json.Marshal(p.Report)
	if err != nil {
		return err
	}
	return page.Execute(out, map[string]any{
		"Report": p.Report, "Picture": template.HTML(p.Picture), "Source": p.Source, "Data": template.JS(data), "Cards": p.cards(),
		"Series": p.series(), "Maps": p.maps(),
	})
}

func (p Page) cards() (all []card) {
	text := func(one Result, name string) string {
		m, _ := retrysim.MetricOf(name)
		v := one.Metrics[name]
		if v == nil {
			return "never"
		}
		if m.Unit == retrysim.Duration {
			return m.Format(*v * 1e9)
		}
		return m.Format(*v)
	}
	for _, one := range p.Report.Results {
		c := card{one.Name, "", "✓", text(one, "success"), text(one, "amplification"), text(one, "wasted"), text(one, "p99")}
		switch {
		case len(p.Report.Scenario.Faults) == 0:
			c.Sign, c.Verdict = "", text(one, "success")+" succeed"
		case one.Recovery.Worst == nil && one.Recovery.Share > 0:
			c.Sign, c.Verdict = "✕", fmt.Sprintf("recovers in %.0f%% of the trials", 100*one.Recovery.Share)
		case one.Recovery.Worst == nil:
			c.Sign, c.Verdict = "✕", "never recovers"
		case *one.Recovery.Worst == 0:
			c.Verdict = "recovers at once"
		default:
			c.Verdict = "recovers in " + time.Duration(*one.Recovery.Worst*1e9).String()
		}
		all = append(all, c)
	}
	return all
}

// seriesRow is a step: for each policy its load and success.
type seriesRow struct {
	At    string
	Cells []string
}

func (p Page) series() (rows []seriesRow) {
	for i, one := range p.Report.Results {
		for k, s := range one.Series {
			if k == len(rows) {
				rows = append(rows, seriesRow{At: decimal(s.At), Cells: make([]string, 2*len(p.Report.Results))})
			}
			rows[k].Cells[2*i] = fmt.Sprintf("%.0f", float64(s.Attempts)/p.Report.Scenario.Step/float64(p.Report.Trials))
			rows[k].Cells[2*i+1] = "–"
			if s.Calls > 0 && s.Ended == s.Calls {
				rows[k].Cells[2*i+1] = fmt.Sprintf("%.0f%%", 100*float64(s.Succeeded)/float64(s.Calls))
			}
		}
	}
	const most = 600 // rows that somebody may still want to read; all of them are in the data
	return rows[:min(len(rows), most)]
}

type mapTable struct {
	Name    string
	Outages []string
	Rows    []seriesRow
}

func (p Page) maps() (all []mapTable) {
	if p.Report.Map == nil {
		return nil
	}
	for _, of := range p.Report.Map.Policies {
		t := mapTable{Name: fmt.Sprintf("%s: every outage is survived up to %.0f%% of the capacity", of.Name, 100*of.Stable)}
		for _, d := range p.Report.Map.Outages {
			t.Outages = append(t.Outages, decimal(d)+" s")
		}
		for i := len(of.Cells) - 1; i >= 0; i-- {
			row := seriesRow{At: fmt.Sprintf("%.0f%%", 100*p.Report.Map.Loads[i])}
			for _, c := range of.Cells[i] {
				text := "∞"
				if c.Worst != nil {
					text = decimal(*c.Worst)
				} else if c.Metastable {
					text = "∞ !"
				}
				row.Cells = append(row.Cells, text)
			}
			t.Rows = append(t.Rows, row)
		}
		all = append(all, t)
	}
	return all
}
