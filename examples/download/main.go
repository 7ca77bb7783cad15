// Command download fetches a file from a server that breaks off again and again: it cuts bodies, answers 503, and stops in the
// middle without closing the connection. Each attempt asks for what is missing only, and in the end the checksum must be
// right.
//
//	go run ./examples/download
//	go run ./examples/download -url https://example.com/big.iso -o big.iso -sha256 2c26b46b68ffc68ff99b453c1d304134…
//
// The second form fetches from a server of yours. It exits with status 0 only if the file is whole and its checksum, where one
// is given, is right. Ctrl-C ends either in order. The code to copy is in fetch.go.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

func main() {
	var s settings
	flag.StringVar(&s.url, "url", "", "fetch this, not the file of the server that comes with the program")
	flag.StringVar(&s.name, "o", "", "the file to write; needed with -url")
	flag.StringVar(&s.sum, "sha256", "", "what the checksum must be, in hexadecimal")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\ndownload:", err)
		os.Exit(1)
	}
}

// settings are the command line.
type settings struct{ url, name, sum string }

// run is the program.
func run(ctx context.Context, out io.Writer, s settings) error {
	var own *server
	if s.url == "" {
		dir, err := os.MkdirTemp("", "download")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if own, err = startServer(); err != nil {
			return err
		}
		defer own.Close()
		s = settings{own.address(), filepath.Join(dir, "lamps.csv"), own.sum()}
	}
	if s.name == "" {
		return fmt.Errorf("-o must name the file to write")
	}
	client := &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	defer client.CloseIdleConnections()

	fmt.Fprintf(out, "GET %s\n\n", s.url)
	began := time.Now()
	say := reporter(out, began)
	n, err := fetch(ctx, client, s.url, s.name, say.progress, retry.WithOnRetry(say.retry))
	if err != nil {
		return err
	}
	got, err := checksum(s.name)
	if err != nil {
		return err
	}
	say.line("%s in %d attempts, SHA-256 %s…", size(n), say.attempts, got[:16])
	if s.sum != "" && !strings.EqualFold(s.sum, got) {
		return fmt.Errorf("the checksum should be %s, not %s", s.sum, got)
	}
	if own != nil {
		return own.verify(say.attempts)
	}
	return nil
}

// checksum is that of what was written, not of what came.
func checksum(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// report writes what happens, line by line.
type report struct {
	out      io.Writer
	began    time.Time
	next     int64 // where the next line of progress is due
	attempts int
}

func reporter(out io.Writer, began time.Time) *report { return &report{out: out, began: began} }

func (s *report) line(format string, args ...any) {
	fmt.Fprintf(s.out, "%7.3fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// progress draws a bar of twenty parts at the beginning of every answer, and whenever a tenth of the content has come.
func (s *report) progress(p retryhttp.Progress) {
	attempt := retryhttp.Attempts(p.Response)
	if attempt == s.attempts && p.Bytes < s.next {
		return
	}
	s.attempts = attempt
	if p.Total < 0 {
		s.next = p.Bytes + 1<<20
		s.line("attempt %d: %s", attempt, size(p.Bytes))
		return
	}
	s.next = p.Bytes + max(p.Total/10, 1)
	done := int(p.Bytes * 20 / max(p.Total, 1))
	s.line("attempt %d: [%s%s] %s of %s", attempt, strings.Repeat("#", done), strings.Repeat("-", 20-done), size(p.Bytes), size(p.Total))
}

func (s *report) retry(_ context.Context, e retry.Event) {
	s.line("attempt %d failed: %v", e.Number, e.Err)
}

func size(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
