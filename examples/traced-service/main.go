// Command traced-service is two services on the loopback interface, of which one asks the other and retries. It shows the
// trace of one request through both as bars, and then the metrics of all requests:
//
//	go run .
//	go run . -otlp 127.0.0.1:4318
//	go run . -prometheus 127.0.0.1:9464
//
// The second form also sends the traces to a collector, by OTLP over HTTP. The third serves the metrics to Prometheus, and
// goes on asking until it is interrupted, so that there is something to see. ../../docs/observability.md says what all the names mean.
//
// The code to copy is in telemetry.go and shop.go. This folder is a module of its own, so that the library does not depend
// on exporters.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
)

// articles are what the shop is asked for, one after the other. stock.go says what comes of it.
var articles = []string{"lamp", "chair", "unicorn", "piano", "organ"}

// settings are the flags.
type settings struct{ otlp, prometheus string }

func main() {
	var s settings
	flag.StringVar(&s.otlp, "otlp", "", "send the traces to the collector at this `host:port`")
	flag.StringVar(&s.prometheus, "prometheus", "", "serve the metrics at this `host:port`, until interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\ntraced-service:", err)
		os.Exit(1)
	}
}

// run is the program. It fails where the metrics do not say what has happened.
func run(ctx context.Context, out io.Writer, s settings) (err error) {
	t, err := newTelemetry(ctx, out, s.otlp)
	if err != nil {
		return err
	}
	defer func() { err = firstOf(err, t.shutdown()) }()

	stock := new(stock)
	stockAddress, stopStock, err := serve(ctx, "127.0.0.1:0", stock.handler(t.stock))
	if err != nil {
		return err
	}
	defer stopStock()
	shop := newShop(t, "http://"+stockAddress)
	defer shop.client.CloseIdleConnections()
	shopAddress, stopShop, err := serve(ctx, "127.0.0.1:0", shop.handler(t.shop))
	if err != nil {
		return err
	}
	defer stopShop()

	customer := &customer{http.Client{Transport: new(http.Transport)}, "http://" + shopAddress + "/articles/"}
	defer customer.CloseIdleConnections()
	fmt.Fprintf(out, "GET %s\n\n", customer.shop+articles[0])
	for i, article := range articles {
		answer, err := customer.ask(ctx, article)
		if err != nil {
			return err
		}
		if i == 0 {
			t.stopDrawing() // the traces of the others are sent, but not drawn
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%-8s %s\n", article, answer)
	}

	rows, err := t.rows(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", table(rows))
	if err := verify(rows, int(stock.requests.Load())); err != nil {
		return err
	}
	if s.otlp != "" {
		if err := t.flush(ctx); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%d traces sent to http://%s/v1/traces\n", len(articles), s.otlp)
	}
	if s.prometheus == "" {
		return nil
	}

	address, stopScrapes, err := serve(ctx, s.prometheus, t.scrapes)
	if err != nil {
		return err
	}
	defer stopScrapes()
	fmt.Fprintf(out, "\nmetrics at http://%s/metrics, until interrupted\n", address)
	return customer.goOn(ctx)
}

// customer is who asks the shop.
type customer struct {
	http.Client
	shop string // address
}

// ask makes one request, and returns the status and the text of the answer.
func (c *customer) ask(ctx context.Context, article string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.shop+article, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(text))), err
}

// goOn asks for all articles again and again, until the program is interrupted.
func (c *customer) goOn(ctx context.Context) error {
	for {
		for _, article := range articles {
			if _, err := c.ask(ctx, article); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
		}
	}
}

// serve starts an HTTP server, and returns where it is and what stops it. Its requests end when ctx does.
func serve(ctx context.Context, address string, handler http.Handler) (string, func(), error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan struct{})
	go func() {
		server.Serve(listener) // until Close
		close(stopped)
	}()
	return listener.Addr().String(), func() {
		server.Close()
		<-stopped
	}, nil
}

// firstOf is the first of the errors that is one.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
