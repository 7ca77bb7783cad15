// Command batch writes sixty items through an API that takes part of a batch and returns the rest, as BatchWriteItem of
// DynamoDB does. Only what is left is sent again, progress makes attempts and waits begin anew, and what could not be
// written is reported in the end.
//
//	go run ./examples/batch
//
// The API is a real HTTP server on the loopback interface. The code to copy is in client.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"reflect"

	"github.com/seed-89b3229b/retry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "batch:", err)
		os.Exit(1)
	}
}

// goods are the items to write. One of them cannot be.
func goods() (items []item) {
	for n := range 60 {
		items = append(items, item{ID: fmt.Sprintf("item-%02d", n+1), Price: 100 + n})
	}
	items[57].Price = -1
	return items
}

// run is the program. What became of the items must be what was to be shown.
func run(ctx context.Context, out io.Writer) error {
	s, err := startServer()
	if err != nil {
		return err
	}
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	items := goods()
	fmt.Fprintf(out, "%d items, at most %d in a batch, at most %d attempts from the last progress on\n\n", len(items), batchSize, maxAttempts)

	got, err := aloud(out, putTo(s.address())).write(ctx, items, retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		fmt.Fprintf(out, "    again in %v\n", e.Delay)
	}))
	if ctx.Err() != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d written\n", got.written)
	for id, why := range got.rejected {
		fmt.Fprintf(out, "%s rejected: %s\n", id, why)
	}
	for _, i := range got.left {
		fmt.Fprintf(out, "%s left: %v\n", i.ID, reason(err))
	}
	return s.verify(got, err)
}

// reason is why a call ended, in few words.
func reason(err error) error {
	if gaveUp, ok := errors.AsType[*retry.Error](err); ok {
		return gaveUp.Reason
	}
	return err
}

// aloud says what is sent and what comes back.
func aloud(out io.Writer, p put) put {
	return func(ctx context.Context, items []item) (answer, error) {
		fmt.Fprintf(out, "%s to %s (%d): ", items[0].ID, items[len(items)-1].ID, len(items))
		a, err := p(ctx, items)
		if code, ok := errors.AsType[statusError](err); ok {
			fmt.Fprintln(out, code)
		} else if err != nil {
			fmt.Fprintln(out, "no answer")
		} else {
			fmt.Fprintf(out, "%d written, %d rejected, %d unprocessed\n", len(items)-len(a.Rejected)-len(a.Unprocessed), len(a.Rejected), len(a.Unprocessed))
		}
		return a, err
	}
}

// verify reports what went otherwise than this program says.
func (s *server) verify(got outcome, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	gaveUp, ok := errors.AsType[*retry.Error](err)
	want := map[string]int{}
	for _, i := range goods() {
		if i.Price >= 0 && i.ID != busy {
			want[i.ID] = i.Price
		}
	}
	switch {
	case !ok || !errors.Is(err, retry.ErrExhausted) || gaveUp.Attempts != maxAttempts:
		return fmt.Errorf("the second batch should have ended after %d attempts: %w", maxAttempts, err)
	case !reflect.DeepEqual(s.sizes, []int{25, 15, 15, 15, 10, 10, 25, 1, 1, 1, 10}):
		return fmt.Errorf("only what is left should have been sent again: %v", s.sizes)
	case !reflect.DeepEqual(s.table, want):
		return fmt.Errorf("all items but two should have been written: %v", s.table)
	case s.puts != len(want)+3:
		return fmt.Errorf("three items should have been written twice, those whose answer was lost: %d writes of %d items", s.puts, len(want))
	case got.written != len(want) || len(got.rejected) != 1 || len(got.left) != 1 || got.left[0].ID != busy:
		return fmt.Errorf("%d items should have been reported as written, one as rejected, and %s as left: %+v", len(want), busy, got)
	}
	return nil
}
