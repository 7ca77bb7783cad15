package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-89b3229b/retry/retryhttp"
)

// report is the closing table.
func report(out io.Writer, all []*fetched, took time.Duration) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "URL\tRESULT\tATTEMPTS\tWAITED\tBYTES")
	ok, attempts, bytes, waited := 0, 0, int64(0), time.Duration(0)
	for _, f := range all {
		fmt.Fprintf(table, "%s\t%s\t%d\t%.3fs\t%d\n", f.url, f.result(), f.attempts, f.waited.Seconds(), f.bytes)
		if f.ok() {
			ok++
		}
		attempts, bytes, waited = attempts+f.attempts, bytes+f.bytes, waited+f.waited
	}
	table.Flush()
	fmt.Fprintf(out, "\n%d of %d fetched, %d attempts, %.3fs of waits, %d bytes, in %.3fs\n", ok, len(all), attempts, waited.Seconds(), bytes, took.Seconds())
}

// ok reports whether the URL was fetched.
func (f *fetched) ok() bool { return f.err == nil && f.status == http.StatusOK }

// result is the status, and what went wrong beside it or without an answer.
func (f *fetched) result() string {
	switch {
	case errors.Is(f.err, context.Canceled):
		return "interrupted"
	case f.err != nil && f.status != 0:
		return fmt.Sprintf("%d, %s", f.status, short(f.err))
	case f.err != nil:
		return short(f.err)
	case f.reason != nil:
		return statusText(f.status) + ", " + strings.TrimPrefix(f.reason.Error(), "retry: ")
	}
	return statusText(f.status)
}

// missing is an error if not all URLs were fetched.
func missing(all []*fetched) error {
	n := 0
	for _, f := range all {
		if !f.ok() {
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d of %d could not be fetched", n, len(all))
	}
	return nil
}

func statusText(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

// short is the error's text without the addresses that it comes with.
func short(err error) string {
	if f, ok := errors.AsType[*retryhttp.Failure](err); ok && f.Response != nil {
		return statusText(f.Response.StatusCode)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
