package retrysim

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Map is how long each contender needs to recover, over how much is asked of a server and how long it fails.
type Map struct {
	Scenario Scenario
	Seed     uint64
	Trials   int
	// Loads are shares of the server's capacity, Outages the lengths of an outage in which every request fails.
	Loads   []float64
	Outages []time.Duration
	Names   []string
	// Cells are by contender, load and outage.
	Cells [][][]Cell
}

// Cell is one place of a Map.
type Cell struct {
	Recovery
	// Metastable: no trial recovers, while with a single attempt per call all of them do. What keeps the server down is the retries.
	Metastable bool
}

const (
	mapLead    = 10 * time.Second // before the outage
	mapHorizon = 60 * time.Second // after it
	mapEnough  = 5                // steps that go well, after which a cell is done
)

// Stability simulates an outage of every length at every load, and says how long each contender needs to recover from it. The
// scenario's server must be a Queue; its Load, Faults and Length are not used. A load is a share of the Queue's Capacity. The
// outage begins after 10 s; a contender that is not well 60 s after its end never recovers. A cell ends as soon as five steps in a
// row have gone well.
func Stability(ctx context.Context, s Scenario, loads []float64, outages []time.Duration, seed uint64, trials int, progress func(Progress), c ...Contender) (*Map, error) {
	q, ok := s.Server.(Queue)
	if !ok {
		return nil, &ConfigError{"Server", fmt.Sprintf("%T", s.Server), "must be a Queue: only that has a capacity"}
	}
	m := &Map{Scenario: s, Seed: seed, Trials: trials, Loads: loads, Outages: outages}
	for _, one := range c {
		m.Names = append(m.Names, one.Name)
	}
	once := Contender{Name: "one attempt", Policy: singleAttempt, Shared: true}
	all := append(slices.Clone(c), once)
	scenarios, err := m.scenarios(q)
	if err != nil {
		return nil, err
	}
	if err := ready(*scenarios[len(scenarios)-1], trials, all[:len(c)]); err != nil {
		return nil, err
	}
	perCell := len(all) * trials
	n := len(scenarios) * perCell
	cells := make([]Recovery, len(scenarios)*len(all))
	var recoveries []time.Duration
	one := func(ctx context.Context, i int) (*outcome, error) {
		trial := i % trials
		return simulate(ctx, scenarios[i/perCell], &all[i%perCell/trials], trialSeed(seed, trial), mapEnough)
	}
	err = inOrder(ctx, n, one, func(i int, o *outcome) {
		d := Never
		if o.recovery >= 0 {
			d = time.Duration(o.recovery)
		}
		if recoveries = append(recoveries, d); len(recoveries) == trials {
			cells[i/trials] = recoveryOf(recoveries)
			recoveries = recoveries[:0]
		}
		if progress != nil {
			progress(Progress{i + 1, n})
		}
	})
	if err != nil {
		return nil, err
	}
	for k := range c {
		rows := make([][]Cell, len(loads))
		for i := range loads {
			for j := range outages {
				at := (i*len(outages) + j) * len(all)
				r := cells[at+k]
				rows[i] = append(rows[i], Cell{r, r.Share == 0 && cells[at+len(c)].Share == 1})
			}
		}
		m.Cells = append(m.Cells, rows)
	}
	return m, nil
}

// scenarios makes that of each cell, load by load.
func (m *Map) scenarios(q Queue) (all []*Scenario, err error) {
	if len(m.Loads) == 0 || len(m.Outages) == 0 {
		return nil, &ConfigError{"loads, outages", "none", "there must be one of each at least"}
	}
	if math.IsInf(q.Capacity(), 1) {
		return nil, &ConfigError{"Server.Queue.Service", q.Service, "must take time: the load is a share of what the workers can do"}
	}
	for i, load := range m.Loads {
		if !(load > 0 && load <= 10) {
			return nil, &ConfigError{fmt.Sprintf("loads[%d]", i), load, "must be above 0 and at most 10 times the capacity"}
		}
		for j, outage := range m.Outages {
			if outage <= 0 || outage > 24*time.Hour {
				return nil, &ConfigError{fmt.Sprintf("outages[%d]", j), outage, "must be above 0 and at most a day"}
			}
			s := m.Scenario
			s.Load = Open{PerSecond(load * q.Capacity())}
			s.Length = mapLead + outage + mapHorizon
			if s.Drain == 0 || s.Drain > mapHorizon {
				s.Drain = mapHorizon
			}
			s.Faults = []Fault{{From: mapLead, To: mapLead + outage, Fail: 1}}
			if err := s.Validate(); err != nil {
				return nil, err
			}
			all = append(all, &s)
		}
	}
	return all, nil
}
