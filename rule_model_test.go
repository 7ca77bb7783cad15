package retry_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// rmKind is a kind of failure as the model knows it: limits of 0 are not set, negative ones are unlimited.
type rmKind struct {
	err      error
	attempts int
	elapsed  time.Duration
	step     time.Duration // the wait after its n-th failure is n times that
}

func (k rmKind) limited() bool { return k.attempts != 0 || k.elapsed > 0 }

// rmFailure is one that the model remembers.
type rmFailure struct {
	kind int
	at   time.Duration
}

// rmModel answers from all that has happened, and counts it anew every time. Kind 0 is that of no rule: its limits are the
// whole call's.
type rmModel struct {
	kinds []rmKind
	seen  []rmFailure // since the last reset
	since time.Duration
}

func (m *rmModel) count(want func(rmFailure) bool) (n int) {
	for _, f := range m.seen {
		if want(f) {
			n++
		}
	}
	return n
}

// fails says what follows a failure: a wait, or the reason why there is none.
func (m *rmModel) fails(kind int, at time.Duration, reset bool) (wait time.Duration, reason error) {
	if reset {
		m.seen, m.since = nil, at
	}
	m.seen = append(m.seen, rmFailure{kind, at})
	k, all := m.kinds[kind], m.kinds[0]
	n := m.count(func(f rmFailure) bool { return f.kind == kind })
	first := at
	for i := len(m.seen) - 1; i >= 0; i-- {
		if m.seen[i].kind == kind {
			first = m.seen[i].at
		}
	}
	unlimited := m.count(func(f rmFailure) bool { return f.kind == 0 || !m.kinds[f.kind].limited() })
	switch {
	case kind > 0 && k.attempts > 0 && n >= k.attempts:
		return 0, retry.ErrExhausted
	case all.attempts > 0 && len(m.seen) >= all.attempts:
		return 0, retry.ErrExhausted
	case all.attempts == 0 && all.elapsed == 0 && unlimited >= 5:
		return 0, retry.ErrExhausted
	}
	wait = time.Duration(n) * k.step
	switch {
	case all.elapsed > 0 && at-m.since+wait >= all.elapsed:
		return 0, retry.ErrMaxElapsed
	case kind > 0 && k.elapsed > 0 && at-first+wait >= k.elapsed:
		return 0, retry.ErrMaxElapsed
	}
	return wait, nil
}

// rmOptions are the options of kind k.
func (k rmKind) options() (opts []retry.Option) {
	switch {
	case k.attempts > 0:
		opts = append(opts, retry.WithMaxAttempts(k.attempts))
	case k.attempts < 0:
		opts = append(opts, retry.WithUnlimitedAttempts())
	}
	return append(opts, retry.WithMaxElapsed(k.elapsed), retry.WithStrategy(strategy.Linear{Initial: k.step, Increment: k.step}))
}

// rmPlay lets a flow and the model go through a script together. It returns the end, and how many failures it took.
func rmPlay(t *testing.T, script fzScript) (reason error, attempts int) {
	m := &rmModel{}
	var opts []retry.Option
	for i := range 1 + script.pick(4) {
		k := rmKind{
			err: errors.New(string(rune('a' + i))), attempts: fzOneOf(&script, 0, 0, 1, 2, 3, 7, -1), step: fzOneOf(&script, time.Second, 2*time.Second, 5*time.Second),
			elapsed: fzOneOf(&script, 0, 0, 4*time.Second, 30*time.Second, 3*time.Minute),
		}
		if m.kinds = append(m.kinds, k); i == 0 {
			opts = append(opts, k.options()...)
		} else {
			opts = append(opts, retry.WithRule(condition.Is(k.err), k.options()...))
		}
	}
	policy, err := retry.New(append(opts, retry.WithResetAfter(time.Minute))...)
	require.NoError(t, err)
	epoch, now := time.Unix(0, 0), time.Duration(0)
	flow := policy.Begin(epoch, time.Time{}, nil)
	for attempts = 1; attempts < 200; attempts++ {
		require.Equal(t, retry.Go, flow.Next(t.Context(), epoch.Add(now)).Action)
		kind, long := script.pick(len(m.kinds)), fzOneOf(&script, 0, 0, time.Second, 3*time.Second, time.Minute)
		err, reset := m.kinds[kind].err, long == time.Minute
		if script.rarely(12) {
			err, reset = retry.Restart(err), true
		}
		now += long
		wait, reason := m.fails(kind, now, reset)
		step := flow.Report(t.Context(), epoch.Add(now), throttle.Outcome{Err: err})
		require.Equal(t, reason, step.Reason, "failure %d, of kind %d at %v, in %+v", attempts, kind, now, m)
		if reason != nil {
			return reason, attempts
		}
		require.Equal(t, wait, step.Delay, "failure %d, of kind %d at %v, in %+v", attempts, kind, now, m)
		now += wait
	}
	flow.Abort(context.Background(), epoch.Add(now), throttle.Canceled)
	return nil, attempts
}

// rmScripts are the seeds of FuzzRules.
func rmScripts() (scripts [][]byte) {
	source := rand.NewChaCha8([32]byte{'r', 'u', 'l', 'e', 's'})
	for i := range 400 {
		script := make([]byte, 20+i)
		_, _ = source.Read(script)
		scripts = append(scripts, script)
	}
	return scripts
}

// FuzzRules holds rules, resets and the limits around them against a model that remembers everything.
func FuzzRules(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, script := range rmScripts() {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) { rmPlay(t, script) })
}

// TestRuleScriptsReachEverything holds that the seeds of FuzzRules are worth something.
func TestRuleScriptsReachEverything(t *testing.T) {
	ends := map[error]int{}
	long := 0
	for _, script := range rmScripts() {
		reason, attempts := rmPlay(t, script)
		ends[reason]++
		if attempts > 10 {
			long++
		}
	}
	require.Greater(t, ends[retry.ErrExhausted], 50)
	require.Greater(t, ends[retry.ErrMaxElapsed], 50)
	require.NotZero(t, ends[nil])
	require.Greater(t, long, 50)
}
