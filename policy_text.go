package retry

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/quote"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// String returns the settings in force for Do, in one line, defaults included, and how long a call lasts that keeps failing, such as
//
//	retry "orders": 5 attempts, each of at most 2s; waits fulljitter(base=200ms, max=20s), 1.5s on average and 3s at most in all, with the attempts at most 13s; told waits up to 1m0s
//
// What is known is what the number of failures decides: a curve of the caller's own, one that is shared by all calls, and
// attempts without limit have no sum, and told waits, throttles and rules add to it. Conditions, throttles, observers and the like
// are counted, not shown: no key and no secret is in it. A nil Policy is the default one. The text is for people, and may
// change.
func (p *Policy) String() string {
	if p == nil {
		p = &defaultPolicy
	}
	return p.config.text()
}

// String returns the settings of a policy that is made of c alone, as Policy.String does; what is wrong with c, if it cannot be
// used. The text is for people, and may change.
func (c Config) String() string {
	p, err := New(c)
	if err != nil {
		return "retry: unusable: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return p.String()
}

func (c *config) text() string {
	parts := []string{c.attemptsText(), c.waitsText()}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.maxElapsed > 0 {
		add("no wait beyond %v (WithMaxElapsed)", c.maxElapsed)
	}
	if c.maxRetryElapsed > 0 {
		add("no wait beyond %v after the first failure (WithMaxRetryElapsed)", c.maxRetryElapsed)
	}
	if c.initialDelay > 0 {
		add("first delay %v%s", c.initialDelay, jittered(c.initialJitter != nil))
	}
	if c.hintSet {
		add("told waits up to %v, %v", c.hintLimit(), c.hint)
	} else {
		add("told waits up to %v", c.hintLimit())
	}
	if c.resetAfter > 0 {
		add("a reset after %v", c.resetAfter)
	}
	if c.history > 0 {
		add("a history of %d", c.history)
	}
	if with := c.counted(); len(with) > 0 {
		add("with %s", strings.Join(with, ", "))
	}
	name := ""
	if c.name != "" {
		name = " " + quote.Quote(c.name)
	}
	return "retry" + name + ": " + strings.Join(parts, "; ")
}

func (c *config) attemptsText() string {
	text := "attempts without limit"
	if n := c.attempts(); n != Unlimited {
		text = plural(n, "attempt")
	}
	switch {
	case c.attemptTimeout > 0:
		text += ", each of at most " + c.attemptTimeout.String()
	case c.timeoutShare > 0:
		text += fmt.Sprintf(", each of at most %v%% of the time left", 100*c.timeoutShare)
		if c.minTimeout > 0 {
			text += " or " + c.minTimeout.String()
		}
	}
	return text
}

func (c *config) waitsText() string {
	if c.attempts() == 1 {
		return "no retries"
	}
	curve := c.curve(&c.terms)
	text := "waits " + typeName(reflect.TypeOf(curve))
	if s, ok := curve.(fmt.Stringer); ok {
		text = "waits " + quote.Cut(s.String())
	}
	text += jittered(c.jitter != nil)
	if c.maxDelay > 0 {
		text += " of at most " + c.maxDelay.String()
	}
	l, known := c.lasts()
	limit := min(orForever(c.maxElapsed), orForever(c.maxRetryElapsed))
	switch {
	case !known && limit == forever:
		return text
	case !known, l.worst >= limit:
		text += ", less than " + limit.String() + " in all"
	case !l.averageKnown:
		text += ", at most " + readable(l.worst).String() + " in all"
	case l.average == l.worst:
		text += ", " + readable(l.worst).String() + " in all"
	default:
		text += fmt.Sprintf(", %v on average and %v at most in all", readable(l.average), readable(l.worst))
	}
	if t := c.attemptTimeout; t > 0 {
		all := min(saturate.Add(orForever(c.maxElapsed), t), saturate.Add(orForever(c.maxRetryElapsed), saturate.Times(2, t)))
		if known {
			all = min(all, saturate.Add(l.worst, saturate.Times(int64(l.waits)+1, t)))
		}
		text += ", with the attempts at most " + readable(all).String()
	}
	return text
}

// counted is what a policy has beside its numbers.
func (c *config) counted() (with []string) {
	add := func(n int, what string) {
		if n > 0 {
			with = append(with, plural(n, what))
		}
	}
	add(len(c.rules), "rule")
	if c.retryIf != nil {
		with = append(with, "WithRetryIf in the place of conditions")
	}
	add(len(c.conditions), "condition")
	add(len(c.throttles), "throttle")
	add(count(c.budget != nil), "budget")
	switch o := c.observer.(type) {
	case nil:
	case observers:
		add(len(o), "observer")
	default:
		add(1, "observer")
	}
	add(count(c.logger != nil), "logger")
	add(len(c.onRetry)+len(c.beforeRetry), "hook")
	add(count(c.results != nil), "hook on results")
	add(count(c.fallback != nil), "fallback")
	add(count(c.stop != nil), "stop channel")
	add(count(c.clock != nil), "clock of its own")
	return with
}

const forever time.Duration = math.MaxInt64

// orForever reads a limit of 0, which is none.
func orForever(limit time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return forever
}

func jittered(is bool) string {
	if is {
		return " with jitter"
	}
	return ""
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
