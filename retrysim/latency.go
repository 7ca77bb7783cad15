package retrysim

import (
	"math/bits"
	"slices"
	"time"
)

// exactly is how many durations are kept as they are.
const exactly = 1_000_000

// latencies are durations to take quantiles of: each as it is, up to a million. Beyond that they are counted in classes that
// are at most 1/128 of their value wide, and known by the middle.
type latencies struct {
	samples []int64
	sorted  bool
	classes []int
	n       int
	longest int64
}

func (l *latencies) add(d int64) {
	l.n++
	l.longest = max(l.longest, d)
	if l.classes != nil {
		l.classes[classOf(d)]++
		return
	}
	l.samples, l.sorted = append(l.samples, d), false
	if len(l.samples) > exactly {
		l.classify()
	}
}

func (l *latencies) classify() {
	if l.classes != nil {
		return
	}
	l.classes = make([]int, classOf(1<<63-1)+1)
	for _, d := range l.samples {
		l.classes[classOf(d)]++
	}
	l.samples = nil
}

// merge adds those of o.
func (l *latencies) merge(o *latencies) {
	if o.classes == nil && (l.classes != nil || len(l.samples)+len(o.samples) > exactly) {
		l.classify()
	}
	if o.classes != nil {
		l.classify()
		for i, n := range o.classes {
			l.classes[i] += n
		}
		l.n, l.longest = l.n+o.n, max(l.longest, o.longest)
		return
	}
	for _, d := range o.samples {
		l.add(d)
	}
}

// classOf: below 256 each value is a class; above, the leading eight bits with their place.
func classOf(d int64) int {
	v := uint64(max(d, 0))
	shift := max(bits.Len64(v)-8, 0)
	return shift<<7 + int(v>>shift)
}

func middleOf(class int) int64 {
	if class < 256 {
		return int64(class)
	}
	shift := class>>7 - 1
	return int64(class-shift<<7)<<shift + (int64(1)<<shift)/2
}

// quantile returns the smallest duration that a share q of all does not exceed.
func (l *latencies) quantile(q float64) (d time.Duration, ok bool) {
	if l.n == 0 {
		return 0, false
	}
	rank := min(max(int(ceil(q*float64(l.n)))-1, 0), l.n-1)
	if l.classes == nil {
		if !l.sorted {
			slices.Sort(l.samples)
			l.sorted = true
		}
		return time.Duration(l.samples[rank]), true
	}
	for class, n := range l.classes {
		if rank -= n; rank < 0 {
			return time.Duration(min(middleOf(class), l.longest)), true
		}
	}
	return time.Duration(l.longest), true
}

// ceil rounds up, but takes what lies that little above a whole number for it: 0.99·100 is a bit more than 99.
func ceil(v float64) float64 {
	if whole := float64(int64(v)); v-whole > 1e-9 {
		return whole + 1
	} else {
		return whole
	}
}
