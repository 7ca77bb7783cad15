package main

import (
	"fmt"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
)

// verify compares the metrics with what has happened: five calls, with the ends that the script has for them, and no
// attempt that is not a request to the stock service.
func verify(rows []row, requests int) error {
	ends := map[string]uint64{}
	var attempts, counted, told int
	for _, r := range rows {
		outcome, _ := r.attributes.Value(observe.KeyOutcome)
		switch r.metric {
		case observe.MetricOperationDuration:
			ends[outcome.AsString()] += r.count
		case observe.MetricOperationAttempts:
			attempts += int(r.sum)
		case observe.MetricAttemptDuration:
			counted += int(r.count)
		case observe.MetricDelayDuration:
			if r.is(observe.KeyDelaySource, retry.SourceServer.String()) {
				told += int(r.count)
			}
		}
	}
	want := map[string]uint64{
		retry.EndSucceeded.String(): 2, retry.EndAborted.String(): 1, retry.EndExhausted.String(): 1, retry.EndThrottled.String(): 1,
	}
	if len(ends) != len(want) {
		return fmt.Errorf("the calls should have ended as in %v, not %v", want, ends)
	}
	for outcome, n := range want {
		if ends[outcome] != n {
			return fmt.Errorf("%d calls should have ended with %s, not %d", n, outcome, ends[outcome])
		}
	}
	switch {
	case attempts != requests:
		return fmt.Errorf("%d attempts of calls do not go with %d requests", attempts, requests)
	case counted != requests:
		return fmt.Errorf("%d single attempts do not go with %d requests", counted, requests)
	case told != 1:
		return fmt.Errorf("1 wait should have been the server's, not %d", told)
	}
	return nil
}
