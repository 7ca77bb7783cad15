// Command alibaba shows the throttling control of Alibaba Cloud's SDKs at work: calls that would be turned away are not
// sent. A gateway like the vendor's, on the loopback interface, limits the calls of an API and those of an account, and
// says in two header fields for how long. The program prints who waits for whom, and fails if a request was sent that the
// control should have held back.
//
//	go run ./examples/alibaba
//
// The code to copy is in client.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\nalibaba:", err)
		os.Exit(1)
	}
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // calls that still wait where an act fails
	defer http.DefaultClient.CloseIdleConnections()
	s := &stage{ctx: ctx, out: out, start: time.Now()}
	s.gateway = startGateway(s.say)
	defer s.gateway.Close()
	control := alibaba.Control{
		Gate:    new(throttle.Gate), // one for all accounts and APIs
		Product: "Ecs", Version: "2014-05-26", Region: "cn-hangzhou",
		MaxDelay: 5 * time.Second,
	}
	acme := client{s.gateway.URL, "LTAI-acme", control}
	globex := client{s.gateway.URL, "LTAI-globex", control}
	for _, act := range []func() error{
		func() error { return s.apiQuota(acme) },
		func() error { return s.accountQuota(globex, acme) },
		func() error { return s.tooLong(acme) },
	} {
		if err := act(); err != nil {
			return err
		}
	}
	return s.gateway.verify()
}

// apiQuota: an API's quota is used up, and its calls wait together. Another API of the account does not.
func (s *stage) apiQuota(acme client) error {
	s.title("acme may call DescribeInstances three times, then not for %v", window)
	for range 3 {
		if err := s.call(acme, "DescribeInstances"); err != nil {
			return err
		}
	}
	waiting := s.hold(acme, "DescribeInstances", 3)
	if err := s.call(acme, "CreateSnapshot"); err != nil {
		return err
	}
	return waiting()
}

// accountQuota: the account's quota is used up, and every API of it waits, one that was never called before too. Other
// accounts do not.
func (s *stage) accountQuota(globex, acme client) error {
	s.title("globex may make four calls in all, then none for %v", window)
	for _, action := range []string{"StartInstance", "StopInstance", "RebootInstance", "DescribeDisks"} {
		if err := s.call(globex, action); err != nil {
			return err
		}
	}
	told := s.hold(globex, "DescribeDisks", 1)
	other := s.hold(globex, "CreateDisk", 1)
	if err := s.call(acme, "CreateDisk"); err != nil {
		return err
	}
	return errors.Join(told(), other())
}

// tooLong: a wait that is longer than the control allows ends the call at once, and the next one before its request.
func (s *stage) tooLong(acme client) error {
	s.title("acme may call ExportBills once, then not for 30s, longer than anybody here waits")
	if err := s.call(acme, "ExportBills"); err != nil {
		return err
	}
	for range 2 {
		err := acme.call(s.ctx, "ExportBills")
		refusal, ok := errors.AsType[*throttle.Error](err)
		gaveUp, _ := errors.AsType[*retry.Error](err)
		if !ok || !errors.Is(err, retry.ErrHintTooLong) {
			return fmt.Errorf("ExportBills should have been refused: %w", err)
		}
		if gaveUp.Attempts == 0 {
			s.say("ExportBills ends without a request: %v to wait", refusal.Remaining.Round(time.Second))
		} else {
			s.say("ExportBills ends at once: %v to wait", refusal.Remaining.Round(time.Second))
		}
	}
	return nil
}

// verify reports requests that should not have been sent: of all that wait for a quota, only the first was told so.
func (g *gateway) verify() error {
	for _, want := range []struct {
		account, api string
		served, away int
	}{
		{"LTAI-acme", "DescribeInstances", 6, 1},
		{"LTAI-acme", "CreateSnapshot", 1, 0},
		{"LTAI-acme", "CreateDisk", 1, 0},
		{"LTAI-acme", "ExportBills", 1, 1},
		{"LTAI-globex", "DescribeDisks", 2, 1},
		{"LTAI-globex", "CreateDisk", 1, 0},
	} {
		if served, away := g.count(want.account, want.api); served != want.served || away != want.away {
			return fmt.Errorf("%s for %s should have been served %d times and turned away %d times, not %d and %d",
				want.api, want.account, want.served, want.away, served, away)
		}
	}
	if g.wild > 0 {
		return fmt.Errorf("%d requests did not say that the control is on", g.wild)
	}
	return nil
}

// stage is what the acts share.
type stage struct {
	ctx     context.Context
	gateway *gateway
	start   time.Time

	mu  sync.Mutex
	out io.Writer
}

func (s *stage) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%7.3fs  %s\n", time.Since(s.start).Seconds(), fmt.Sprintf(format, args...))
}

func (s *stage) title(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "\n%s\n", fmt.Sprintf(format, args...))
}
