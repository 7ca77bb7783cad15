// Command reconnect keeps a connection to a server that does what servers do: it dies, is gone for a while, comes back
// before it is well, and dies again. It shows attempt by attempt how the waits grow while nothing works, begin anew after
// the connection was good for a while, and how the end comes in order.
//
//	go run ./examples/reconnect
//	go run ./examples/reconnect -addr 127.0.0.1:9000    # with nc -lk 127.0.0.1 9000 elsewhere
//
// The first form runs by itself, with a server of its own, and ends after two seconds as by Ctrl-C. The second keeps a
// connection to a server of yours, until Ctrl-C. The code to copy is in client.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"time"
)

func main() {
	address := flag.String("addr", "", "keep a connection to this server, not to the one that comes with the program")
	flag.Parse()
	stop, restore := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(stop, restore) // a second Ctrl-C ends the program at once
	var err error
	if *address != "" {
		err = follow(context.Background(), stop, os.Stdout, dialer(*address))
	} else {
		err = play(context.Background(), stop, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reconnect:", err)
		os.Exit(1)
	}
}

func dialer(address string) func(context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	return func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", address) }
}

// follow writes to out what comes from the server, and what happens to the connection.
func follow(ctx, stop context.Context, out io.Writer, dial func(context.Context) (net.Conn, error)) error {
	log := newTimeline(out)
	c := client{dial: dial, connected: log.connected, received: func(line string) { log.say("%s", line) }}
	return c.keep(ctx, stop, log.option())
}

// play plays the story with a server on the loopback interface.
func play(ctx, stop context.Context, out io.Writer) error {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := first.Addr().String()
	listen := func() (listener net.Listener, err error) {
		if listener, first = first, nil; listener == nil { // the second time: the same address again
			listener, err = net.Listen("tcp", address)
		}
		return listener, err
	}
	return story(ctx, stop, out, &server{listen: listen, visits: visits}, dialer(address))
}
