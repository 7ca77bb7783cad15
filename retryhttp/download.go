package retryhttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// ErrPartial is matched by the error of a download that could not go on: a part was written, the rest cannot be had by
// itself, and the writer cannot be set back for the whole.
var ErrPartial = errors.New("retryhttp: a part was written, and the rest cannot be fetched")

// Download copies the body of an answer to a writer, within the attempts of Fetch. After a body that broke off, the writer
// is set back and the whole is fetched again, or only what is missing (Resume). The zero Download is ready for use; it is a
// value to be set up and used, also for several downloads at the same time unless Restart or Progress forbid that.
type Download struct {
	// Client makes the requests, as in Fetch. Nil: http.DefaultClient.
	Client *http.Client
	// Limit is how many bytes the content may have: more is ErrTooLarge. Where the length is known beforehand, nothing is
	// written then, else up to Limit. 0: no limit; negative: a *retry.ConfigError.
	Limit int64
	// Resume asks for the rest alone after a body that broke off (Range, with If-Range), where the answer has a strong ETag,
	// or no ETag and a Last-Modified a minute older than its Date, and was not unpacked by net/http. So that it is not, each
	// attempt asks for Accept-Encoding: identity unless the request says otherwise. What does not fit what is there,
	// another ETag, length or encoding, is fetched anew as a whole. A server that sends the whole in place of the rest: if
	// that has the same strong ETag, what is there already is skipped. Default: off. It needs a GET without Range and
	// If-Range fields.
	Resume bool
	// Stall ends an attempt that waited for the peer so long and got nothing, before the header or within the body, as timed
	// out (ErrStalled). This is the timeout for large bodies: retry.WithAttemptTimeout limits the whole attempt, progress
	// or not. It is real time. 0: none; negative: a *retry.ConfigError.
	Stall time.Duration
	// Restart sets the writer back to where it was before To, for the whole to be written again. An error of it ends the
	// call. Nil: what has the methods Seek and Truncate of an os.File, or Len and Truncate of a bytes.Buffer, is set back
	// by these; any other writer cannot be, and what was written to it can only be gone on with (Resume).
	Restart func() error
	// Progress is called at the beginning of every answer that is read, and after each write, in the goroutine that called
	// To. Nil: none.
	Progress func(Progress)
}

// Progress is how far a Download is.
type Progress struct {
	// Bytes are written, of the content; less than before after a restart.
	Bytes int64
	// Total is how many there will be; -1 if that is not known.
	Total int64
	// Response is the answer that is being read. Attempts(Response) is the number of the attempt. Its body is not for others.
	Response *http.Response
}

// To sends the request and copies the body of its answer to w. It returns how many bytes of the content w has got, also
// with an error; what was written is left there. Options and errors are those of Fetch. An error of w, and a write that is
// too short, end the call at once; errors.Is finds it.
//
// An attempt counts against the limit of attempts whether it got anywhere or not: for large contents see
// retry.WithResetAfter, after which an attempt that ran long enough begins a new count.
func (d Download) To(w io.Writer, r *http.Request, opts ...retry.Option) (int64, error) {
	if err := d.validate(w, r); err != nil {
		return 0, refuse(r, err)
	}
	c := &copying{Download: d, w: w, request: r, total: -1, rewind: d.Restart}
	if c.rewind == nil {
		c.rewind = rewinder(w)
	}
	s := &fetch{shape: c.shape, takes: c.takes, read: c.read}
	if d.Stall > 0 {
		s.stall = &stall{after: d.Stall}
	}
	err := s.run(d.Client, r, opts)
	return c.at, err
}

func (d Download) validate(w io.Writer, r *http.Request) error {
	switch {
	case errtree.IsNil(w):
		return &retry.ConfigError{Option: "w", Problem: "must not be nil"}
	case d.Limit < 0:
		return &retry.ConfigError{Option: "Download.Limit", Value: d.Limit, Problem: "must not be negative"}
	case d.Stall < 0:
		return &retry.ConfigError{Option: "Download.Stall", Value: d.Stall, Problem: "must not be negative"}
	case d.Resume && r != nil && (r.Method != "" && r.Method != http.MethodGet || has(r.Header, "Range") || has(r.Header, "If-Range")):
		return &retry.ConfigError{Option: "Download.Resume", Value: d.Resume, Problem: "needs a GET without Range and If-Range"}
	}
	return nil
}

