package waterfall

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

const (
	// maxTraces is how many unfinished traces are kept. The oldest gives way, and is drawn as far as it is known.
	maxTraces = 128
	// maxSpans is how many spans of a trace are kept. Of those that end later, as many again are if they are above one that is
	// kept; the others are only counted.
	maxSpans = 512
)

var (
	_ sdktrace.SpanProcessor = (*Exporter)(nil)
	_ sdktrace.SpanExporter  = (*Exporter)(nil)
)

// Exporter draws traces: a span processor and a span exporter. New makes it; its fields may be set before it is used. It is
// safe for concurrent use, writes each trace in one piece, and keeps a bounded number of spans: of 128 traces 512 each, and at
// most as many of those above them. Spans that end wait for the writer, which must not start spans of the same trace provider.
type Exporter struct {
	// Color says whether to use colours. New sets it if the writer is a terminal and NO_COLOR is not set.
	Color bool
	// Width is how many columns the bars have; below 1: 48; above 1000: 1000.
	Width int
	// Show says which attributes stand beside the bars. Nil: those of retries but for names and limits, error.type, and
	// of HTTP the status code and the number of the resend.
	Show func(attribute.KeyValue) bool

	w       io.Writer
	mu      sync.Mutex
	traces  map[trace.TraceID]*tree
	order   []trace.TraceID // the oldest first
	written bool
	closed  bool
}

// New makes an Exporter that writes to w; nil: to nobody.
func New(w io.Writer) *Exporter {
	if errtree.IsNil(w) {
		return new(Exporter)
	}
	return &Exporter{w: w, Color: colorful(w)}
}

// colorful reports whether w is a terminal whose user has nothing against colours (no-color.org).
func colorful(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// OnStart implements sdktrace.SpanProcessor.
func (x *Exporter) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	handle(x.locked(func() (err error) {
		t, err := x.tree(s.SpanContext().TraceID())
		t.open++
		return err
	}))
}

// OnEnd implements sdktrace.SpanProcessor.
func (x *Exporter) OnEnd(s sdktrace.ReadOnlySpan) {
	handle(x.locked(func() error {
		id := s.SpanContext().TraceID()
		t, err := x.tree(id)
		t.open--
		t.add(s, x.show)
		if t.open > 0 {
			return err
		}
		return errors.Join(err, x.draw(id))
	}))
}

// ExportSpans implements sdktrace.SpanExporter. Its error is the writer's.
func (x *Exporter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	return x.locked(func() error {
		var rooted []trace.TraceID
		var errs []error
		for _, s := range spans {
			id := s.SpanContext().TraceID()
			t, err := x.tree(id)
			errs = append(errs, err)
			t.add(s, x.show)
			if !s.Parent().IsValid() {
				rooted = append(rooted, id)
			}
		}
		for _, id := range rooted {
			errs = append(errs, x.draw(id))
		}
		return errors.Join(errs...)
	})
}

// ForceFlush implements sdktrace.SpanProcessor. It does nothing: what is complete has been drawn, and half a trace would be
// misleading.
func (x *Exporter) ForceFlush(context.Context) error { return nil }

// Shutdown draws what is left of unfinished traces, and ends the exporter. Its error is the writer's.
func (x *Exporter) Shutdown(context.Context) error {
	return x.locked(func() error {
		var errs []error
		for len(x.order) > 0 {
			errs = append(errs, x.draw(x.order[0]))
		}
		x.closed = true
		return errors.Join(errs...)
	})
}

// locked does something with the traces, until Shutdown. Nothing of OpenTelemetry is called meanwhile: an error handler, say,
// may start spans.
func (x *Exporter) locked(do func() error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	return do()
}

// tree returns the trace with the given id, known or new. The error is that of drawing the one that it replaces.
func (x *Exporter) tree(id trace.TraceID) (_ *tree, err error) {
	t := x.traces[id]
	if t == nil {
		if len(x.order) == maxTraces {
			err = x.draw(x.order[0])
		}
		if x.traces == nil {
			x.traces = map[trace.TraceID]*tree{}
		}
		t = new(tree)
		x.traces[id] = t
		x.order = append(x.order, id)
	}
	return t, err
}

func (x *Exporter) show(a attribute.KeyValue) bool {
	if x.Show != nil {
		return x.Show(a)
	}
	switch a.Key {
	case "retry.name", "retry.max_attempts":
		return false
	case "error.type", "http.response.status_code", "http.request.resend_count":
		return true
	}
	return strings.HasPrefix(string(a.Key), "retry.")
}

// draw writes a trace, unless it was drawn before, and forgets it.
func (x *Exporter) draw(id trace.TraceID) error {
	t := x.traces[id]
	if t == nil {
		return nil
	}
	delete(x.traces, id)
	for i, known := range x.order {
		if known == id {
			x.order = append(x.order[:i], x.order[i+1:]...)
			break
		}
	}
	if len(t.spans) == 0 || x.w == nil {
		return nil
	}
	text := t.text(x.Width, x.Color)
	if x.written {
		text = "\n" + text
	}
	x.written = true
	_, err := io.WriteString(x.w, text)
	return err
}

func handle(err error) {
	if err != nil {
		otel.Handle(err)
	}
}
