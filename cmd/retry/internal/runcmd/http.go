package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/spool"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// bodyLimit is how long the body of a good answer may be.
const bodyLimit = 64 << 20

// errTooLong says that it was longer.
var errTooLong = fmt.Errorf("the answer is longer than %d MiB", bodyLimit>>20)

// get is --http: one GET through retryhttp.Transport. The body goes to standard output once all of it is there.
func (c *Command) get(std *frame.IO, s *settings) error {
	log, err := c.newLogger(std, s)
	if err != nil {
		return err
	}
	defer log.close()
	if log.name == "" {
		log.program = "http"
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if s.deadline > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, s.deadline)
		defer stop()
	}
	signals, died := listen(false), make(chan os.Signal, 1)
	go func() {
		for sig := range signals {
			if isFatal(sig) {
				died <- sig
				cancel(errors.New(sig.String()))
				return
			}
			pause(sig)
		}
	}()
	code, reason, attempts := c.request(ctx, std, s, log)
	select {
	case sig := <-died:
		return frame.Exit(die(sig))
	default:
	}
	if code != 0 || log.json || log.verbose {
		log.fetched(attempts, code, reason)
	}
	return frame.Exit(code)
}

// request makes the request, and returns the exit status with the reason.
func (c *Command) request(ctx context.Context, std *frame.IO, s *settings, log *logger) (code int, reason string, attempts int) {
	seen := &watcher{log: log}
	wanted := condition.Func(func(err error) condition.Verdict {
		var f *retryhttp.Failure
		if errors.As(err, &f) && f.Response != nil && c.HTTPStatus.has(f.Response.StatusCode) {
			return condition.Stop // the answer that was waited for
		}
		return condition.Unknown
	})
	policy, err := s.policy(retry.WithObserver(seen), retry.WithCondition(wanted), retry.WithAttemptTimeout(s.config.AttemptTimeout))
	if err != nil {
		return frame.Failed, err.Error(), 0
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.HTTP, nil)
	if err != nil {
		return frame.Failed, err.Error(), 0
	}
	transport := &retryhttp.Transport{Policy: policy}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err == nil {
		defer func() { _ = response.Body.Close() }()
		if !c.HTTPStatus.has(response.StatusCode) {
			return codeUnavailable, response.Status, seen.attempts
		}
		err = copyBody(std.Stdout, response.Body)
	}
	switch {
	case err == nil:
		return 0, response.Status, seen.attempts
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, retry.ErrDeadline), errors.Is(err, retry.ErrAttemptTimeout):
		return codeTimeout, brief(err), seen.attempts
	}
	return codeUnavailable, brief(err), seen.attempts
}

// brief is an error's text without what the log line says anyway.
func brief(err error) string {
	var gaveUp *retry.Error
	if errors.As(err, &gaveUp) && gaveUp.Last != nil {
		return fmt.Sprintf("%v (%s)", gaveUp.Last, strings.TrimPrefix(gaveUp.Reason.Error(), "retry: "))
	}
	return err.Error()
}

// copyBody writes a body to w, if it is whole and not too long.
func copyBody(w io.Writer, body io.Reader) error {
	var held spool.Buffer
	defer func() { _ = held.Close() }()
	n, err := io.Copy(&held, io.LimitReader(body, bodyLimit+1))
	switch {
	case err != nil:
		return err
	case n > bodyLimit:
		return errTooLong
	}
	_, err = held.WriteTo(w)
	return err
}

// watcher is a retry.Observer that writes log lines and shows progress. The requests of one Client, redirects, come one after
// the other.
type watcher struct {
	log      *logger
	attempts int
}

// Start is told that a request begins.
func (w *watcher) Start(context.Context, retry.Call) (context.Context, retry.Observation) {
	return nil, w
}

// Attempt is told that an attempt starts.
func (w *watcher) Attempt(context.Context, retry.AttemptStart) context.Context {
	w.log.progress.erase()
	w.attempts++
	w.log.starts(w.attempts)
	return nil
}

// AttemptDone is told how it ended.
func (w *watcher) AttemptDone(_ context.Context, e retry.Event) {
	if w.log.json {
		ok := e.Err == nil
		o := line{Event: "attempt", Attempt: w.attempts, Duration: millis(e.Duration), OK: &ok}
		if e.Err != nil {
			o.Reason = e.Err.Error()
		}
		w.log.write(o)
	}
	if !e.Retrying {
		return
	}
	if w.log.json {
		w.log.write(line{Event: "retry", Attempt: w.attempts, Delay: millis(e.Delay), Source: e.Source.String()})
		return
	}
	told := ""
	if e.Source == retry.SourceServer {
		told = fmt.Sprintf("; the server asked for %s", short(e.Signal.Delay))
	}
	w.log.text("attempt %s: %v after %s; next in %s%s", w.log.of(w.attempts), e.Err, short(e.Duration), short(e.Delay), told)
}

// Pause is told of a wait. Its countdown is not redrawn: the transport does the wait.
func (w *watcher) Pause(_ context.Context, p retry.Pause) {
	if show := w.log.progress.countdown(w.log.of(w.attempts + 1)); show != nil {
		show(p.Delay)
	}
}

// Done is told that a request has ended.
func (w *watcher) Done(context.Context, retry.Summary) { w.log.progress.erase() }

// fetched is the end of a run with --http.
func (l *logger) fetched(attempts, code int, reason string) {
	ok := code == 0
	if l.json {
		l.write(line{Event: "end", Attempt: attempts, Exit: &code, Reason: reason, Duration: millis(time.Since(l.began)), OK: &ok})
		return
	}
	word := "gave up"
	if ok {
		word = "done"
	}
	l.text("%s after %s, %s: %s", word, tries(attempts), short(time.Since(l.began)), reason)
}
