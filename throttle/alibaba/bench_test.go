package alibaba_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

func nothing(ctxt) error { return nil }

func TestOpenControlDoesNotAllocate(t *testing.T) {
	c := describe()
	c.Observe(time.Now().Add(-time.Hour), failed(t0, 429, user, short, userAPI, short).Signal, nil) // and over
	policy, ctx := retry.MustNew(c.Options()...), t.Context()
	require.Zero(t, testing.AllocsPerRun(200, func() {
		if retry.Run(ctx, nothing, policy) != nil {
			t.Error("held back")
		}
	}))
}

// BenchmarkOpen is a call that nothing holds back, and one without a control.
func BenchmarkOpen(b *testing.B) {
	c := describe()
	for name, policy := range map[string]*retry.Policy{
		"control": retry.MustNew(c.Options()...), "gate": retry.MustNew(retry.WithThrottle(c.Gate.For("a", "b"))), "none": retry.MustNew(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				retry.Run(b.Context(), nothing, policy)
			}
		})
	}
}

func BenchmarkOptions(b *testing.B) {
	c := describe()
	b.ReportAllocs()
	for b.Loop() {
		c.Options()
	}
}

func BenchmarkObserve(b *testing.B) {
	c := describe()
	s := failed(t0, 429, user, short, userAPI, half).Signal
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Observe(t0.Add(time.Duration(i)), s, nil)
	}
}

var _ throttle.Carrier = failed(t0, 0)
