package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/seed-89b3229b/retry"
)

// timeline says what happens, and when.
type timeline struct {
	out   io.Writer
	start time.Time
}

func newTimeline(out io.Writer) timeline { return timeline{out, time.Now()} }

func (t timeline) say(format string, args ...any) {
	fmt.Fprintf(t.out, "%7.3fs  %s\n", time.Since(t.start).Seconds(), fmt.Sprintf(format, args...))
}

func (t timeline) connected() { t.say("connected") }

// option makes a client tell of every failure.
func (t timeline) option() retry.Option {
	return retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		if e.Duration >= healthy {
			t.say("%s, after %.3fs: that was long enough for the waits to begin anew", short(e.Err), e.Duration.Seconds())
		} else {
			t.say("%s", short(e.Err))
		}
		fmt.Fprintf(t.out, "          waiting %.3fs\n", e.Delay.Seconds())
	})
}

// short is the error's text without the addresses that the network puts before it.
func short(err error) string {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// refusals is how many connections are refused before the server is started again.
const refusals = 2

// seen is what happened.
type seen struct {
	connections int
	refused     int
	lines       []string
	failures    []retry.Event
}

// story is the whole of it: the server lives through its visits, the client keeps the connection, and when it has all
// lines but the last, the end comes as by Ctrl-C. What happened must then be what was to be shown.
func story(ctx, stop context.Context, out io.Writer, s *server, dial func(context.Context) (net.Conn, error), opts ...retry.Option) error {
	if err := s.start(); err != nil {
		return err
	}
	defer s.close()
	byUser := stop
	stop, end := context.WithCancel(stop)
	defer end()

	var got seen
	var restarted error
	log := newTimeline(out)
	c := client{dial: dial}
	c.connected = func() {
		got.connections++
		log.say("connected, to go on after line %d", c.lines)
	}
	c.received = func(line string) {
		if got.lines = append(got.lines, line); c.lines == allLines-1 {
			log.say("line %d; and now Ctrl-C", c.lines)
			end()
		}
	}
	watch := retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		if got.failures = append(got.failures, e); len(got.failures) > got.connections+got.refused {
			if got.refused++; got.refused == refusals {
				if restarted = s.start(); restarted != nil {
					end() // it would go on for ever
				}
				fmt.Fprintln(out, "          the server is started again")
			}
		}
	})
	err := c.keep(ctx, stop, append([]retry.Option{log.option(), watch}, opts...)...)
	switch err = cmp.Or(restarted, err); {
	case err != nil:
		return err
	case byUser.Err() != nil:
		log.say("ended in order, by you")
		return nil
	}
	log.say("ended in order, with line %d as a farewell", c.lines)
	fmt.Fprintf(out, "\n%d lines over %d connections: none is missing, none came twice\n", len(got.lines), got.connections)
	return got.verify()
}

// verify reports what went otherwise than this program says.
func (s *seen) verify() error {
	if s.connections != len(visits) || s.refused != refusals || len(s.failures) != len(visits)-1+refusals {
		return fmt.Errorf("there should have been %d connections and %d refusals, not %d and %d, with %d failures in all, not %d",
			len(visits), refusals, s.connections, s.refused, len(visits)-1+refusals, len(s.failures))
	}
	if len(s.lines) != allLines {
		return fmt.Errorf("there should have been %d lines, not %d", allLines, len(s.lines))
	}
	for i, line := range s.lines {
		if line != fmt.Sprintf("line %d", i+1) {
			return fmt.Errorf("line %d should not have been %q", i+1, line)
		}
	}
	inARow, resets := 0, 0
	for i, e := range s.failures {
		if inARow++; e.Duration >= healthy {
			inARow = 1
			resets++
		}
		if most := min(base<<(inARow-1), longest); e.Delay < most/2 || e.Delay > most {
			return fmt.Errorf("wait %d should have been from %v to %v, as that of failure %d in a row, not %v", i+1, most/2, most, inARow, e.Delay)
		}
	}
	if resets < 2 {
		return fmt.Errorf("two connections should have been good for long enough, not %d", resets)
	}
	return nil
}
