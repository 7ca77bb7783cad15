package throttle

import (
	"fmt"
	"math"
	"time"

	"github.com/seed-89b3229b/retry/internal/draw"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// Signal is what one answer or error of a server said about trying again. The zero Signal said nothing.
type Signal struct {
	// Delay is the wait that the server asked for. It counts only if HasDelay; below 0 it is read as 0.
	Delay    time.Duration
	HasDelay bool
	// Retry is the server's word on whether to try again.
	Retry Tri
	// Rule says how Delay is used. A policy's WithHint wins over it.
	Rule Rule
	// RestartCurve starts the curve of waits again after this one, as gRPC's pushback does: the strategy's Number, Prev
	// and private memory, none of the limits.
	RestartCurve bool
	// Source names where it was read, such as "retry-after".
	Source string
	// Quotas are the limits that the server spoke of.
	Quotas []Quota
}

// Quota is one limit of a server, as an answer described it.
type Quota struct {
	// Name is the limit's name in the server's words.
	Name string
	// Limit is how much the window allows and Remaining how much is left; below 0: not said.
	Limit, Remaining int64
	// Delay is how long until the window is renewed. It counts only if HasDelay.
	Delay    time.Duration
	HasDelay bool
}

// IsZero reports whether s said nothing. An empty list of Quotas says nothing either.
func (s Signal) IsZero() bool {
	return !s.HasDelay && s.Delay == 0 && s.Retry == Undecided && s.Rule == Rule{} && !s.RestartCurve && s.Source == "" && len(s.Quotas) == 0
}

// Rule says what a told wait does to the planned one. The zero Rule is AtLeast().
type Rule struct {
	kind ruleKind
	span time.Duration
}

type ruleKind uint8

const (
	atLeast ruleKind = iota
	exact
	clamp
	ignore
)

// AtLeast waits as long as told or as planned, whichever is longer. Up to a tenth of the told wait, at most 1 s, is
// added to it at random, so that clients that were told the same do not return together. The default.
func AtLeast() Rule { return Rule{} }

// Exact waits as told, shorter than planned too (gRPC pushback).
func Exact() Rule { return Rule{kind: exact} }

// Clamp waits as told, but no shorter than planned and no longer than span above it (AWS: 5 s). span must not be below
// 0; a negative one is read as 0 where it was not validated.
func Clamp(span time.Duration) Rule { return Rule{kind: clamp, span: span} }

// Ignore waits as planned: somebody else obeys the told wait, such as a pool of tokens.
func Ignore() Rule { return Rule{kind: ignore} }

// Validate returns a *ConfigError for a negative span.
func (r Rule) Validate() error {
	if r.span < 0 {
		return &ConfigError{"Clamp", r.span, notNegative}
	}
	return nil
}

// String returns the rule as it is written.
func (r Rule) String() string {
	switch r.kind {
	case exact:
		return "Exact()"
	case clamp:
		return fmt.Sprintf("Clamp(%v)", r.span)
	case ignore:
		return "Ignore()"
	}
	return "AtLeast()"
}

// Demands reports whether the rule makes the told wait binding, so that one which is too long ends the call.
func (r Rule) Demands() bool { return r.kind == atLeast || r.kind == exact }

// Apply returns the wait that a planned wait and a told one come to, and whether the told one was used:
//
//	AtLeast  max(planned, told + u·min(told/10, 1s)), u drawn from [0, 1)
//	Exact    told
//	Clamp    min(max(planned, told), planned + span)
//	Ignore   planned
//
// random gives AtLeast's random number and is called at most once, only where its answer can matter. Nil: math/rand/v2;
// NaN and what is below 0 is read as 0, what is not below 1 as the largest number that is. Negative waits are read as
// 0; sums saturate. Safe for concurrent use if random is.
func (r Rule) Apply(planned, told time.Duration, random func() float64) (wait time.Duration, used bool) {
	planned, told = max(planned, 0), max(told, 0)
	switch r.kind {
	case exact:
		return told, true
	case clamp:
		wait = min(max(told, planned), saturate.Add(planned, max(r.span, 0)))
		return wait, wait > planned
	case ignore:
		return planned, false
	}
	spread := min(told/10, time.Second)
	// A share below 1 of spread is cut to whole nanoseconds, so this is the most that told can become.
	most := saturate.Add(told, max(spread-1, 0))
	if most <= planned {
		return planned, false
	}
	if most > told {
		told = saturate.Add(told, draw.Below(spread, random))
	}
	return max(planned, told), told > planned
}

const maxDuration = time.Duration(math.MaxInt64)
