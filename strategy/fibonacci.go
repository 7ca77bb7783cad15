package strategy

import "time"

// Fibonacci waits the sum of the two waits before. With n counting failures from 1:
//
//	min(Max, State.Limit, F(n)), F(1) = First, F(2) = Second, F(n) = F(n−1) + F(n−2)
//
// It grows by about 1.6 from one wait to the next, so slower than doubling. The zero value waits 100 ms, 100 ms, 200 ms,
// 300 ms, 500 ms and so on. Without Max the wait saturates at the largest Duration. It does not shrink from one failure
// to the next, except from First to a Second below it, which is valid. So is First above Max: the wait is Max. Negative
// fields are invalid; Next reads them as not set.
//
// It is safe for concurrent use.
type Fibonacci struct {
	// First is the first wait. 0: 100 ms. A real zero is written 1 ns.
	First time.Duration
	// Second is the second wait. 0: First. Twice First gives 1 2 3 5 8.
	Second time.Duration
	// Max caps the wait. 0: none.
	Max time.Duration
}

// Next returns the wait after failure s.Number. It draws nothing, and ok is always true.
func (f Fibonacci) Next(s State) (delay time.Duration, ok bool) {
	a := or(f.First, defaultDelay)
	b, ceiling := or(f.Second, a), s.ceiling(f.Max)
	// Both terms are at least 1 ns, so they reach any ceiling within 92 steps, however large Number is.
	for n := s.steps(); n > 0 && min(a, b) < ceiling; n-- {
		a, b = b, add(a, b, ceiling)
	}
	return min(a, ceiling), true
}

// Ceiling returns Max: a jitter on top stays below it too.
func (f Fibonacci) Ceiling(State) time.Duration { return max(f.Max, 0) }

// Validate returns a *ConfigError for the first field that is negative.
func (f Fibonacci) Validate() error { return check(f.table()) }

// String returns the text that Parse reads, such as "fibonacci(first=100ms, second=200ms, max=20s)".
func (f Fibonacci) String() string { return format(f.table()) }

func (f *Fibonacci) table() (kind string, fields []field) {
	return "Fibonacci", []field{{"First", &f.First}, {"Second", &f.Second}, {"Max", &f.Max}}
}
