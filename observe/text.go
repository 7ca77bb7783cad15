package observe

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/quote"
	"github.com/seed-89b3229b/retry/throttle"
)

// textLimit is how many bytes a text may have before the mark that it was cut.
const textLimit = 1024

// clean makes a text fit to be sent: one that is not UTF-8 costs an exporter the whole batch, or the whole scrape. The
// replacement of a wrong byte takes three, so the text is cut before it is mended, to spare work, and again afterwards.
func clean(text string) string {
	head := cut(text)
	valid := strings.ToValidUTF8(head, "\uFFFD")
	kept := cut(valid)
	if len(head) < len(text) || len(kept) < len(valid) {
		kept += "…"
	}
	return kept
}

// cut takes away what is beyond the limit, and what is left of a letter there.
func cut(text string) string {
	if len(text) <= textLimit {
		return text
	}
	end := textLimit
	for end > textLimit-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// describe is the description of a failed span's status.
func (c *config) describe(err error) (text string) {
	defer recovered("status description", err, func() { text = "" })
	switch {
	case errtree.IsNil(err):
		return ""
	case c.description != nil:
		return clean(c.description(err))
	}
	return clean(withoutKeys(err.Error(), err))
}

// recovered is for a defer: telemetry does not end a program because an error cannot tell its text or its type.
func recovered(what string, err error, instead func()) {
	if p := recover(); p != nil {
		otel.Handle(fmt.Errorf("observe: %s of a %T: panic: %v", what, err, p))
		instead()
	}
}

// withoutKeys takes the keys of throttles out of a text, where err holds them.
func withoutKeys(text string, err error) string {
	if errtree.IsNil(err) {
		return text
	}
	switch e := err.(type) {
	case *throttle.Error:
		if e.Key != "" {
			text = strings.ReplaceAll(text, quote.Quote(string(e.Key)), `"…"`)
		}
		return withoutKeys(text, e.Err)
	case interface{ Unwrap() error }:
		return withoutKeys(text, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			text = withoutKeys(text, below)
		}
	}
	return text
}
