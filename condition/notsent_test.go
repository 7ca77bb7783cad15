package condition_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

func TestNotSent(t *testing.T) {
	op := func(name string, err error) error { return &net.OpError{Op: name, Net: "tcp", Err: err} }
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	unreachable := os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	reset := op("read", os.NewSyscallError("read", syscall.ECONNRESET))
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"refused", op("dial", refused), again},
		{"refused in a url.Error", &url.Error{Op: "Post", Err: op("dial", refused)}, again},
		{"refused, bare", refused, again},
		{"refused by Is", late{syscall.ECONNREFUSED}, again},
		{"unreachable", op("dial", unreachable), again},
		{"dial timeout", op("dial", os.ErrDeadlineExceeded), again},
		{"dial past a deadline", op("dial", context.DeadlineExceeded), again},
		{"DNS temporary", op("dial", &net.DNSError{IsTemporary: true}), again},
		{"DNS timeout, bare", &net.DNSError{IsTimeout: true}, again},
		{"proxy refused", op("proxyconnect", op("dial", refused)), again},
		{"proxy, SOCKS", op("socks connect", refused), again},
		{"bad connection", driver.ErrBadConn, again},
		{"bad connection by Is", late{driver.ErrBadConn}, again},
		{"says so", unsent{safe: true}, again},
		{"says so of a reset", unsent{true, reset}, again},
		{"says so of a timeout", unsent{true, context.DeadlineExceeded}, again},
		{"all refused", errors.Join(op("dial", refused), op("dial", unreachable)), again},
		{"and something else", fmt.Errorf("%w: %w", errA, op("dial", refused)), again},
		{"below an application's status", wrapping{502, op("dial", refused)}, again},

		{"reset", reset, unknown},
		{"refused while reading, as with UDP", op("read", refused), unknown},
		{"unreachable while writing", op("write", unreachable), unknown},
		{"unreachable, bare", unreachable, unknown},
		{"no such host", op("dial", &net.DNSError{IsNotFound: true}), unknown},
		{"no such host, bare", &net.DNSError{IsNotFound: true, IsTemporary: true}, unknown},
		{"unknown network", op("dial", net.UnknownNetworkError("tpc")), unknown},
		{"canceled dial", op("dial", context.Canceled), unknown},
		{"hollow dial", op("dial", nil), unknown},
		{"says so, canceled", unsent{true, context.Canceled}, unknown},
		{"says no of a dial", unsent{false, op("dial", refused)}, unknown},
		{"cut short", io.ErrUnexpectedEOF, unknown},
		{"timeout", os.ErrDeadlineExceeded, unknown},
		{"answered", withStatus(503), unknown},
		{"one was sent", errors.Join(op("dial", refused), reset), unknown},
		{"one was sent, first", errors.Join(reset, op("dial", refused)), unknown},
		{"one timed out", errors.Join(op("dial", refused), context.DeadlineExceeded), unknown},
		{"one was answered", errors.Join(op("dial", refused), withStatus(500)), unknown},
		{"one was canceled", errors.Join(op("dial", refused), context.Canceled), unknown},
		{"one says no", errors.Join(op("dial", refused), unsent{}), unknown},
		{"an inner call", opaque{op("dial", refused)}, unknown},
		{"next to an inner call", errors.Join(op("dial", refused), opaque{errA}), unknown},
		{"something else", errA, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, condition.NotSent().Check(tt.err)) })
	}
}

// TestNotSentOverLoopback: to a closed port nothing is sent; a request that was hung up on may have arrived.
func TestNotSentOverLoopback(t *testing.T) {
	hangUp, _ := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	nobody := unusedAddr(t)
	for _, tt := range []struct {
		name, to, proxy string
		want            condition.Verdict
	}{
		{"hung up on", hangUp.URL, "", unknown},
		{"nobody there", "http://" + nobody, "", again},
		{"no proxy there", "http://192.0.2.1", "http://" + nobody, again},
		{"no proxy there, SOCKS", "http://192.0.2.1", "socks5://" + nobody, again},
	} {
		proxy := func(*http.Request) (*url.URL, error) { return nil, nil }
		if tt.proxy != "" {
			address, err := url.Parse(tt.proxy)
			require.NoError(t, err)
			proxy = http.ProxyURL(address)
		}
		client := &http.Client{Transport: &http.Transport{Proxy: proxy, DisableKeepAlives: true}}
		err := failed(client.Post(tt.to, "text/plain", nil))
		require.Error(t, err, tt.name)
		require.Equal(t, tt.want, condition.NotSent().Check(err), "%s: %v", tt.name, err)
		require.Equal(t, again, condition.Network().Check(err), tt.name)
	}
}

type answeredSQL string

func (answeredSQL) Error() string      { return "answered" }
func (a answeredSQL) SQLState() string { return string(a) }

type answeredCode string

func (answeredCode) Error() string       { return "answered" }
func (a answeredCode) ErrorCode() string { return string(a) }

type answeredRedis struct{}

func (answeredRedis) Error() string { return "WRONGTYPE x" }
func (answeredRedis) RedisError()   {}

// TestNotSentBesideAnAnswer: the statement was answered and the rollback found no connection, so it must not run twice.
func TestNotSentBesideAnAnswer(t *testing.T) {
	for _, answer := range []error{answeredSQL("40001"), answeredCode("ConditionalCheckFailed"), answeredRedis{}} {
		require.Equal(t, condition.Unknown, condition.NotSent().Check(errors.Join(answer, driver.ErrBadConn)), "%T", answer)
		require.Equal(t, condition.Unknown, condition.NotSent().Check(errors.Join(driver.ErrBadConn, fmt.Errorf("insert: %w", answer))), "%T", answer)
	}
	require.Equal(t, condition.Retry, condition.NotSent().Check(driver.ErrBadConn))
}
