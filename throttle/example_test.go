package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

func ExampleGate() {
	var gate throttle.Gate
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	gate.Block(now, 30*time.Second, "acme")
	fmt.Println(gate.Check(now.Add(10*time.Second), "acme"))
	fmt.Println(gate.Check(now.Add(10*time.Second), "globex"))
	fmt.Println(gate.Check(now.Add(30*time.Second), "acme"))
	// Output:
	// throttle: "acme" is cooling down for 20s (block)
	// <nil>
	// <nil>
}

// One call is told to wait, and another one that shares a key is held back. This is what the executor does with a
// Throttle.
func ExampleGate_For() {
	var gate throttle.Gate
	place := gate.For("acme", "acme/PlaceOrder")
	list := gate.For("acme", "acme/ListOrders")
	ctx := context.Background()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	ticket, wait, _ := place.Admit(ctx, now, nil)
	fmt.Println("place:", wait)
	place.Done(ctx, now, ticket, throttle.Outcome{
		Err:    errors.New("429 Too Many Requests"),
		Class:  throttle.Throttled,
		Signal: throttle.Signal{Delay: 30 * time.Second, HasDelay: true, Source: "retry-after"},
	})

	ticket, wait, _ = list.Admit(ctx, now.Add(10*time.Second), nil)
	fmt.Println("list:", wait)
	ticket, wait, _ = list.Admit(ctx, now.Add(30*time.Second), ticket)
	fmt.Println("list:", wait)
	list.Done(ctx, now.Add(30*time.Second), ticket, throttle.Outcome{Class: throttle.Success})
	// Output:
	// place: 0s
	// list: 20s
	// list: 0s
}

func ExampleGate_By() {
	type tenantKey struct{}
	var gate throttle.Gate
	perTenant := gate.By(func(ctx context.Context) throttle.Key {
		tenant, _ := ctx.Value(tenantKey{}).(string)
		return throttle.Key(tenant)
	})
	acme := context.WithValue(context.Background(), tenantKey{}, "acme")
	globex := context.WithValue(context.Background(), tenantKey{}, "globex")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	gate.Block(now, time.Minute, "acme")
	for _, ctx := range []context.Context{acme, globex} {
		_, wait, _ := perTenant.Admit(ctx, now, nil)
		fmt.Println(wait)
	}
	// Output:
	// 1m0s
	// 0s
}

// A wait that cannot end in time is not begun.
func ExampleGate_Wait() {
	var gate throttle.Gate
	gate.Block(time.Now(), time.Minute, "acme")

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := gate.Wait(ctx, "acme")

	var refusal *throttle.Error
	fmt.Println(errors.As(err, &refusal), errors.Is(err, context.DeadlineExceeded))
	fmt.Println(refusal.Key, ctx.Err())
	// Output:
	// true true
	// acme <nil>
}

// RateLimited is an error that knows when to come back.
type RateLimited struct{ Seconds int }

func (e *RateLimited) Error() string { return "rate limited" }

// RetryAfter returns the wait that the server asked for.
func (e *RateLimited) RetryAfter() time.Duration { return time.Duration(e.Seconds) * time.Second }

func ExampleFromError() {
	err := fmt.Errorf("place order: %w", &RateLimited{Seconds: 7})
	signal, ok := throttle.FromError(err)
	fmt.Println(signal.Delay, signal.Source, ok)
	// Output: 7s RetryAfter() true
}

func ExampleRule_Apply() {
	planned, told := 50*time.Millisecond, 10*time.Second
	half := func() float64 { return 0.5 }
	for _, rule := range []throttle.Rule{throttle.AtLeast(), throttle.Exact(), throttle.Clamp(5 * time.Second), throttle.Ignore()} {
		wait, used := rule.Apply(planned, told, half)
		fmt.Println(rule, wait, used)
	}
	// Output:
	// AtLeast() 10.5s true
	// Exact() 10s true
	// Clamp(5s) 5.05s true
	// Ignore() 50ms false
}

func ExampleFunc() {
	reopens := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	maintenance := throttle.Func(func(_ context.Context, now time.Time) (time.Duration, error) {
		return reopens.Sub(now), nil
	})
	_, wait, err := maintenance.Admit(context.Background(), reopens.Add(-5*time.Minute), nil)
	fmt.Println(wait, err)
	// Output: 5m0s <nil>
}
