// Package e2e checks with real backends what the program beside it and the documents promise: with Jaeger, with
// OpenTelemetry's collector, and with Prometheus. It builds or fetches them, so it runs only if asked for:
//
//	make e2e-otel
//
// Whatever it starts listens on the loopback interface only, and is stopped in the end.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var asked = flag.Bool("e2e", false, "build and start real backends, which takes minutes and needs a network")

const (
	buildTime = 20 * time.Minute
	lifeTime  = 5 * time.Minute // of a process, whatever happens
	patience  = 30 * time.Second
)

// documents is where the files are that users copy.
const documents = "../../../docs/observability"

func ifAsked(t *testing.T) {
	t.Helper()
	if !*asked {
		t.Skip("asked for by -args -e2e")
	}
}

// command runs a program that ends by itself, and returns what it printed.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), buildTime)
	defer cancel()
	start := time.Now()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %q\n%s", name, args, out)
	t.Logf("%6.1fs  %s %q", time.Since(start).Seconds(), filepath.Base(name), args)
	return string(out)
}

// process is a program that goes on until it is stopped.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	mu   sync.Mutex
	out  bytes.Buffer
}

// Write takes what the program prints.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// start starts a program, and stops it when the test ends.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lifeTime)
	p := &process{cmd: exec.CommandContext(ctx, name, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	p.cmd.WaitDelay = 10 * time.Second
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		cancel() // interrupts it, and kills it where that does not help
		<-p.done
		if t.Failed() {
			t.Logf("%s:\n%s", name, p.output())
		}
	})
	return p
}

// addresses returns free addresses on the loopback interface.
func addresses(t *testing.T, n int) (all []string) {
	t.Helper()
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		all = append(all, listener.Addr().String())
	}
	return all
}

// eventually asks again and again until there is no error.
func eventually(t *testing.T, p *process, ask func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-p.done:
			require.NoError(t, err, "and %s has ended", p.cmd.Path)
		case <-time.After(100 * time.Millisecond):
			require.True(t, time.Now().Before(deadline), "%v", err)
		}
	}
}

// get reads JSON from an address.
func get(address string, into any) error {
	client := http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get(address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", address, resp.Status, text)
	}
	return json.Unmarshal(text, into)
}

// service builds the program beside this folder.
var service = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "retry-e2e-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "traced-service")
	out, err := exec.Command("go", "build", "-o", binary, "..").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return binary, err
})

func tracedService(t *testing.T) string {
	t.Helper()
	binary, err := service()
	require.NoError(t, err)
	return binary
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *asked {
		if binary, err := service(); err == nil {
			os.RemoveAll(filepath.Dir(binary))
		}
	}
	os.Exit(code)
}
