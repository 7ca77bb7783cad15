package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantOutput = `60 items, at most 25 in a batch, at most 4 attempts from the last progress on

item-01 to item-25 (25): 10 written, 0 rejected, 15 unprocessed
    again in 10ms
item-11 to item-25 (15): 503 Service Unavailable
    again in 20ms
item-11 to item-25 (15): 0 written, 0 rejected, 15 unprocessed
    again in 40ms
item-11 to item-25 (15): 5 written, 0 rejected, 10 unprocessed
    again in 10ms
item-16 to item-25 (10): no answer
    again in 20ms
item-16 to item-25 (10): 10 written, 0 rejected, 0 unprocessed
item-26 to item-50 (25): 24 written, 0 rejected, 1 unprocessed
    again in 10ms
item-42 to item-42 (1): 0 written, 0 rejected, 1 unprocessed
    again in 20ms
item-42 to item-42 (1): 0 written, 0 rejected, 1 unprocessed
    again in 40ms
item-42 to item-42 (1): 0 written, 0 rejected, 1 unprocessed
item-51 to item-60 (10): 9 written, 1 rejected, 0 unprocessed

58 written
item-58 rejected: the price is below 0
item-42 left: retry: attempts exhausted
`

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, wantOutput, out.String())
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &watcher{word: "again in 20ms", then: cancel}
	err := run(ctx, out)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, statusError(503), "what went wrong before the interrupt")
}

// watcher calls then when word is written to it.
type watcher struct {
	strings.Builder
	word string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.then()
	}
	return w.Builder.Write(p)
}

// write writes the items a, b, c … to a server of one function, in virtual time.
func write(t *testing.T, ids string, p func(ids string) (written string, err error)) (left string, written int, elapsed time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		var items []item
		for _, id := range ids {
			items = append(items, item{ID: string(id)})
		}
		send := put(func(_ context.Context, items []item) (a answer, err error) {
			taken, err := p(text(items))
			for _, i := range items {
				if !strings.Contains(taken, i.ID) {
					a.Unprocessed = append(a.Unprocessed, i.ID)
				}
			}
			return a, err
		})
		start := time.Now()
		all, failed := send.write(t.Context(), items)
		left, written, elapsed, err = text(all.left), all.written, time.Since(start), failed
		require.Equal(t, ids, text(items), "the caller's items are the caller's")
		require.Equal(t, len(ids), all.written+len(all.left))
	})
	return left, written, elapsed, err
}

func text(items []item) (ids string) {
	for _, i := range items {
		ids += i.ID
	}
	return ids
}

func TestWrite(t *testing.T) {
	// One at a time: no attempt is without progress, and each wait is that of a first failure.
	left, written, elapsed, err := write(t, "abcdefgh", func(ids string) (string, error) { return ids[:1], nil })
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, 8, written)
	require.Equal(t, 7*10*time.Millisecond, elapsed)

	// Two attempts after each progress get nothing done: just not enough to give up. The second is one without an answer.
	calls := 0
	left, _, elapsed, err = write(t, "abc", func(ids string) (string, error) {
		switch calls++; calls % 3 {
		case 0:
			return ids[:1], nil
		case 2:
			return ids, io.ErrUnexpectedEOF // written, but nobody knows
		}
		return "", nil
	})
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, 9, calls)
	require.Equal(t, (10+20+10+20+40+10+20+40)*time.Millisecond, elapsed)
}

func TestWriteGivesUp(t *testing.T) {
	calls := 0
	left, written, elapsed, err := write(t, "abc", func(string) (string, error) { calls++; return "b", nil })
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.ErrorIs(t, err, incomplete(2))
	require.Equal(t, "ac", left)
	require.Equal(t, 1, written)
	require.Equal(t, maxAttempts, calls)
	require.Equal(t, (10+20+40)*time.Millisecond, elapsed)

	// What is not worth another attempt ends it as it is, with all that is left.
	left, _, elapsed, err = write(t, "abc", func(string) (string, error) { return "", statusError(400) })
	require.Equal(t, statusError(400), err)
	require.Equal(t, "abc", left)
	require.Zero(t, elapsed)

	// A batch that fails does not keep the next one from being sent.
	ids := strings.Repeat("x", batchSize) + "abc"
	left, written, _, err = write(t, ids, func(ids string) (string, error) {
		require.LessOrEqual(t, len(ids), batchSize)
		if ids != "abc" {
			return "", statusError(503)
		}
		return ids, nil
	})
	require.ErrorIs(t, err, statusError(503))
	require.Equal(t, strings.Repeat("x", batchSize), left)
	require.Equal(t, 3, written)
}

// What the server names that was never sent is nothing to the client.
func TestForeignAnswers(t *testing.T) {
	send := put(func(context.Context, []item) (answer, error) {
		return answer{Unprocessed: []string{"z"}, Rejected: map[string]string{"y": "no"}}, nil
	})
	all, err := send.write(t.Context(), []item{{ID: "a"}})
	require.NoError(t, err)
	require.Equal(t, outcome{written: 1, rejected: map[string]string{}}, all)
}

func TestPutTo(t *testing.T) {
	s, err := startServer()
	require.NoError(t, err)
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	_, err = putTo(s.address())(t.Context(), make([]item, batchSize+1))
	require.Equal(t, statusError(http.StatusBadRequest), err)
	_, err = putTo("http://[")(t.Context(), nil)
	require.Error(t, err)
	require.Empty(t, s.sizes)
}

// The program fails where one of the things that it says does not hold.
func TestVerifyBites(t *testing.T) {
	for breaks, change := range map[string]func(*server, *outcome, *retry.Error){
		"":                                    func(*server, *outcome, *retry.Error) {},
		"should have ended after 4 attempts":  func(_ *server, _ *outcome, e *retry.Error) { e.Attempts = 5 },
		"4 attempts: 1 left":                  func(_ *server, _ *outcome, e *retry.Error) { e.Reason = retry.ErrBudget },
		"only what is left":                   func(s *server, _ *outcome, _ *retry.Error) { s.sizes[1] = 25 },
		"all items but two":                   func(s *server, _ *outcome, _ *retry.Error) { s.table["item-07"] = 1 },
		"all items but two should":            func(s *server, _ *outcome, _ *retry.Error) { delete(s.table, "item-60") },
		"three items":                         func(s *server, _ *outcome, _ *retry.Error) { s.puts++ },
		"58 items should have been reported":  func(_ *server, o *outcome, _ *retry.Error) { o.written++ },
		"58 items should have been reported ": func(_ *server, o *outcome, _ *retry.Error) { o.left[0].ID = "item-01" },
		"one as rejected":                     func(_ *server, o *outcome, _ *retry.Error) { o.rejected = nil },
	} {
		s := &server{sizes: []int{25, 15, 15, 15, 10, 10, 25, 1, 1, 1, 10}, table: map[string]int{}, puts: 61}
		for _, i := range goods() {
			if i.ID != busy && i.Price >= 0 {
				s.table[i.ID] = i.Price
			}
		}
		o := outcome{written: 58, rejected: map[string]string{"item-58": ""}, left: []item{{ID: busy}}}
		e := &retry.Error{Attempts: 4, Reason: retry.ErrExhausted, Last: incomplete(1)}
		change(s, &o, e)
		if err := s.verify(o, e); breaks == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, breaks)
		}
	}
	require.Error(t, new(server).verify(outcome{}, errors.New("other")))
	require.Equal(t, "3 left", fmt.Sprint(incomplete(3)))
}
