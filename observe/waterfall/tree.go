package waterfall

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tree is what is known of a trace.
type tree struct {
	open    int // spans that have started and not ended
	spans   []*span
	parents map[trace.SpanID]bool // of the spans
	dropped int
}

func (t *tree) add(s sdktrace.ReadOnlySpan, show func(attribute.KeyValue) bool) {
	switch {
	case !s.SpanContext().IsSampled(): // recorded for others
	case len(t.spans) >= maxSpans && !t.parents[s.SpanContext().SpanID()], len(t.spans) >= 2*maxSpans:
		t.dropped++
	default:
		t.spans = append(t.spans, newSpan(s, show))
		if t.parents == nil {
			t.parents = map[trace.SpanID]bool{}
		}
		t.parents[s.Parent().SpanID()] = true
	}
}

// span is what is drawn of a span.
type span struct {
	id, parent    trace.SpanID
	name, service string
	details       string
	failed        bool
	start, end    time.Time
}

func newSpan(s sdktrace.ReadOnlySpan, show func(attribute.KeyValue) bool) *span {
	d := &span{
		id: s.SpanContext().SpanID(), parent: s.Parent().SpanID(), name: printable(s.Name()),
		failed: s.Status().Code == codes.Error, start: s.StartTime(), end: s.EndTime(),
	}
	if r := s.Resource(); r != nil {
		if name, ok := r.Set().Value("service.name"); ok {
			d.service = printable(name.String())
		}
	}
	var details []string
	for _, a := range s.Attributes() {
		if show(a) {
			details = append(details, printable(string(a.Key)+"="+a.Value.String()))
		}
	}
	if text := s.Status().Description; text != "" {
		details = append(details, strconv.Quote(cut(text, 60)))
	}
	d.details = cut(strings.Join(details, " "), 200)
	return d
}

// row is a line of the drawing.
type row struct {
	*span
	depth int
	torn  bool // its parent is not here
}

// rows puts every span below its parent, siblings by their start. A span whose parent is unknown is a root.
func (t *tree) rows() []row {
	slices.SortStableFunc(t.spans, func(a, b *span) int { return a.start.Compare(b.start) })
	known := map[trace.SpanID]bool{}
	children := map[trace.SpanID][]*span{}
	for _, s := range t.spans {
		known[s.id] = true
		children[s.parent] = append(children[s.parent], s)
	}
	var rows []row
	placed := map[*span]bool{}
	var place func(s *span, depth int)
	place = func(s *span, depth int) {
		if placed[s] {
			return
		}
		placed[s] = true
		rows = append(rows, row{s, depth, depth == 0 && s.parent.IsValid()})
		for _, child := range children[s.id] {
			place(child, depth+1)
		}
	}
	for _, s := range t.spans {
		if !known[s.parent] {
			place(s, 0)
		}
	}
	for _, s := range t.spans { // those that are their own ancestors
		place(s, 0)
	}
	return rows
}
