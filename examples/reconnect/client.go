package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

// Short, so that there is something to see within seconds. The defaults of Supervise, one second and twice a minute, are
// for servers.
const (
	base    = 40 * time.Millisecond
	longest = 2 * time.Second
	healthy = 400 * time.Millisecond
)

const (
	silence = 15 * time.Second // for so long may a connection say nothing before it counts as dead
	goodbye = time.Second      // for so long is waited for the server's end
)

var policy = retry.MustNew(
	retry.WithName("feed"),
	retry.WithStrategy(strategy.EqualJitter{Base: base, Max: longest}),
	retry.WithResetAfter(healthy),
)

var errDenied = errors.New("denied")

// client receives the lines of a feed. It goes on where it was when a connection breaks.
type client struct {
	dial      func(context.Context) (net.Conn, error)
	connected func()
	received  func(line string)

	lines int // so many were received, on all connections
}

// keep keeps the feed up until stop is done, and then ends it in order: no new connection is begun, a wait ends at once,
// and a connection that is up says goodbye and is read to its end. The end of ctx breaks all that off.
func (c *client) keep(ctx, stop context.Context, opts ...retry.Option) error {
	opts = append([]retry.Option{policy, retry.WithStop(stop.Done())}, opts...)
	err := retry.Supervise(ctx, func(ctx context.Context) error { return c.connection(ctx, stop) }, opts...)
	if errors.Is(err, retry.ErrShutdown) {
		return nil
	}
	return err
}

// connection is one connection, from its begin to its end. It returns nil only if it was to end.
func (c *client) connection(ctx, stop context.Context) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c.connected()
	if _, err := fmt.Fprintf(conn, "after %d\n", c.lines); err != nil {
		return err
	}
	defer context.AfterFunc(stop, func() {
		time.AfterFunc(goodbye, func() { conn.Close() }) // whatever the server does
		io.WriteString(conn, "bye\n")
	})()

	feed := bufio.NewScanner(conn)
	for {
		conn.SetReadDeadline(time.Now().Add(silence))
		if !feed.Scan() {
			break
		}
		if feed.Text() == "denied" {
			return retry.Permanent(errDenied) // will not become better
		}
		c.lines++
		c.received(feed.Text())
	}
	switch {
	case stop.Err() != nil:
		return nil
	case feed.Err() != nil:
		return feed.Err()
	}
	return io.ErrUnexpectedEOF // a feed has no end of its own
}
