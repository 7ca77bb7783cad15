package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
)

// One Observer for 64 goroutines: every call's spans are its own, and the sums are right. That it has no goroutine of its
// own is seen by goleak, at the end of all tests.
func TestConcurrentSafeObserver(t *testing.T) {
	const goroutines, calls = 64, 4
	r := record(observe.WithActiveOperations())
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range calls {
				_, _ = retry.Do(t.Context(), lastingNot(errRefused, errInvalid), policy, retry.WithMaxDelay(1), retry.WithObserver(r.observer))
			}
		})
	}
	all.Wait()

	children := map[trace.SpanID][]string{}
	for _, s := range r.spans.Ended() {
		children[s.Parent().SpanID()] = append(children[s.Parent().SpanID()], s.Name()+" "+s.Status().Description)
	}
	require.Len(t, children, 1+goroutines*calls)
	assert.Len(t, children[trace.SpanID{}], goroutines*calls)
	delete(children, trace.SpanID{})
	for _, attempts := range children {
		assert.Equal(t, []string{"orders attempt connection refused", "orders attempt no such order", "orders attempt "}, attempts)
	}
	var count uint64
	for _, p := range r.points(t, observe.MetricAttemptDuration) {
		count += p.Count
	}
	assert.Equal(t, uint64(3*goroutines*calls), count)
	for _, m := range r.collect(t) {
		if m.Name == observe.MetricOperationActive {
			assert.Zero(t, m.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
		}
	}
}

// Many goroutines meet new names and new kinds of failures at the same time.
func TestConcurrentSafeVocabulary(t *testing.T) {
	r := record(observe.WithoutTraces())
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			_ = retry.Run(t.Context(), func(context.Context) error { return numbered(n) },
				retry.WithName(string(rune('a'+n%8))), retry.WithMaxAttempts(1), retry.WithObserver(r.observer))
		})
	}
	all.Wait()
	kinds, calls := map[string]bool{}, uint64(0)
	for _, p := range r.points(t, observe.MetricAttemptDuration) {
		kind, _ := p.Attributes.Value(observe.KeyErrorType)
		kinds[kind.AsString()] = true
		calls += p.Count
	}
	assert.Len(t, kinds, observe.ErrorTypeLimit-5+1)
	assert.Equal(t, uint64(64), calls)
}

// runtime.Goexit, as by t.FailNow, is a panic to telemetry.
func TestGoexit(t *testing.T) {
	r := record()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = retry.Run(t.Context(), func(context.Context) error { runtime.Goexit(); return nil }, policy, retry.WithObserver(r.observer))
	}()
	<-done
	require.Len(t, r.spans.Ended(), 2)
	for _, s := range r.spans.Ended() {
		assert.Contains(t, attributeLines(s.Attributes()), `error.type="panic"`)
	}
}

// Two observers with one policy: each sees everything, and the second's spans are below the first's.
func TestTwoObservers(t *testing.T) {
	r := record()
	second := observe.New(observe.WithTracerProvider(r.tracers), observe.WithoutMetrics(), observe.WithAttemptSpans(observe.Never))
	_, err := retry.Do(t.Context(), lastingNot(), policy, retry.WithObserver(r.observer), retry.WithObserver(second))
	require.NoError(t, err)
	require.Len(t, r.spans.Ended(), 3)
	names := []string{}
	for _, s := range r.spans.Ended() {
		names = append(names, s.Name())
	}
	assert.Equal(t, []string{"orders attempt", "orders", "orders"}, names)
}

