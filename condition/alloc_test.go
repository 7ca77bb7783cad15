package condition_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// ordinary are failures as they come, none of them hopeless, and those of some drivers.
func ordinary() map[string]error {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	return map[string]error{
		"New":     errA,
		"chain":   fmt.Errorf("a: %w", fmt.Errorf("b: %w", fmt.Errorf("c: %w", io.EOF))),
		"join":    errors.Join(errA, errB, fmt.Errorf("c: %w", io.EOF)),
		"refused": &url.Error{Op: "Get", URL: "http://127.0.0.1", Err: refused},
		"context": context.DeadlineExceeded,
		"own":     fmt.Errorf("a: %w", &numbered{7}),
		"state":   fmt.Errorf("a: %w", &pgError{"40001"}),
		"code":    fmt.Errorf("a: %w", withCode(503, "SlowDown")),
		"redis":   fmt.Errorf("a: %w", redisError("LOADING x")),
		"labels":  fmt.Errorf("a: %w", labels{"RetryableWriteError"}),
	}
}

// TestAllocations: no condition of this package allocates when asked. (An error with an As method of its own costs As and
// Match one, for what that method writes to, and MySQL and those that read Alibaba's SDKError pay for looking a field up.)
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	conditions := map[string]condition.Condition{
		"Is": condition.Is(errB, io.EOF, &numbered{1}), "As": condition.As[*fault](), "As interface": condition.As[net.Error](),
		"Match": condition.Match(func(f *fault) bool { return f.again }), "Code": condition.Code(rpcCodeOf, rpcAborted),
		"If": condition.If(func(error) bool { return false }), "Timeout": condition.Timeout(), "Network": condition.Network(),
		"HTTPStatus": condition.HTTPStatus(429, 503), "Hopeless": condition.Hopeless(),
		"NotSent": condition.NotSent(), "HTTPDefault": condition.HTTPDefault(), "ErrorCode": condition.ErrorCode("SlowDown", "Throttling.*"),
		"SQLState": condition.SQLState("40001"), "SQLSerialization": condition.SQLSerialization(), "SQLConnection": condition.SQLConnection(),
		"MySQL": condition.MySQL(), "Redis": condition.Redis(), "MongoLabel": condition.MongoLabel("RetryableWriteError"),
		"AWS": condition.AWS(), "Alibaba": condition.Alibaba(), "RetryableHTTP": condition.RetryableHTTP(),
	}
	all := []condition.Condition{}
	for _, c := range conditions {
		all = append(all, c)
	}
	conditions["Any"], conditions["Only"], conditions["All"] = condition.Any(all...), condition.Only(all...), condition.All(all...)
	conditions["Not"] = condition.Not(condition.Any(all...))
	for name, c := range conditions {
		for kind, err := range ordinary() {
			require.Zero(t, testing.AllocsPerRun(100, func() { c.Check(err) }), "%s of %s", name, kind)
		}
	}
}

var sink condition.Verdict

func BenchmarkHopeless(b *testing.B) {
	c := condition.Hopeless()
	for name, err := range ordinary() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = c.Check(err)
			}
		})
	}
}

func BenchmarkOnly(b *testing.B) {
	c := condition.Only(condition.Network(), condition.Timeout(), condition.HTTPStatus(429, 503))
	for name, err := range ordinary() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = c.Check(err)
			}
		})
	}
}
