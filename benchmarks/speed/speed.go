// Package speed has the same work done by each library, and measures it.
package speed

import (
	"context"
	"errors"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// Row is one piece of work.
type Row struct {
	ID string
	// Does says what a call does.
	Does string
	// Calls is how often the operation is called.
	Calls int
	// Goroutines is how many share the policy.
	Goroutines int

	delay time.Duration // between attempts, where there is more than one
}

// The rows.
var (
	First = Row{ID: "first-try", Calls: 1, Goroutines: 1,
		Does: "success at the first attempt; a policy of 4 attempts, exponential waits"}
	Inline = Row{ID: "inline", Calls: 1, Goroutines: 1,
		Does: "success at the first attempt; two settings given in the call: 3 attempts, waits of at most 1 s"}
	NoWait = Row{ID: "retry3-nowait", Calls: 4, Goroutines: 1,
		Does: "three failures, then success; no wait in between"}
	Wait = Row{ID: "retry3-wait1ns", Calls: 4, Goroutines: 1, delay: 1,
		Does: "three failures, then success; waits of 1 ns, which have passed by the time that a timer could be started"}
	LongWait = Row{ID: "retry3-wait100us", Calls: 4, Goroutines: 1, delay: 100 * time.Microsecond,
		Does: "three failures, then success; waits of 100 µs, so that each needs a timer, and the system takes most of the time"}
	One = Row{ID: "shared-1", Calls: 1, Goroutines: 1,
		Does: "as first-try, one policy used by 1 goroutine; libraries whose policies may be shared"}
	Sixteen = Row{ID: "shared-16", Calls: 1, Goroutines: 16,
		Does: "the same policy used by 16 goroutines at a time: the time of the whole divided by the number of calls"}
)

// Rows are all rows, in their order.
var Rows = []Row{First, Inline, NoWait, Wait, LongWait, One, Sixteen}

// Use says how a library is used in a case.
type Use string

// The uses. Documented ones are compared; Unsafe shows what is left of the cost where its documentation is not heeded.
const (
	Once    Use = "policy made once"
	Fresh   Use = "policy made in each call"
	Default Use = "no policy: the defaults"
	Options Use = "options made once, no policy to make"
	Fixed   Use = "policy made once, for one context"
	Call    Use = "in the call"
	Unsafe  Use = "policy reused: unsafe to share"
	Bare    Use = "no library: the operation alone"
)

// Case is one library at one piece of work.
type Case struct {
	Row     Row
	Library *library.Library // nil: none
	Use     Use
	// Make prepares what is made once, and returns one call.
	Make func(ctx context.Context, op library.Op) func() (int, error)
}

// Name is the case's name as a benchmark.
func (c *Case) Name() string {
	if c.Library == nil {
		return c.Row.ID + "/bare"
	}
	return c.Row.ID + "/" + c.Library.Name + "/" + string(c.Use)
}

// Documented says that the case uses its library as that asks to be used.
func (c *Case) Documented() bool { return c.Use != Unsafe && c.Use != Bare }

// Cases are all cases, row by row, in each row ours before the peers.
func Cases() []Case {
	var cases []Case
	for _, row := range Rows {
		cases = append(cases, bare(row)...)
		for i, l := range library.All() {
			for _, c := range makers[i](row) {
				c.Row, c.Library = row, l
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// makers are the cases of each library, in the order of library.All.
var makers = []func(Row) []Case{ours, cenkalti4, cenkalti5, cenkalti7, avast4, avast5, sethvargo, failsafeGo, codegroove, eapache}

func bare(row Row) []Case {
	if row.Calls > 1 {
		return nil
	}
	return []Case{{Row: row, Use: Bare, Make: func(ctx context.Context, op library.Op) func() (int, error) {
		return func() (int, error) { return op(ctx) }
	}}}
}

var errFlaky = errors.New("flaky")

// Succeed is the operation that succeeds at once.
//
//go:noinline
func Succeed(context.Context) (int, error) { return 42, nil }

// Failing returns an operation that fails n times, then succeeds, over and over.
func Failing(n int) library.Op {
	calls := 0
	return func(context.Context) (int, error) {
		if calls++; calls%(n+1) != 0 {
			return 0, errFlaky
		}
		return 42, nil
	}
}

// Op is the operation of a row.
func (r Row) Op() library.Op {
	if r.Calls == 1 {
		return Succeed
	}
	return Failing(r.Calls - 1)
}

// The settings of all libraries.
const (
	attempts = 4
	base     = 200 * time.Millisecond
	most     = 20 * time.Second

	inlineAttempts = 3
	inlineMost     = time.Second
)