// An attempt's span that is made up afterwards, and the exemplar of its measurement, do not hang under another observer's.
func TestMadeUpSpansBesideAnotherObserver(t *testing.T) {
	r := record(observe.WithAttemptSpans(observe.OnRetry))
	other := observe.New(observe.WithTracerProvider(r.tracers), observe.WithoutMetrics(), observe.WithSpanStartOptions(trace.WithSpanKind(trace.SpanKindServer)),
		observe.WithAttemptSpanStartOptions(trace.WithSpanKind(trace.SpanKindClient)))
	_, err := retry.Do(t.Context(), lastingNot(errRefused), policy, retry.WithMaxDelay(1), retry.WithObserver(r.observer), retry.WithObserver(other))
	require.NoError(t, err)
	spans := map[trace.SpanID]string{}
	for _, s := range r.spans.Ended() {
		spans[s.SpanContext().SpanID()] = fmt.Sprint(s.Name(), " ", s.SpanKind())
	}
	tree := map[string][]string{}
	for _, s := range r.spans.Ended() {
		parent := spans[s.Parent().SpanID()]
		tree[parent] = append(tree[parent], spans[s.SpanContext().SpanID()])
	}
	for _, below := range tree {
		slices.Sort(below)
	}
	assert.Equal(t, map[string][]string{
		"":                        {"orders internal"},
		"orders internal":         {"orders server"},
		"orders server":           {"orders attempt client", "orders attempt internal", "orders attempt internal"},
		"orders attempt internal": {"orders attempt client"},
	}, tree)
	points := r.points(t, observe.MetricAttemptDuration)
	require.Len(t, points, 2)
	for _, p := range points {
		assert.Equal(t, "orders attempt internal", spans[trace.SpanID(p.Exemplars[0].SpanID)])
	}
}

// The lines of retry.WithLogger use the same words, and carry the attempt's span.
func TestLogLinesMatch(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(spanHandler{slog.NewJSONHandler(&out, nil)})
	r := record()
	_ = retry.Run(t.Context(), func(context.Context) error { return errRefused }, policy,
		retry.WithMaxAttempts(2), retry.WithMaxDelay(1), retry.WithLogger(logger), retry.WithObserver(r.observer))
	ended := r.spans.Ended()
	require.Len(t, ended, 3)
	// A span has a length, and needs no retry.elapsed.
	known := map[string]bool{"time": true, "level": true, "msg": true, "error": true, "span": true, "retry.elapsed": true}
	for _, s := range ended {
		for _, a := range s.Attributes() {
			known[string(a.Key)] = true
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	for i, line := range lines {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		for key := range fields {
			assert.True(t, known[key], "%s is no attribute", key)
		}
		assert.Equal(t, ended[i].SpanContext().SpanID().String(), fields["span"])
	}
	assert.Contains(t, lines[1], `"retry.reason":"attempts exhausted"`)
	assert.Contains(t, attributeLines(ended[2].Attributes()), `retry.reason="attempts exhausted"`)
}

type spanHandler struct{ slog.Handler }

func (h spanHandler) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(slog.String("span", trace.SpanContextFromContext(ctx).SpanID().String()))
	return h.Handler.Handle(ctx, r)
}

// A retry within a hook, or within a throttle, does not lend its reason to the call around it.
func TestReasonIsTheCallsOwn(t *testing.T) {
	inner := func(ctx context.Context) error {
		return retry.Run(ctx, func(context.Context) error { return errRefused }, retry.WithMaxAttempts(1), retry.WithInitialDelay(0, nil))
	}
	r := record(observe.WithoutMetrics())
	_ = retry.Run(t.Context(), func(context.Context) error { return errInvalid }, policy, retry.WithMaxDelay(1), retry.WithObserver(r.observer),
		retry.WithBeforeRetry(func(ctx context.Context, _ retry.Event) error { return inner(ctx) }))
	_ = retry.Run(t.Context(), func(context.Context) error { return retry.Permanent(inner(t.Context())) }, policy, retry.WithObserver(r.observer))
	got := r.attributesOf("orders")
	require.Len(t, got, 2)
	assert.NotContains(t, set(got[0]), string(observe.KeyReason))
	assert.Contains(t, set(got[1]), `retry.reason="not retryable"`)
}

// An Observer made before the SDK is installed, in a package variable say, uses it from then on. The providers are global:
// the test runs in a process of its own.
func TestGlobalProviders(t *testing.T) {
	if os.Getenv("OBSERVE_GLOBAL") == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGlobalProviders$", "-test.v")
		command.Env = append(os.Environ(), "OBSERVE_GLOBAL=1")
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: TestGlobalProviders")
		return
	}
	early := observe.New()
	run := func(o *observe.Observer) {
		err := retry.Run(t.Context(), func(context.Context) error { return errors.New("no") }, policy, retry.WithMaxAttempts(1), retry.WithObserver(o))
		require.Error(t, err)
	}
	run(early)
	r := record()
	otel.SetTracerProvider(r.tracers)
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader)))
	require.Empty(t, r.spans.Started())
	run(early)
	run(observe.New())
	assert.Len(t, r.spans.Ended(), 4)
}
