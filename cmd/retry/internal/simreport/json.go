// Package simreport writes what came of simulations as JSON, CSV and one HTML page.
package simreport

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/seed-89b3229b/retry/retrysim"
)

// Report is the JSON of a simulation, version 1. Times are in seconds; a metric that is never is null.
type Report struct {
	Version  int      `json:"version"`
	Scenario Scenario `json:"scenario"`
	Seed     uint64   `json:"seed"`
	Trials   int      `json:"trials"`
	Results  []Result `json:"results,omitempty"`
	Map      *Map     `json:"map,omitempty"`
}

// Scenario says what was simulated.
type Scenario struct {
	Name     string  `json:"name"`
	Text     string  `json:"text"`
	Length   float64 `json:"length_s"`
	Step     float64 `json:"step_s"`
	Timeout  float64 `json:"timeout_s"`
	Deadline float64 `json:"deadline_s"`
	Clients  int     `json:"clients"`
	Faults   []Fault `json:"faults"`
}

// Fault is when something went wrong, and what.
type Fault struct {
	From float64 `json:"from_s"`
	To   float64 `json:"to_s"`
	Text string  `json:"text"`
}

// Result is what came of a policy.
type Result struct {
	Name string `json:"name"`
	// Metrics are by name: counts, shares from 0 to 1, and times in seconds.
	Metrics  map[string]*float64 `json:"metrics"`
	Errors   map[string]float64  `json:"standard_errors,omitempty"`
	Recovery Recovery            `json:"recovery"`
	Endings  []Ending            `json:"endings"`
	Series   []Step              `json:"series"`
}

// Recovery is after how many seconds all was well; null: never.
type Recovery struct {
	Worst  *float64 `json:"worst_s"`
	Median *float64 `json:"median_s"`
	Share  float64  `json:"share"`
}

// Ending is a way for calls to end.
type Ending struct {
	Reason string `json:"reason"`
	Calls  int    `json:"calls"`
}

// Step is a step of the series, added up over the trials.
type Step struct {
	At        float64 `json:"at_s"`
	Calls     int     `json:"calls"`
	Ended     int     `json:"ended"`
	Succeeded int     `json:"succeeded"`
	Attempts  int     `json:"attempts"`
	Completed int     `json:"completed"`
	Refused   int     `json:"refused"`
	InFlight  int     `json:"in_flight"`
	Queue     int     `json:"queue"`
	Waiting   int     `json:"waiting"`
	Budget    float64 `json:"budget"`
}

// Map is a stability map.
type Map struct {
	Loads    []float64 `json:"loads"`
	Outages  []float64 `json:"outages_s"`
	Policies []MapOf   `json:"policies"`
}

// MapOf is the map of a policy: cells by load and outage.
type MapOf struct {
	Name   string   `json:"name"`
	Stable float64  `json:"stable"`
	Cells  [][]Cell `json:"cells"`
}

// Cell is one place of a map.
type Cell struct {
	Recovery
	Metastable bool `json:"metastable"`
}

// Of makes the JSON of a report.
func Of(r *retrysim.Report) *Report {
	out := &Report{Version: 1, Scenario: scenarioOf(r.Scenario), Seed: r.Seed, Trials: r.Trials}
	for i := range r.Results {
		one := &r.Results[i]
		result := Result{Name: one.Name, Metrics: map[string]*float64{}, Recovery: recoveryOf(one.Recovery), Endings: []Ending{}, Series: []Step{}}
		for _, m := range retrysim.Metrics() {
			result.Metrics[m.Name] = number(m, one.Value(m))
			if r.Trials > 1 {
				if result.Errors == nil {
					result.Errors = map[string]float64{}
				}
				result.Errors[m.Name] = *number(m, one.Error(m))
			}
		}
		for _, e := range one.Endings {
			result.Endings = append(result.Endings, Ending(e))
		}
		for _, s := range one.Series {
			result.Series = append(result.Series, Step{s.At.Seconds(), s.Calls, s.Ended, s.Succeeded, s.Attempts, s.Completed, s.Refused, s.InFlight, s.Queue, s.Waiting, s.Budget})
		}
		out.Results = append(out.Results, result)
	}
	return out
}

// OfMap makes the JSON of a map.
func OfMap(m *retrysim.Map) *Report {
	out := &Report{Version: 1, Scenario: scenarioOf(m.Scenario), Seed: m.Seed, Trials: m.Trials, Map: &Map{Loads: m.Loads}}
	for _, d := range m.Outages {
		out.Map.Outages = append(out.Map.Outages, d.Seconds())
	}
	for k, name := range m.Names {
		of := MapOf{Name: name, Stable: m.Stable(k)}
		for _, row := range m.Cells[k] {
			cells := []Cell{}
			for _, c := range row {
				cells = append(cells, Cell{recoveryOf(c.Recovery), c.Metastable})
			}
			of.Cells = append(of.Cells, cells)
		}
		out.Map.Policies = append(out.Map.Policies, of)
	}
	return out
}

// WriteJSON writes it, indented.
func (r *Report) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func scenarioOf(s retrysim.Scenario) Scenario {
	step := s.Step
	if step == 0 {
		step = time.Second
	}
	out := Scenario{s.Name, s.Describe(), s.Length.Seconds(), step.Seconds(), s.Timeout.Seconds(), s.Deadline.Seconds(), max(s.Clients, 1), []Fault{}}
	for _, f := range s.Faults {
		out.Faults = append(out.Faults, Fault{f.From.Seconds(), f.To.Seconds(), f.Describe()})
	}
	return out
}

func recoveryOf(r retrysim.Recovery) Recovery {
	return Recovery{secondsOf(r.Worst), secondsOf(r.Median), r.Share}
}

func secondsOf(d time.Duration) *float64 {
	if d == retrysim.Never {
		return nil
	}
	v := d.Seconds()
	return &v
}

// number is a metric's value as files have it: times in seconds.
func number(m retrysim.Metric, v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	if m.Unit == retrysim.Duration {
		v /= 1e9
	}
	return &v
}
