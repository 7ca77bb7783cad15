// Command httpclient fetches a list of URLs, several at a time, through one transport that retries, and ends with a table of
// what each took. On a terminal a bar shows how far it is; elsewhere each line says what happens.
//
//	go run .
//	go run . https://go.dev/ https://pkg.go.dev/ https://go.dev/nothing
//	go run . -parallel 2 -timeout 5s https://go.dev/
//
// Without URLs it starts a server that fails in many ways, and checks that everything went as it should: with that it ends
// with status 1 only if something did not. With URLs that is so where one could not be fetched. Ctrl-C ends it at once, with
// what is there by then. The code to copy is in fetch.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/term"
)

func main() {
	var s settings
	flag.IntVar(&s.parallel, "parallel", 8, "how many URLs to fetch at a time")
	flag.DurationVar(&s.timeout, "timeout", 10*time.Second, "how long an attempt may take, up to the header of its answer")
	flag.Parse()
	s.urls = flag.Args()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait for anything
	terminal := io.Writer(nil)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		terminal = os.Stderr
	}
	err := run(ctx, os.Stdout, terminal, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\nhttpclient:", err)
		os.Exit(1)
	}
}

// settings are the command line.
type settings struct {
	parallel int
	timeout  time.Duration
	urls     []string // none: those of the server that comes with the program
}

// run is the program. terminal is where the bar is drawn; nil: nowhere.
func run(ctx context.Context, out, terminal io.Writer, s settings) error {
	if s.parallel < 1 {
		return fmt.Errorf("-parallel must be 1 or more, not %d", s.parallel)
	}
	var own *server
	if len(s.urls) == 0 {
		var err error
		if own, err = startServer(); err != nil {
			return err
		}
		defer own.Close()
		s.urls, s.timeout = own.urls(), patience
	}
	client, err := newClient(s.timeout)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()

	fmt.Fprintf(out, "fetching %d URLs, %d at a time\n\n", len(s.urls), s.parallel)
	start := time.Now()
	progress := newProgress(out, terminal, len(s.urls))
	all := fetchAll(ctx, client, s.urls, s.parallel, progress)
	progress.end()
	fmt.Fprintln(out)
	report(out, all, time.Since(start))

	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case own != nil:
		return own.verify(all)
	}
	return missing(all)
}
