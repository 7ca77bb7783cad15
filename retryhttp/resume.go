package retryhttp

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/quote"
)

// version is what tells one content of a resource from another. The zero version is of none, and cannot be gone on with.
type version struct {
	validator string // for If-Range
	field     string // that it came in
	encoding  string
}

// versionOf is that of a whole answer. Source: RFC 9110, section 13.1.5: neither a weak ETag will do nor a date beside any
// ETag; section 8.8.2.2: a date is strong if it is older than the answer, by enough for two clocks.
func versionOf(r *http.Response) (v version) {
	if r.StatusCode != http.StatusOK || r.Uncompressed {
		return v
	}
	v.encoding = r.Header.Get("Content-Encoding")
	if has(r.Header, "Etag") {
		if tag := r.Header.Get("Etag"); strong(tag) && len(r.Header["Etag"]) == 1 {
			v.validator, v.field = tag, "Etag"
		}
		return v
	}
	modified, err := http.ParseTime(r.Header.Get("Last-Modified"))
	if err != nil {
		return v
	}
	if date, err := http.ParseTime(r.Header.Get("Date")); err == nil && date.Sub(modified) >= time.Minute {
		v.validator, v.field = r.Header.Get("Last-Modified"), "Last-Modified"
	}
	return v
}

func (v version) resumable() bool { return v.validator != "" }

// ask makes a request one for what comes from a byte on.
func (v version) ask(r *http.Request, from int64) {
	r.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-")
	r.Header.Set("If-Range", v.validator)
}

// contradicts reports whether an answer says that it is of another version.
func (v version) contradicts(r *http.Response) bool {
	return has(r.Header, v.field) && r.Header.Get(v.field) != v.validator
}

// strong reports whether a field's value is one strong ETag.
func strong(tag string) bool {
	if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		return false
	}
	return !strings.ContainsFunc(tag[1:len(tag)-1], func(r rune) bool { return r == '"' || r <= ' ' || r == 0x7f })
}

// takes: 416 says something about the whole, if a part was asked for.
func (c *copying) takes(code int) bool {
	return c.asked && code == http.StatusRequestedRangeNotSatisfiable
}

// begin notes what a whole answer says about the content.
func (c *copying) begin(r *http.Response) {
	c.version = version{}
	if c.Resume {
		c.version = versionOf(r)
	}
	c.total = -1
	if !bodiless(r) {
		c.total = r.ContentLength
	}
}

// fit finds out how an answer goes with what is there already: whether it is that with more, of which skip bytes are there,
// the rest alone, the whole anew (asked is false then), or nothing that can be used.
func (c *copying) fit(r *http.Response) (skip int64, err error) {
	switch {
	case r.StatusCode == http.StatusPartialContent && c.asked:
		return 0, c.fitRest(r)
	case r.StatusCode == http.StatusPartialContent && !has(c.request.Header, "Range"):
		return 0, fmt.Errorf("retryhttp: a part of the content that was not asked for: %s", quote.Quote(r.Header.Get("Content-Range")))
	case r.StatusCode == http.StatusRequestedRangeNotSatisfiable && c.asked:
		return 0, c.fitNothing(r)
	case c.asked && c.field == "Etag" && versionOf(r) == c.version && (c.total < 0 || r.ContentLength < 0 || r.ContentLength == c.total):
		skip, c.total = c.at, max(c.total, r.ContentLength)
	}
	c.asked = false
	return skip, nil
}

// fitRest: 206.
func (c *copying) fitRest(r *http.Response) error {
	from, to, total, ok := contentRange(r.Header.Get("Content-Range"))
	switch {
	case !ok || from != c.at || to < from || total >= 0 && to >= total:
		return fmt.Errorf("retryhttp: asked for what comes from byte %d on, got %s", c.at, quote.Quote(r.Header.Get("Content-Range")))
	case total >= 0 && c.total >= 0 && total != c.total, c.contradicts(r), r.Uncompressed, r.Header.Get("Content-Encoding") != c.encoding:
		return fmt.Errorf("retryhttp: the content has changed after %d bytes", c.at)
	}
	if total >= 0 {
		c.total = total
	}
	return nil
}

// fitNothing: 416. If what is there is all there is, only the end was missing.
func (c *copying) fitNothing(r *http.Response) error {
	size, ok := strings.CutPrefix(r.Header.Get("Content-Range"), "bytes */")
	if ok && has(r.Header, c.field) && !c.contradicts(r) && size == strconv.FormatInt(c.at, 10) {
		c.finished, c.total = true, c.at
		return nil
	}
	return fmt.Errorf("retryhttp: there is nothing from byte %d on: %w", c.at, errRange)
}

var errRange = fmt.Errorf("%d %s", http.StatusRequestedRangeNotSatisfiable, http.StatusText(http.StatusRequestedRangeNotSatisfiable))

// contentRange reads the field of that name; total -1 is "*", not known.
func contentRange(text string) (from, to, total int64, ok bool) {
	spec, ok := strings.CutPrefix(text, "bytes ")
	if !ok {
		return 0, 0, 0, false
	}
	span, size, ok1 := strings.Cut(spec, "/")
	first, last, ok2 := strings.Cut(span, "-")
	from, ok3 := digits(first)
	to, ok4 := digits(last)
	total, ok5 := int64(-1), true
	if size != "*" {
		total, ok5 = digits(size)
	}
	return from, to, total, ok1 && ok2 && ok3 && ok4 && ok5
}

// digits reads a number that has no sign.
func digits(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && text[0] >= '0' && text[0] <= '9'
}
