package retrysim

import (
	"math"
	"slices"
	"time"
)

// Report is what came of a simulation. The same scenario, seed, trials and contenders make the same report, on every platform and
// whatever runs beside.
type Report struct {
	Scenario Scenario
	Seed     uint64
	Trials   int
	// Results are in the order of the contenders.
	Results []Result
}

// Result is what came of a contender: all trials together, unless said otherwise.
type Result struct {
	Name string
	Counts
	Recovery Recovery
	// Endings are how calls ended: the more frequent ways first, none that did not occur.
	Endings []Ending
	// Series is what happened step by step.
	Series []Step

	pooled [metricKinds]float64
	trials [][metricKinds]float64
}

// Ending is a way for calls to end, such as "exhausted", and how many did.
type Ending struct {
	Reason string
	Calls  int
}

// Value returns a metric over all trials. Counts, ratios and quantiles are those of all calls together; recovery and peaks are the
// worst trial's; utilisation and completion are means. +Inf is never.
func (r *Result) Value(m Metric) float64 { return r.pooled[m.kind] }

// Error returns the standard error of the mean of a metric over the trials. With one trial, and where a trial's value is never,
// it is 0.
func (r *Result) Error(m Metric) float64 {
	_, e := meanOf(len(r.trials), func(i int) float64 { return r.trials[i][m.kind] })
	return e
}

// Mean returns the mean of a metric over the trials, each counting the same. +Inf is never.
func (r *Result) Mean(m Metric) float64 {
	mean, _ := meanOf(len(r.trials), func(i int) float64 { return r.trials[i][m.kind] })
	return mean
}

// Trial returns a metric of one trial, from 0.
func (r *Result) Trial(i int, m Metric) float64 { return r.trials[i][m.kind] }

// Difference returns by how much the result i exceeds the result k in a metric, and the standard error of that. It compares trial
// by trial: both have met the same calls, so what differs between trials does not blur it. Where a value is never it is NaN-free:
// +Inf, -Inf, or 0 if both are.
func (r *Report) Difference(m Metric, i, k int) (mean, err float64) {
	return meanOf(r.Trials, func(trial int) float64 {
		a, b := r.Results[i].trials[trial][m.kind], r.Results[k].trials[trial][m.kind]
		if a == b {
			return 0
		}
		return a - b
	})
}

// Result returns the result of the contender with a name.
func (r *Report) Result(name string) (*Result, bool) {
	i := slices.IndexFunc(r.Results, func(one Result) bool { return one.Name == name })
	if i < 0 {
		return nil, false
	}
	return &r.Results[i], true
}

// meanOf returns the mean of n values, and its standard error.
func meanOf(n int, value func(int) float64) (mean, err float64) {
	for i := range n {
		v := value(i)
		if math.IsInf(v, 0) {
			return v, 0
		}
		mean += v
	}
	mean /= float64(n)
	if n < 2 {
		return mean, 0
	}
	squares := 0.0
	for i := range n {
		d := value(i) - mean
		squares += float64(d * d)
	}
	return mean, math.Sqrt(squares / float64(n-1) / float64(n))
}

// pool is how the outcomes of trials become a Result, one after the other.
type pool struct {
	Result
	good, bad  latencies
	recoveries []time.Duration
}

func (p *pool) add(o *outcome) {
	sum := &p.Counts
	sum.Calls += o.Calls
	sum.Succeeded += o.Succeeded
	sum.FirstTry += o.FirstTry
	sum.Attempts += o.Attempts
	sum.Served += o.Served
	sum.Rejected += o.Rejected
	sum.Dropped += o.Dropped
	sum.Lost += o.Lost
	sum.Wasted += o.Wasted
	sum.Waited += o.Waited
	for i, n := range o.endings {
		sum.endings[i] += n
	}
	for i, s := range o.steps {
		if i == len(p.Series) {
			p.Series = append(p.Series, Step{At: s.At})
		}
		t := &p.Series[i]
		t.Calls, t.Ended, t.Succeeded = t.Calls+s.Calls, t.Ended+s.Ended, t.Succeeded+s.Succeeded
		t.Attempts, t.Completed, t.Refused = t.Attempts+s.Attempts, t.Completed+s.Completed, t.Refused+s.Refused
		t.InFlight, t.Queue, t.Waiting = t.InFlight+s.InFlight, t.Queue+s.Queue, t.Waiting+s.Waiting
		t.Budget += s.Budget
	}
	p.good.merge(&o.good)
	p.bad.merge(&o.bad)
	p.trials = append(p.trials, o.numbers)
	d := Never
	if o.recovery >= 0 {
		d = time.Duration(o.recovery)
	}
	p.recoveries = append(p.recoveries, d)
}

// result draws the conclusions of all trials.
func (p *pool) result() Result {
	n := &p.pooled
	whole := outcome{Counts: p.Counts, good: p.good, bad: p.bad}
	whole.fromCounts(n)
	whole.fromLatencies(n)
	for i, m := range metrics {
		switch m.pool {
		case worst:
			n[i] = p.trials[0][i]
			for _, t := range p.trials {
				n[i] = max(n[i], t[i])
			}
		case average:
			n[i], _ = meanOf(len(p.trials), func(k int) float64 { return p.trials[k][i] })
		}
	}
	p.Recovery = recoveryOf(p.recoveries)
	for kind, calls := range p.endings {
		if calls > 0 {
			p.Endings = append(p.Endings, Ending{endingNames[kind], calls})
		}
	}
	slices.SortStableFunc(p.Endings, func(a, b Ending) int { return b.Calls - a.Calls })
	return p.Result
}

// recoveryOf sums up those of several trials, which it sorts.
func recoveryOf(all []time.Duration) (r Recovery) {
	slices.Sort(all)
	r.Worst, r.Median = all[len(all)-1], all[(len(all)-1)/2]
	for _, d := range all {
		if d != Never {
			r.Share++
		}
	}
	r.Share /= float64(len(all))
	return r
}
