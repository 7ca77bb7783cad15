// Command quickstart fetches an order from a server that misbehaves as servers do, and says attempt by attempt what
// happens: a connection that breaks, an overload that names a wait, an answer that takes too long, and at last an order.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -url http://localhost:8080/orders/42
//
// The second form asks a server of yours. Ctrl-C ends either in order. The code to copy is in fetch.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"time"

	"github.com/seed-89b3229b/retry"
)

func main() {
	address := flag.String("url", "", "ask this server, not the one that comes with the program")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *address)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\nquickstart:", err)
		os.Exit(1)
	}
}

// run is the program. An empty address stands for the server that comes with it, and then what happened must be what was
// announced.
func run(ctx context.Context, out io.Writer, address string) error {
	defer http.DefaultClient.CloseIdleConnections()
	if address != "" {
		_, _, err := fetchAloud(ctx, out, address)
		return err
	}
	server, err := startServer()
	if err != nil {
		return err
	}
	defer server.Close()
	got, retried, err := fetchAloud(ctx, out, server.address())
	if err != nil {
		return err
	}
	return server.verify(got, retried)
}

// fetchAloud fetches the order and writes what happens to out. It also returns the failures that were retried.
func fetchAloud(ctx context.Context, out io.Writer, address string) (got order, retried []retry.Event, err error) {
	fmt.Fprintf(out, "GET %s: at most %d attempts, each of at most %v\n\n", address, maxAttempts, attemptTimeout)
	start := time.Now()
	say := func(at time.Time, format string, args ...any) {
		fmt.Fprintf(out, "%7.3fs  %s\n", at.Sub(start).Seconds(), fmt.Sprintf(format, args...))
	}

	got, err = fetch(ctx, address, retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		retried = append(retried, e)
		say(e.At, "attempt %d failed (%v): %s", e.Number, e.Class, short(e.Err))
		if e.Source == retry.SourceServer {
			fmt.Fprintf(out, "          waiting %.3fs: the server asks for %v, and some is added to spread its clients\n", e.Delay.Seconds(), e.Signal.Delay)
		} else {
			fmt.Fprintf(out, "          waiting %.3fs, by the policy\n", e.Delay.Seconds())
		}
	}))

	if err != nil {
		say(time.Now(), "%s", explain(err))
	} else {
		say(time.Now(), "attempt %d succeeded: order %d is %s", len(retried)+1, got.ID, got.Status)
	}
	return got, retried, err
}

// explain says why there is no order: what went wrong last, and why that was the end.
func explain(err error) string {
	gaveUp, ok := errors.AsType[*retry.Error](err)
	switch {
	case !ok:
		return "not worth another attempt: " + short(err)
	case gaveUp.Last == nil:
		return fmt.Sprintf("not attempted: %v", gaveUp.Reason)
	}
	return fmt.Sprintf("gave up after attempt %d: %v\n          the last failure: %s", gaveUp.Attempts, gaveUp.Reason, short(gaveUp.Last))
}

// short is the error's text without the addresses that the network and the HTTP client put before it.
func short(err error) string {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
