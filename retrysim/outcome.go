package retrysim

import (
	"fmt"
	"math"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// outcome is what came of one contender in one trial.
type outcome struct {
	Counts
	steps     []Step
	good, bad latencies
	numbers   [metricKinds]float64 // +Inf: never
	recovery  int64                // in nanoseconds; below 0: never
	problem   error                // a law that the simulation itself broke
}

// outcome draws the conclusions of a run.
func (w *world) outcome() *outcome {
	o := &outcome{Counts: w.total, steps: w.steps, good: w.good, bad: w.bad}
	o.recovery = recovery(w.steps, w.step, int64(w.scenario.faultsEnd()), w.length)
	o.problem = w.check()
	n := &o.numbers
	o.fromCounts(n)
	o.fromLatencies(n)
	n[metricRecovery] = math.Inf(1)
	if o.recovery >= 0 {
		n[metricRecovery], n[metricRecovered] = float64(o.recovery), 1
	}
	load, first := 0, 0
	for _, s := range w.steps {
		if int64(s.At) >= w.length {
			break
		}
		first++
		load = max(load, s.Attempts)
		if s.Calls > 0 {
			n[metricPeakAmplification] = max(n[metricPeakAmplification], float64(s.Attempts)/float64(s.Calls))
		}
	}
	if sum := float64(w.total.Attempts); sum > 0 {
		n[metricPeakLoad] = float64(load) * float64(len(w.steps)) / sum
	}
	n[metricPeakQueue] = float64(w.peakQueue)
	n[metricCompletion] = float64(w.last)
	if q, ok := innermost(w.scenario.Server).(Queue); ok && w.now > 0 {
		n[metricUtilisation] = w.busy.sum / (float64(w.now) * float64(q.Workers))
	}
	return o
}

// recovery returns how long after the faults it takes until all is well for good: to the beginning of the first step from which on
// the calls that begin succeed, nearly all of them. Steps count up to the first with calls that have not ended. Below 0: never.
func recovery(steps []Step, step, faultsEnd, length int64) int64 {
	n := 0
	for n < len(steps) && int64(steps[n].At) < length && steps[n].Ended == steps[n].Calls {
		n++
	}
	for i := n; i > 0; i-- {
		if steps[i-1].Success() < healthy {
			if i == n {
				return -1
			}
			return max(int64(i)*step-faultsEnd, 0)
		}
	}
	if n == 0 || int64(n)*step <= faultsEnd {
		return -1 // nothing is known of the time after the faults
	}
	return 0
}

// check holds the run to what must be true whatever happens: calls, attempts and budgets add up, and the requests in the server
// are on average the rate at which they come times the time that each stays (Little's law).
func (w *world) check() error {
	t := &w.total
	ends := 0
	for _, n := range t.endings {
		ends += n
	}
	under := 0
	for _, n := range []int{t.Served, t.Rejected, t.Dropped, t.Lost} {
		under += n
	}
	switch {
	case t.Calls != ends:
		return fmt.Errorf("retrysim: %d calls began and %d ended", t.Calls, ends)
	case w.open != 0 || w.flows != 0:
		return fmt.Errorf("retrysim: %d calls were left open, %d flows", w.open, w.flows)
	case under > t.Attempts:
		return fmt.Errorf("retrysim: %d attempts were sent, and %d dealt with", t.Attempts, under)
	case w.under == 0 && under != t.Attempts:
		return fmt.Errorf("retrysim: %d attempts were sent, %d dealt with, and none is under way", t.Attempts, under)
	case t.Wasted > t.Served:
		return fmt.Errorf("retrysim: %d of %d served requests were wasted", t.Wasted, t.Served)
	}
	for _, b := range w.budgets {
		if b, ok := b.(*throttle.InFlightBudget); ok && (b.Active() != 0 || b.Retrying() != 0) {
			return fmt.Errorf("retrysim: %d calls and %d retries are left in an in-flight budget", b.Active(), b.Retrying())
		}
	}
	w.inside.to(w.now, w.present)
	if a, b := w.inside.sum, w.sojourns; w.present == 0 && math.Abs(a-b) > 0.01*max(a, b)+1 {
		return fmt.Errorf("retrysim: Little's law: %g in the server over time, and %g by those who were there", a, b)
	}
	return nil
}

func (o *outcome) fromCounts(n *[metricKinds]float64) {
	share := func(part, whole int) float64 {
		if whole == 0 {
			return 0
		}
		return float64(part) / float64(whole)
	}
	n[metricCalls], n[metricAttempts] = float64(o.Calls), float64(o.Attempts)
	n[metricAmplification] = share(o.Attempts, o.Calls)
	n[metricSuccess], n[metricFirstTry] = share(o.Succeeded, o.Calls), share(o.FirstTry, o.Calls)
	n[metricWasted] = share(o.Wasted, o.Served)
	n[metricRefused] = float64(o.endings[refused] + o.endings[budget] + o.endings[hintTooLong])
	n[metricWaited] = o.Waited
}

func (o *outcome) fromLatencies(n *[metricKinds]float64) {
	for _, q := range []struct {
		good, all metricKind
		share     float64
	}{
		{metricP50, metricAllP50, 0.5}, {metricP90, metricAllP90, 0.9}, {metricP99, metricAllP99, 0.99},
		{metricP999, metricAllP999, 0.999}, {metricMax, metricAllMax, 1},
	} {
		n[q.good], n[q.all] = quantile(q.share, &o.good), quantile(q.share, &o.good, &o.bad)
	}
}

// Recovery is how long after the last fault it took until all was well for good: until the first step from which on at least 95 %
// of the calls that began in each step succeeded. Without a fault it counts from the beginning.
type Recovery struct {
	// Worst and Median are those of the trials; Never where they did not recover.
	Worst, Median time.Duration
	// Share is the share of the trials that recovered.
	Share float64
}

// Never is a Recovery's Worst or Median that did not happen.
const Never time.Duration = math.MaxInt64
