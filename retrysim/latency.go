package retrysim

import (
	"math"
	"math/bits"
	"slices"
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

// quantile returns the smallest duration that a share q of those in all the lists does not exceed; +Inf if there are none.
func quantile(q float64, lists ...*latencies) float64 {
	n, exact, longest := 0, true, int64(0)
	for _, l := range lists {
		n, longest = n+l.n, max(longest, l.longest)
		exact = exact && l.classes == nil
	}
	if n == 0 {
		return math.Inf(1)
	}
	rank := min(max(int(ceil(q*float64(n)))-1, 0), n-1)
	if rank == n-1 {
		return float64(longest)
	}
	if exact {
		return float64(nth(rank, longest, lists))
	}
	var classes []int
	for _, l := range lists {
		l.classify()
		if classes == nil {
			classes = make([]int, len(l.classes))
		}
		for i, k := range l.classes {
			classes[i] += k
		}
	}
	for class, k := range classes {
		if rank -= k; rank < 0 {
			return float64(min(middleOf(class), longest))
		}
	}
	return float64(longest)
}

// nth returns the duration that stands at a place if all are sorted together.
func nth(rank int, longest int64, lists []*latencies) int64 {
	for _, l := range lists {
		if !l.sorted {
			sort(l.samples, l.longest)
			l.sorted = true
		}
	}
	low, high := int64(-1), longest // the answer is above low, and at most high
	for high > low+1 {
		middle := low + 1 + (high-low-1)/2
		if middle == high {
			middle--
		}
		upTo := 0
		for _, l := range lists {
			i, _ := slices.BinarySearch(l.samples, middle+1)
			upTo += i
		}
		if upTo > rank {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// ceil rounds up, but takes what lies that little above a whole number for it: 0.99·100 is a bit more than 99.
func ceil(v float64) float64 {
	if whole := float64(int64(v)); v-whole > 1e-9 {
		return whole + 1
	} else {
		return whole
	}
}

// sort sorts numbers from 0 to most. Many are sorted digit by digit, in time that grows with their number only: a simulation
// would else spend a sixth of its time on it.
func sort(all []int64, most int64) {
	if len(all) < 1000 || bits.Len64(uint64(most)) > 44 {
		slices.Sort(all)
		return
	}
	const digit = 11
	from, to := all, make([]int64, len(all))
	passes := 0
	for shift := 0; most>>shift > 0; shift += digit {
		var ends [1<<digit + 1]int
		for _, v := range from {
			ends[(v>>shift)&(1<<digit-1)+1]++
		}
		for i := 1; i < len(ends); i++ {
			ends[i] += ends[i-1]
		}
		for _, v := range from {
			at := &ends[(v>>shift)&(1<<digit-1)]
			to[*at] = v
			*at++
		}
		from, to = to, from
		passes++
	}
	if passes%2 == 1 {
		copy(all, from)
	}
}
