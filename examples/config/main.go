// Command config takes its retry settings from the environment, as a service does, and shows that they hold: it asks an
// HTTP server that fails three times, prints what it waits, and ends with status 1 if that is not what was set. A setting
// that cannot be used ends it with status 2, before anything is asked.
//
//	go run .
//	API_MAX_RETRIES=1 go run .
//	API_BASE_TIMEOUT=100ms API_MAX_BACKOFF_TIME=150ms go run .
//	API_MAX_ATTEMPTS=unlimited API_STRATEGY='linear(initial=100ms)' go run .
//	API_MAX_RETRIES=-1 API_BASE_TIMEOUT=500 go run .
//
// The code to copy is in settings.go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/sethvargo/go-envconfig"

	"github.com/seed-89b3229b/retry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Stdout, os.Stderr, envconfig.OsLookuper())
	stop()
	os.Exit(status)
}

// run is the program, and returns its exit status.
func run(ctx context.Context, out, problems io.Writer, env envconfig.Lookuper) int {
	s, err := load(ctx, env)
	if err != nil {
		fmt.Fprintf(problems, "config: the settings cannot be used:\n%v\n%s", err, help)
		return 2
	}
	if err := ask(ctx, out, s); err != nil {
		fmt.Fprintln(problems, "\nconfig:", err)
		return 1
	}
	return 0
}

// ask gets something from the server that fails, and reports what did not go as the settings say.
func ask(ctx context.Context, out io.Writer, s settings) error {
	policy, err := s.policy()
	if err != nil {
		return err
	}
	text, err := json.Marshal(s.inForce())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "in force: %s\n\n", text)

	server, err := startServer()
	if err != nil {
		return err
	}
	defer server.Close()
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()

	var went record
	start := time.Now()
	title, err := retry.Do(ctx, func(ctx context.Context) (string, error) {
		went.attempts = append(went.attempts, time.Now())
		return fetch(ctx, client, server.address())
	}, policy, retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		went.waits = append(went.waits, e.Delay)
		fmt.Fprintf(out, "%6.3fs  attempt %d failed: %s; waiting %.3fs\n", e.At.Sub(start).Seconds(), e.Number, short(e.Err), e.Delay.Seconds())
	}))
	went.err, went.requests = err, int(server.requests.Load())
	switch {
	case ctx.Err() != nil: // interrupted
		return err
	case err != nil:
		fmt.Fprintf(out, "%6.3fs  no answer: %v\n", time.Since(start).Seconds(), err)
	default:
		fmt.Fprintf(out, "%6.3fs  attempt %d succeeded: %s\n", time.Since(start).Seconds(), len(went.attempts), title)
	}
	if err := went.verify(s.inForce()); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d requests, %.3fs of waits: as set\n", went.requests, went.total().Seconds())
	return nil
}
