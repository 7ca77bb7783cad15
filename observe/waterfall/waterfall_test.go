package waterfall_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/observe/waterfall"
	"github.com/seed-89b3229b/retry/strategy"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

const ms = time.Millisecond

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// stub makes a sampled span of trace 1; parent 0 is none.
func stub(id, parent byte, name string, from, to time.Duration, change ...func(*tracetest.SpanStub)) sdktrace.ReadOnlySpan {
	context := func(id byte) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{id}, TraceFlags: trace.FlagsSampled})
	}
	s := tracetest.SpanStub{Name: name, SpanContext: context(id), StartTime: t0.Add(from), EndTime: t0.Add(to)}
	if parent != 0 {
		s.Parent = context(parent)
	}
	for _, f := range change {
		f(&s)
	}
	return s.Snapshot()
}

func failed(description string) func(*tracetest.SpanStub) {
	return func(s *tracetest.SpanStub) { s.Status = sdktrace.Status{Code: codes.Error, Description: description} }
}

func service(name string) func(*tracetest.SpanStub) {
	return func(s *tracetest.SpanStub) {
		s.Resource = resource.NewSchemaless(attribute.String("service.name", name))
	}
}

func with(a ...attribute.KeyValue) func(*tracetest.SpanStub) {
	return func(s *tracetest.SpanStub) { s.Attributes = a }
}

func inTrace(n byte) func(*tracetest.SpanStub) {
	return func(s *tracetest.SpanStub) {
		s.SpanContext = s.SpanContext.WithTraceID(trace.TraceID{n})
		if s.Parent.IsValid() {
			s.Parent = s.Parent.WithTraceID(trace.TraceID{n})
		}
	}
}

// drawn is what an exporter makes of spans that come in one batch.
func drawn(t *testing.T, change func(*waterfall.Exporter), spans ...sdktrace.ReadOnlySpan) string {
	var out strings.Builder
	x := waterfall.New(&out)
	if change != nil {
		change(x)
	}
	require.NoError(t, x.ExportSpans(t.Context(), spans))
	require.NoError(t, x.Shutdown(t.Context()))
	return out.String()
}

// A call that recovers, through the whole of the SDK and the Observer, on virtual time.
func TestOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(waterfall.New(&out)))
		o := observe.New(observe.WithTracerProvider(tracers), observe.WithoutMetrics())
		n := 0
		err := retry.Run(t.Context(), func(context.Context) error {
			time.Sleep(20 * ms)
			assert.Empty(t, out.String(), "nothing is drawn before the end")
			if n++; n < 3 {
				return errors.New("connection refused")
			}
			return nil
		}, retry.WithName("fetch"), retry.WithObserver(o), retry.WithStrategy(strategy.Constant{Delay: 60 * ms}))
		require.NoError(t, err)
		golden(t, "call", out.String())
		require.NoError(t, tracers.Shutdown(t.Context()))
	})
}

// twoServices is one request through two services, in the order in which its spans end: the server's span outlives its
// client's.
var twoServices = []sdktrace.ReadOnlySpan{
	stub(4, 3, "GET /stock", 1*ms, 19*ms, service("stock"), failed(""), with(attribute.Int("http.response.status_code", 503))),
	stub(3, 2, "HTTP GET", 1*ms, 20*ms, service("shop"), failed(""), with(attribute.Int("http.response.status_code", 503))),
	stub(2, 1, "stock attempt", 0, 20*ms, service("shop"), failed("503"), with(attribute.Int("retry.attempt", 1), attribute.String("retry.name", "stock"))),
	stub(6, 5, "HTTP GET", 81*ms, 99*ms, service("shop"), with(attribute.Int("http.request.resend_count", 1))),
	stub(5, 1, "stock attempt", 80*ms, 100*ms, service("shop"), with(attribute.Int("retry.attempt", 2))),
	stub(1, 0, "stock", 0, 100*ms, service("shop"), with(attribute.Int("retry.max_attempts", 5), attribute.Int("retry.attempts", 2))),
	stub(7, 6, "GET /stock", 82*ms, 101*ms, service("stock")),
}

func TestOfTwoServices(t *testing.T) {
	golden(t, "services", drawn(t, nil, twoServices...))
	golden(t, "services-color", drawn(t, func(x *waterfall.Exporter) { x.Color, x.Width = true, 20 }, twoServices...))
}

// The order in which spans arrive is no matter.
func TestIsDeterministic(t *testing.T) {
	want := drawn(t, nil, twoServices...)
	for range 2 {
		for i := range twoServices {
			rotated := append(append([]sdktrace.ReadOnlySpan{}, twoServices[i:]...), twoServices[:i]...)
			assert.Equal(t, want, drawn(t, nil, rotated...))
		}
	}
}

func TestNames(t *testing.T) {
	spans := []sdktrace.ReadOnlySpan{stub(1, 0, "root", 0, 10*ms)}
	for depth := byte(2); depth < 20; depth++ {
		spans = append(spans, stub(depth, depth-1, "a name that is a little longer than any should be", 0, 10*ms))
	}
	spans = append(spans,
		stub(40, 1, "\x1b[31mred\n\ttab\u202e\u200b", 9*ms, 9*ms, failed("\x1b[2Jclear\n")),
		stub(41, 1, "東京都庁", 9*ms, 10*ms, with(attribute.String("error.type", "\x07bell"))),
		stub(42, 1, strings.Repeat("長", 30), 9*ms, 10*ms),
		stub(43, 1, "", 9*ms, 10*ms, with(attribute.String("retry.long", strings.Repeat("x", 300)))),
	)
	golden(t, "names", drawn(t, nil, spans...))
}

