package carry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/internal/carry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type key struct{}

func TestCarry(t *testing.T) {
	plain := context.WithValue(t.Context(), key{}, 7)
	require.Zero(t, carry.From(plain))

	want := carry.Values{NoRetry: true, Number: 2, Max: 5, Name: "orders"}
	ctx := carry.With(plain, want)
	require.Equal(t, want, carry.From(ctx))
	require.Equal(t, 7, ctx.Value(key{}), "other values shine through")

	below, cancel := context.WithCancel(ctx)
	defer cancel()
	require.Equal(t, want, carry.From(below))
	require.Zero(t, carry.From(carry.With(below, carry.Values{})), "the nearest counts, in place of all")
}
