package waterfall_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/observe/waterfall"
)

// Of more than 128 unfinished traces the oldest is drawn as far as it is known.
func TestOldTracesGiveWay(t *testing.T) {
	var out strings.Builder
	x := waterfall.New(&out)
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(x)).Tracer("")
	var roots []trace.Span
	for n := range 128 {
		ctx, root := tracer.Start(t.Context(), "root")
		_, child := tracer.Start(ctx, fmt.Sprint("child ", n))
		child.End()
		roots = append(roots, root)
	}
	assert.Empty(t, out.String())
	_, one := tracer.Start(t.Context(), "one too many")
	assert.True(t, strings.HasPrefix(out.String(), "… child 0  "), out.String())
	assert.Equal(t, 1, strings.Count(out.String(), "child"))
	one.End()
	assert.Contains(t, out.String(), "\none too many")
	roots[127].End()
	assert.Contains(t, out.String(), "\nroot         ok")
	assert.Contains(t, out.String(), "\n  child 127  ok")

	out.Reset()
	roots[0].End()
	assert.True(t, strings.HasPrefix(out.String(), "\nroot  ok"), "what comes late is drawn by itself")
	require.NoError(t, x.Shutdown(t.Context()))
	assert.Equal(t, 126, strings.Count(out.String(), "child"))
}

// Of a trace 512 spans are kept.
func TestManySpans(t *testing.T) {
	var spans []sdktrace.ReadOnlySpan
	for n := range 600 {
		spans = append(spans, stub(1, 0, fmt.Sprint("span ", n), 0, ms, func(s *tracetest.SpanStub) {
			var id trace.SpanID
			binary.BigEndian.PutUint32(id[:], uint32(n+1))
			s.SpanContext = s.SpanContext.WithSpanID(id)
		}))
	}
	text := drawn(t, nil, spans...)
	assert.Equal(t, 513, strings.Count(text, "\n"))
	assert.True(t, strings.HasSuffix(text, "\n… and 88 more spans\n"), text[len(text)-200:])
}

// What is above the spans that are kept ends after them all, and is kept too: the tree holds together.
func TestManySpansBelowOne(t *testing.T) {
	var out strings.Builder
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(waterfall.New(&out))).Tracer("")
	ctx, root := tracer.Start(t.Context(), "request")
	ctx, operation := tracer.Start(ctx, "orders")
	for range 20_000 {
		_, attempt := tracer.Start(ctx, "orders attempt")
		attempt.End()
	}
	operation.End()
	root.End()
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 512+2+1+1)
	assert.Regexp(t, `^request +ok  `, lines[0])
	assert.Regexp(t, `^  orders +ok  `, lines[1])
	for _, line := range lines[2:514] {
		require.Regexp(t, `^    orders attempt +ok  `, line)
	}
	assert.Equal(t, "… and 19488 more spans", lines[514])
}

// A chain of spans, each above the one that ended before it, has an end too.
func TestManySpansAboveOneAnother(t *testing.T) {
	var out strings.Builder
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(waterfall.New(&out))).Tracer("")
	var chain []trace.Span
	ctx, span := context.Background(), trace.Span(nil)
	for range 2000 {
		ctx, span = tracer.Start(ctx, "deep")
		chain = append(chain, span)
	}
	for i := range chain {
		chain[len(chain)-1-i].End()
	}
	assert.Equal(t, 1025, strings.Count(out.String(), "\n"))
	assert.Contains(t, out.String(), "… and 976 more spans")
}

// Bars are of a width that a terminal may have, whatever is asked for.
func TestWidth(t *testing.T) {
	for width, want := range map[int]int{math.MinInt: 48, 0: 48, 1: 1, 1000: 1000, 1001: 1000, math.MaxInt: 1000} {
		text := drawn(t, func(x *waterfall.Exporter) { x.Width = width }, stub(1, 0, "s", 0, ms), stub(2, 1, "c", -ms, 2*ms))
		for _, bar := range regexp.MustCompile(`\|(.*)\|`).FindAllStringSubmatch(text, -1) {
			assert.Len(t, bar[1], want)
		}
	}
}

// OpenTelemetry's error handler may use the tracer that the exporter watches.
func TestErrorHandlerThatTraces(t *testing.T) {
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(waterfall.New(brokenPipe{}))).Tracer("")
	told := 0
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		assert.ErrorIs(t, err, io.ErrClosedPipe)
		if told++; told < 5 {
			_, s := tracer.Start(t.Context(), "told")
			s.End()
		}
	}))
	defer otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	_, s := tracer.Start(t.Context(), "first")
	s.End()
	assert.Equal(t, 5, told)
}

// Traces that end at the same time are each drawn in one piece.
func TestConcurrentSafeExporter(t *testing.T) {
	var out strings.Builder
	x := waterfall.New(&out)
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(x)).Tracer("")
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			ctx, root := tracer.Start(context.Background(), "root")
			for range 3 {
				_, child := tracer.Start(ctx, "child")
				child.End()
			}
			root.End()
			_ = x.ExportSpans(ctx, []sdktrace.ReadOnlySpan{stub(1, 0, "exported", 0, ms)})
		})
	}
	all.Wait()
	require.NoError(t, x.Shutdown(t.Context()))
	for _, drawing := range strings.Split(strings.TrimSpace(out.String()), "\n\n") {
		var names []string
		for _, line := range strings.Split(drawing, "\n") {
			names = append(names, strings.Fields(line)[0])
		}
		switch len(names) {
		case 1:
			assert.Equal(t, []string{"exported"}, names)
		default:
			assert.Equal(t, []string{"root", "child", "child", "child"}, names)
		}
	}
	assert.Equal(t, 32*4+32+32*2-1, strings.Count(out.String(), "\n"))
}

// Whatever spans look like, the bars stand below one another, and nothing reaches the terminal that is not to be seen.
func FuzzAlignment(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add("fetch", "fetch attempt", "refused", int64(0), int64(10), int64(3), int64(4), 48)
	f.Add("\x1b[2J", "長い名前\u202e", "\n\x00", int64(-5), int64(1<<62), int64(1<<62), int64(-1<<62), -3)
	f.Add("", strings.Repeat("é", 100), "\xff\xfe", int64(7), int64(7), int64(7), int64(7), 1)
	f.Add("", "", "", int64(0), int64(1), int64(1<<62), int64(0), 48) // starts long after the last end
	f.Fuzz(func(t *testing.T, root, child, description string, from, to, childFrom, childTo int64, width int) {
		width = min(width, 500)
		x := func(x *waterfall.Exporter) { x.Width = width }
		text := drawn(t, x,
			stub(1, 0, root, time.Duration(from), time.Duration(to)),
			stub(2, 1, child, time.Duration(childFrom), time.Duration(childTo), failed(description)))
		lines := strings.Split(text, "\n")
		require.Len(t, lines, 3)
		if width < 1 {
			width = 48
		}
		bar := regexp.MustCompile(`  (ok |ERR) \|( *=+ *)\|  +-?[0-9]`)
		var before []string
		for _, line := range lines[:2] {
			require.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", line)
			found := bar.FindStringSubmatchIndex(line)
			require.NotNil(t, found, "%q", line)
			require.Equal(t, width, found[5]-found[4], "%q", line)
			before = append(before, line[:found[0]])
		}
		isWide := func(r rune) bool { return r > 0x7f }
		if !strings.ContainsFunc(before[0]+before[1], isWide) {
			require.Len(t, before[0], len(before[1]))
			require.LessOrEqual(t, len(before[0]), 40)
		}
	})
}