// Spans that are above themselves, twice there, before their parents, or of no length are drawn all the same.
func TestOddTrees(t *testing.T) {
	golden(t, "odd", drawn(t, nil,
		stub(1, 1, "its own parent", 0, 5*ms),
		stub(2, 3, "two", 1*ms, 2*ms), stub(3, 2, "three", 2*ms, 3*ms),
		stub(4, 99, "orphan", 3*ms, 4*ms), stub(5, 4, "child of the orphan", 0, 9*ms),
		stub(6, 0, "ends before it starts", 5*ms, 1*ms), stub(6, 0, "twice", 8*ms, 8*ms),
	))
	golden(t, "instant", drawn(t, func(x *waterfall.Exporter) { x.Width = 5 }, stub(1, 0, "instant", 0, 0)))
}

func TestShow(t *testing.T) {
	all := with(attribute.String("db.system", "x"), attribute.String("retry.outcome", "success"), attribute.String("retry.name", "n"))
	assert.Contains(t, drawn(t, nil, stub(1, 0, "s", 0, ms, all)), "|  1ms  retry.outcome=success\n")
	assert.Contains(t, drawn(t, func(x *waterfall.Exporter) {
		x.Show = func(a attribute.KeyValue) bool { return a.Key == "db.system" }
	}, stub(1, 0, "s", 0, ms, all)), "|  1ms  db.system=x\n")
}

// As an exporter it draws a trace with its root. What comes later is drawn at the end.
func TestExporterDrawsWithTheRoot(t *testing.T) {
	var out strings.Builder
	x := waterfall.New(&out)
	require.NoError(t, x.ExportSpans(t.Context(), twoServices[:5]))
	require.NoError(t, x.ForceFlush(t.Context()))
	assert.Empty(t, out.String())
	require.NoError(t, x.ExportSpans(t.Context(), append(twoServices[5:6:6], stub(1, 0, "other trace", 0, ms, inTrace(2)))))
	assert.Equal(t, 6+1+1, strings.Count(out.String(), "\n"), "six spans, a line between, another trace")
	require.NoError(t, x.ExportSpans(t.Context(), twoServices[6:]))
	before := out.Len()
	require.NoError(t, x.Shutdown(t.Context()))
	assert.Contains(t, out.String()[before:], "\n… GET /stock")
	before = out.Len()
	require.NoError(t, x.ExportSpans(t.Context(), twoServices))
	require.NoError(t, x.Shutdown(t.Context()))
	assert.Equal(t, before, out.Len(), "after Shutdown it is silent")
}

// As a processor it waits for the last span of the trace, whichever that is.
func TestProcessorWaitsForTheLast(t *testing.T) {
	var out strings.Builder
	x := waterfall.New(&out)
	shop := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(x)).Tracer("")
	stock := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(x), sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "stock")))).Tracer("")
	ctx, client := shop.Start(t.Context(), "client")
	_, server := stock.Start(trace.ContextWithRemoteSpanContext(t.Context(), trace.SpanContextFromContext(ctx)), "server")
	client.End()
	require.NoError(t, x.ForceFlush(t.Context()))
	assert.Empty(t, out.String())
	server.End()
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[0], "  client  ")
	assert.Contains(t, lines[1], "stock             ")
	assert.Contains(t, lines[1], "    server")

	_, open := shop.Start(t.Context(), "never ends")
	require.NoError(t, x.Shutdown(t.Context()))
	open.End()
	_, _ = shop.Start(t.Context(), "too late")
	assert.Equal(t, 3, len(strings.Split(out.String(), "\n")))
}

// Spans recorded for others only are not drawn, and not waited for in vain.
func TestUnsampled(t *testing.T) {
	var out strings.Builder
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(waterfall.New(&out)), sdktrace.WithSampler(recordOnly{})).Tracer("")
	_, s := tracer.Start(t.Context(), "recorded")
	s.End()
	assert.Empty(t, out.String())
}

type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}
func (recordOnly) Description() string { return "record only" }

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrors(t *testing.T) {
	x := waterfall.New(brokenPipe{})
	require.ErrorIs(t, x.ExportSpans(t.Context(), twoServices), io.ErrClosedPipe)
	require.NoError(t, x.ExportSpans(t.Context(), twoServices[:1]))
	require.ErrorIs(t, x.Shutdown(t.Context()), io.ErrClosedPipe)
	for _, x := range []*waterfall.Exporter{waterfall.New(nil), waterfall.New((*strings.Builder)(nil)), waterfall.New((*os.File)(nil)), new(waterfall.Exporter)} {
		require.NoError(t, x.ExportSpans(t.Context(), twoServices))
		require.NoError(t, x.Shutdown(t.Context()))
	}
}

// Colours are for terminals, and for those who have not turned them off.
func TestColor(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	assert.False(t, waterfall.New(file).Color)
	assert.False(t, waterfall.New(&strings.Builder{}).Color)
	assert.False(t, waterfall.New((*os.File)(nil)).Color)
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal to be had: ", err)
	}
	defer terminal.Close()
	assert.True(t, waterfall.New(terminal).Color)
	t.Setenv("TERM", "dumb")
	assert.False(t, waterfall.New(terminal).Color)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	assert.False(t, waterfall.New(terminal).Color)
}

// edited is a writer that takes the bars and the durations out.
type edited struct{ w io.Writer }

func (e edited) Write(p []byte) (int, error) {
	text := regexp.MustCompile(` \|[ =]*\| +[0-9.µnms]+ `).ReplaceAll(p, []byte(" "))
	_, err := e.w.Write(text)
	return len(p), err
}
