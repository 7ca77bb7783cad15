package drivertest_test

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// judged is a real error and what a condition says about it.
type judged struct {
	name string
	c    condition.Condition
	err  error
	want condition.Verdict
}

// run asks about each error as it comes, wrapped and joined.
func run(t *testing.T, cases []judged) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			require.Error(t, tt.err)
			require.Equal(t, tt.want, tt.c.Check(tt.err), "%T: %v", tt.err, tt.err)
			require.Equal(t, tt.want, tt.c.Check(fmt.Errorf("orders: %w", tt.err)), "wrapped")
			require.Equal(t, tt.want, tt.c.Check(errors.Join(errors.New("orders"), tt.err)), "joined")
		})
	}
}

// closedPort is where nobody listens, and nobody else can before the end of the test: the client's end of a connection.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = conn.Close(), l.Close() })
	return conn.LocalAddr().String()
}

// listen calls serve with each connection, one at a time, until the test ends.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// TestConditionBuildsNoDriver: what the condition package builds is the standard library and this module.
func TestConditionBuildsNoDriver(t *testing.T) {
	const path = "github.com/seed-89b3229b/retry"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", path+"/condition").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), path+"/condition")
	for dep := range strings.FieldsSeq(string(out)) {
		require.True(t, dep == path+"/condition" || strings.HasPrefix(dep, path+"/internal/"), dep)
	}
}