func has(h http.Header, field string) bool { _, ok := h[field]; return ok }

// copying is a download on its way.
type copying struct {
	Download
	w       io.Writer
	request *http.Request
	rewind  func() error // nil: w cannot be set back

	at       int64 // bytes that w has
	total    int64 // -1: not known
	version        // of the content that they are the beginning of
	asked    bool  // this attempt asked for the rest alone
	finished bool
}

// shape prepares an attempt's request.
func (c *copying) shape(r *http.Request) error {
	if c.Resume && !has(r.Header, "Accept-Encoding") {
		r.Header.Set("Accept-Encoding", "identity")
	}
	c.asked = c.at > 0 && c.resumable()
	if c.asked {
		c.ask(r, c.at)
		return nil
	}
	return c.restart()
}

// restart sets the writer back.
func (c *copying) restart() error {
	c.version, c.total = version{}, -1
	if c.at == 0 {
		return nil
	}
	if c.rewind == nil {
		return ErrPartial
	}
	if err := c.rewind(); err != nil {
		return fmt.Errorf("retryhttp: setting the writer back: %w", err)
	}
	c.at = 0
	return nil
}

// read copies an answer. What goes wrong with the answer is worth another attempt if that can begin.
func (c *copying) read(r *http.Response) (fault, error) {
	whose, err := c.receive(r)
	if whose == ofAnswer && err != nil && c.at > 0 && !c.resumable() && c.rewind == nil {
		return ofCaller, fmt.Errorf("%w: %w", ErrPartial, err)
	}
	return whose, err
}

func (c *copying) receive(r *http.Response) (fault, error) {
	skip, err := c.fit(r)
	switch {
	case err != nil:
		c.version = version{} // it cannot be relied on
		return ofAnswer, err
	case c.finished:
		return ofAnswer, nil
	case skip == 0 && !c.asked:
		if err := c.restart(); err != nil {
			return ofCaller, err
		}
		c.begin(r)
	}
	if c.Limit > 0 && c.total > c.Limit {
		return ofCaller, tooLarge(c.Limit)
	}
	if _, err := io.CopyN(io.Discard, r.Body, skip); err != nil {
		return ofAnswer, cut(err)
	}
	c.report(r)
	return c.copy(r)
}

// copy writes the rest of an answer's body.
func (c *copying) copy(r *http.Response) (fault, error) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Body.Read(buffer)
		if n > 0 {
			if c.total >= 0 && int64(n) > c.total-c.at {
				c.version = version{}
				return ofAnswer, fmt.Errorf("retryhttp: more than the %d bytes that were announced", c.total)
			}
			if whose, err := c.write(buffer[:n]); err != nil {
				return whose, err
			}
			c.report(r)
		}
		switch {
		case c.at == c.total, err == io.EOF && c.total < 0 && !c.asked: // what ends a part need not be the end of the whole
			return ofAnswer, nil
		case err != nil:
			return ofAnswer, cut(err)
		}
	}
}

// write hands bytes to the writer, and none beyond the limit.
func (c *copying) write(p []byte) (fault, error) {
	var over error
	if c.Limit > 0 && int64(len(p)) > c.Limit-c.at {
		p, over = p[:c.Limit-c.at], tooLarge(c.Limit)
	}
	if len(p) == 0 {
		return ofCaller, over
	}
	n, err := c.w.Write(p)
	n = min(max(n, 0), len(p))
	c.at += int64(n)
	switch {
	case err != nil:
		return ofCaller, err
	case n < len(p):
		return ofCaller, io.ErrShortWrite
	}
	return ofCaller, over
}

func (c *copying) report(r *http.Response) {
	if c.Progress != nil {
		c.Progress(Progress{Bytes: c.at, Total: c.total, Response: r})
	}
}

// cut is the error of a body that ended before its time.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
