package throttle_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

// admit asks at now, requires the answer and returns the ticket.
func admit(t *testing.T, th throttle.Throttle, now time.Time, ticket throttle.Ticket, want time.Duration) throttle.Ticket {
	t.Helper()
	ticket, wait, err := th.Admit(t.Context(), now, ticket)
	require.NoError(t, err)
	require.Equal(t, want, wait)
	return ticket
}

type tenant struct{}

func tenantOf(ctx context.Context) throttle.Key {
	key, _ := ctx.Value(tenant{}).(throttle.Key)
	return key
}

func as(t *testing.T, key throttle.Key) context.Context {
	return context.WithValue(t.Context(), tenant{}, key)
}

func TestForHoldsBackAllItsKeys(t *testing.T) {
	var g throttle.Gate
	account, api, other := g.For("acme"), g.For("acme", "acme/PlaceOrder"), g.For("acme/ListOrders")
	assert.Nil(t, admit(t, api, t0, nil, 0), "an open gate gives no ticket")

	api.Done(t.Context(), t0, nil, told(30*sec))
	assert.Equal(t, 30*sec, left(t, &g, t0, "acme"))
	assert.Equal(t, 30*sec, left(t, &g, t0, "acme/PlaceOrder"))
	ready(t, account, t0.Add(10*sec), 20*sec)
	ready(t, api, t0.Add(30*sec), 0)
	ready(t, api, t0.Add(time.Hour), 0)
	ready(t, other, t0, 0)

	g.Block(t0, 40*sec, "acme")
	admit(t, api, t0.Add(sec), nil, 39*sec)
	admit(t, other, t0, nil, 0)
}

func TestForReportsTheRefusal(t *testing.T) {
	var g throttle.Gate
	api := g.For("acme", "acme/PlaceOrder")
	explain := func(now time.Time) *throttle.Error { return api.(throttle.Explainer).Explain(t.Context(), now) }
	assert.Nil(t, explain(t0))
	api.Done(t.Context(), t0, nil, told(30*sec))
	g.Block(t0, 40*sec, "acme")
	g.Block(t0, 50*sec, "other")
	assert.Equal(t, &throttle.Error{Key: "acme", Until: t0.Add(40 * sec), Remaining: 35 * sec, Source: "block"}, explain(t0.Add(5*sec)))
	g.Clear("acme")
	assert.Equal(t, &throttle.Error{Key: "acme/PlaceOrder", Until: t0.Add(30 * sec), Remaining: 25 * sec, Source: "retry-after", Err: boom}, explain(t0.Add(5*sec)))
	assert.Nil(t, explain(t0.Add(30*sec)))
}

func TestDoneTakesSignalsOfAllClasses(t *testing.T) {
	for class := throttle.Unset; class <= throttle.Skipped; class++ {
		var g throttle.Gate
		th := g.For("a")
		th.Done(t.Context(), t0, nil, throttle.Outcome{Class: class})
		require.NoError(t, g.Check(t0, "a"))
		o := told(sec)
		o.Class = class
		th.Done(t.Context(), t0, nil, o)
		require.Equal(t, sec, left(t, &g, t0, "a"), "%v", class)
	}
}

func TestForWithoutKeys(t *testing.T) {
	var g throttle.Gate
	for _, th := range []throttle.Throttle{g.For(), g.For(""), g.For("", ""), g.By(nil), (*throttle.Gate)(nil).For("a"), (*throttle.Gate)(nil).By(tenantOf)} {
		g.Block(t0, sec, "", "a")
		th.Done(as(t, "a"), t0, nil, told(time.Hour))
		admit(t, th, t0, nil, 0)
		ready(t, th, t0, 0)
		assert.Nil(t, th.(throttle.Explainer).Explain(t.Context(), t0))
	}
	assert.Equal(t, sec, left(t, &g, t0, "a"))
	assert.Equal(t, 1, g.Remembered())
}

func TestForTakesDuplicates(t *testing.T) {
	var g throttle.Gate
	th := g.For("a", "a", "", "a")
	th.Done(t.Context(), t0, nil, told(sec))
	ticket := admit(t, th, t0, nil, sec)
	admit(t, th, t0.Add(sec), ticket, 0)
	assert.Equal(t, 1, g.Remembered())
}

func TestForCopiesItsKeys(t *testing.T) {
	var g throttle.Gate
	keys := []throttle.Key{"a", "b"}
	th := g.For(keys...)
	keys[0], keys[1] = "x", "y"
	g.Block(t0, sec, "b")
	admit(t, th, t0, nil, sec)
	th.Done(t.Context(), t0, nil, told(2*sec))
	assert.NoError(t, g.Check(t0, "x", "y"))
}

func TestByTakesTheKeyFromTheContext(t *testing.T) {
	g := throttle.Gate{Spread: -1}
	th := g.By(tenantOf)
	wait := func(key throttle.Key, now time.Time) time.Duration {
		_, wait, err := th.Admit(as(t, key), now, nil)
		require.NoError(t, err)
		require.Equal(t, wait, th.(throttle.Planner).Ready(as(t, key), now))
		return wait
	}
	th.Done(as(t, "acme"), t0, nil, told(30*sec))
	assert.Equal(t, 20*sec, wait("acme", t0.Add(10*sec)))
	assert.Zero(t, wait("globex", t0))
	assert.Equal(t, &throttle.Error{Key: "acme", Until: t0.Add(30 * sec), Remaining: 30 * sec, Source: "retry-after", Err: boom},
		th.(throttle.Explainer).Explain(as(t, "acme"), t0))
	assert.Nil(t, th.(throttle.Explainer).Explain(as(t, "globex"), t0))

	th.Done(as(t, ""), t0, nil, told(30*sec))
	assert.Zero(t, wait("", t0), "the empty Key is not gated")
	assert.Equal(t, 1, g.Remembered())
}

func TestByIsNotGivenANilContext(t *testing.T) {
	var g throttle.Gate
	th := g.By(func(ctx context.Context) throttle.Key { return "a" + tenantOf(ctx) })
	var none context.Context
	th.Done(none, t0, nil, told(sec))
	_, wait, err := th.Admit(none, t0, nil)
	assert.NoError(t, err)
	assert.Equal(t, sec, wait)
	assert.Equal(t, sec, left(t, &g, t0, "a"))
	assert.NotNil(t, th.(throttle.Explainer).Explain(none, t0))
	assert.NotZero(t, th.(throttle.Planner).Ready(none, t0))
}

func TestForAndByShareTheirGate(t *testing.T) {
	var g throttle.Gate
	g.By(tenantOf).Done(as(t, "acme"), t0, nil, told(sec))
	admit(t, g.For("acme"), t0, nil, sec)
	g.Clear("acme")
	admit(t, g.For("acme"), t0, nil, 0)
}
