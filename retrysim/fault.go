package retrysim

import (
	"fmt"
	"time"
)

// Fault is what goes wrong at the server for a time. Faults may overlap: probabilities combine as of independent events, shares
// and factors multiply.
type Fault struct {
	// From and To are when it begins and ends, the latter excluded.
	From, To time.Duration
	// Fail is the share of requests that fail. They do so after they have been worked on, or, with Fast, when they arrive.
	Fail float64
	Fast bool
	// Capacity is the share of a Queue's workers that is left, rounded to whole workers. 0: all of them; to leave none, write a
	// negative share.
	Capacity float64
	// Latency is how many times as long the work takes, at a Queue or a Slope. 0: once.
	Latency float64
	// Blackhole lets requests and answers vanish.
	Blackhole bool
}

// Validate returns a *ConfigError for a time that is negative or does not end after it begins, a Fail that is not from 0 to 1, a
// Capacity above 1, a Latency that is not from 0 to a million, and a fault that is none.
func (f Fault) Validate() error {
	if err := checkDurations(named{"From", f.From}, named{"To", f.To}); err != nil {
		return err
	}
	switch {
	case f.To <= f.From:
		return &ConfigError{"To", f.To, "must be after From"}
	case !(f.Fail >= 0 && f.Fail <= 1):
		return &ConfigError{"Fail", f.Fail, "must be from 0 to 1"}
	case !(f.Capacity <= 1):
		return &ConfigError{"Capacity", f.Capacity, "must be at most 1"}
	case !(f.Latency >= 0 && f.Latency <= 1e6):
		return &ConfigError{"Latency", f.Latency, "must be from 0 to a million"}
	case f.Fail == 0 && f.Capacity == 0 && f.Latency == 0 && !f.Blackhole:
		return &ConfigError{"Fault", fmt.Sprintf("%v..%v", f.From, f.To), "must do something: Fail, Capacity, Latency or Blackhole"}
	}
	return nil
}

// trouble is what all faults of a moment come to.
type trouble struct {
	slow, fast float64 // probabilities of failure
	share      float64 // of the workers
	times      float64 // as long
	blackhole  bool
}

// troubleAt adds up the faults of a moment.
func troubleAt(faults []Fault, at int64) trouble {
	t := trouble{share: 1, times: 1}
	for _, f := range faults {
		if at < int64(f.From) || at >= int64(f.To) {
			continue
		}
		if p := &t.slow; f.Fail > 0 {
			if f.Fast {
				p = &t.fast
			}
			*p = 1 - float64((1-*p)*(1-f.Fail))
		}
		if f.Capacity != 0 {
			t.share *= max(f.Capacity, 0)
		}
		if f.Latency > 0 {
			t.times *= f.Latency
		}
		t.blackhole = t.blackhole || f.Blackhole
	}
	return t
}
