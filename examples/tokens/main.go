// Command tokens fetches pages with five tokens from a server that limits each of them by itself. A token that is turned away
// cools down while the others go on; only when all of them cool down does the client wait, for the first that comes back.
//
//	go run ./examples/tokens
//	TOKENS_TOKEN_LOAD_BALANCING=least-recently-used go run ./examples/tokens
//
// The server is a real one on the loopback interface; time is virtual, so that a minute of waiting takes none. The program
// draws which token served what, by the tokens' indexes: the tokens themselves are nobody's business. The code to copy is in
// client.go.
package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

const pages = 100

// defaults are the variables that this program comes with.
var defaults = map[string]string{
	"TOKENS_TOKEN":             "0b3f7a, 5c88d1, 9e2764, c41f90, f7d35b",
	"TOKENS_TOKEN_MAX_RETRIES": "7",
}

func main() {
	if err := run(context.Background(), os.Stdout, os.LookupEnv); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, lookup func(string) (string, bool)) error {
	tokens, attempts, err := pool.FromEnv("TOKENS_", func(name string) (string, bool) {
		if value, ok := lookup(name); ok {
			return value, true
		}
		value, ok := defaults[name]
		return value, ok
	})
	if err != nil {
		return err
	}
	tokens.Rand = rand.New(rand.NewPCG(1, 1)).Float64 // the same run every time

	clk := retrytest.NewClock()
	server, err := startServer(clk, tokens.Keys())
	if err != nil {
		return err
	}
	defer server.Close()
	c := newClient(server.address(), tokens, attempts, clk)
	defer c.http.CloseIdleConnections()
	for page := range pages {
		if err := c.fetch(ctx, page); err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
	}
	report(out, server.log, tokens.Stats(clk.Now()), clk)
	return server.verify(pages)
}
