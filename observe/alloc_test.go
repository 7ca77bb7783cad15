package observe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/strategy"
)

// idle is a span processor that does nothing: without one the SDK makes spans that record nothing.
type idle struct{}

func (idle) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (idle) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (idle) Shutdown(context.Context) error                  { return nil }
func (idle) ForceFlush(context.Context) error                { return nil }

func sampled() observe.Option {
	return observe.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(idle{})))
}

func unsampled() observe.Option {
	return observe.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()), sdktrace.WithSpanProcessor(idle{})))
}

func read() observe.Option {
	return observe.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())))
}

// cost is a way to observe, with the allocations of a call that succeeds at once, and of one that needs three attempts.
var costs = []struct {
	name         string
	once, thrice float64
	observer     func() retry.Observer
}{
	{"none", 0, 0, func() retry.Observer { return nil }},
	{"noop", 0, 0, func() retry.Observer {
		return observe.New(observe.WithTracerProvider(tracenoop.NewTracerProvider()), observe.WithMeterProvider(metricnoop.NewMeterProvider()))
	}},
	{"global-without-sdk", 3, 3, func() retry.Observer { return observe.New() }},
	{"metrics", 0, 0, func() retry.Observer { return observe.New(observe.WithoutTraces(), read()) }},
	{"unsampled", 3, 3, func() retry.Observer { return observe.New(unsampled(), read()) }},
	{"sampled", 14, 30, func() retry.Observer { return observe.New(sampled(), read()) }},
	{"sampled-on-retry", 7, 33, func() retry.Observer {
		return observe.New(sampled(), read(), observe.WithAttemptSpans(observe.OnRetry))
	}},
	{"sampled-operation", 7, 9, func() retry.Observer {
		return observe.New(sampled(), read(), observe.WithAttemptSpans(observe.Never))
	}},
	{"sampled-without-metrics", 14, 30, func() retry.Observer { return observe.New(sampled(), observe.WithoutMetrics()) }},
}

var errFlaky = errors.New("flaky")

// call returns a call that fails the given number of times, observed by o. The failing attempts are retried at once.
func call(ctx context.Context, o retry.Observer, failures int) func() {
	opts := []retry.Option{retry.WithName("orders"), retry.WithStrategy(strategy.Constant{})}
	if o != nil {
		opts = append(opts, retry.WithObserver(o))
	}
	policy := retry.MustNew(opts...)
	n := 0
	fn := func(context.Context) error {
		if n++; n%(failures+1) != 0 {
			return errFlaky
		}
		return nil
	}
	return func() { _ = retry.Run(ctx, fn, policy) }
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, c := range costs {
		once := testing.AllocsPerRun(200, call(t.Context(), c.observer(), 0))
		thrice := testing.AllocsPerRun(200, call(t.Context(), c.observer(), 2))
		assert.Equal(t, c.once, once, "%s, one attempt", c.name)
		assert.Equal(t, c.thrice, thrice, "%s, three attempts", c.name)
	}
	ctx, observation := observe.New(observe.WithoutTraces(), read()).Start(t.Context(), retry.Call{Name: "orders"})
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		observation.Pause(ctx, retry.Pause{Before: 2, Delay: sec, Source: retry.SourceServer})
	}), "a wait that is measured")
}

// However many looks a poll takes, or runs a supervised worker, an observation of it does not grow: with metrics there is
// nothing to keep, and of spans what has ended is gone.
func TestManyLooks(t *testing.T) {
	looks := func(o *observe.Observer) (look func()) {
		ctx, observation := o.Start(t.Context(), retry.Call{Name: "orders"})
		number := 1000
		return func() {
			number++
			err := errFlaky
			if number%3 != 0 {
				err = nil
			}
			attempt := observation.Attempt(ctx, retry.AttemptStart{Number: number, Label: "1"})
			observation.AttemptDone(attempt, retry.Event{Number: number, Err: err, Retrying: true, Delay: sec})
			observation.Pause(ctx, retry.Pause{Before: number + 1, Delay: sec, Source: retry.SourceThrottle})
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, spans := range []observe.AttemptSpans{observe.Always, observe.OnRetry, observe.Never} {
		look := looks(observe.New(sampled(), read(), observe.WithAttemptSpans(spans)))
		for range 1000 {
			look()
		}
		before := heap()
		for range 20_000 {
			look()
		}
		assert.Less(t, heap(), before+200_000, "%v: less than 10 bytes a look", spans)
	}
	if !raceEnabled {
		assert.Zero(t, testing.AllocsPerRun(1000, looks(observe.New(observe.WithoutTraces(), read()))))
		assert.Zero(t, testing.AllocsPerRun(1000, looks(observe.New(unsampled(), read()))))
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, c := range costs {
		for _, attempts := range []int{1, 3} {
			run := call(b.Context(), c.observer(), attempts-1)
			b.Run(fmt.Sprintf("%s/attempts=%d", c.name, attempts), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			})
		}
	}
}
