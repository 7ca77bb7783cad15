package main_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// terminal runs the program on a pseudo-terminal of 80 columns, with text typed once it has written the word to wait for.
func terminal(t *testing.T, word, typed string, env []string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(retryBin, args...)
	cmd.Env = append(append(os.Environ(), "TERM=xterm"), env...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	guard := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	var b strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := f.Read(buffer)
		b.Write(buffer[:n])
		if typed != "" && strings.Contains(b.String(), word) {
			_, werr := io.WriteString(f, typed)
			require.NoError(t, werr)
			typed = ""
		}
		if err != nil { // EIO: all its ends are closed
			break
		}
	}
	_ = cmd.Wait()
	return b.String(), status(cmd.ProcessState)
}

// TestProgress is one line, redrawn each second, and erased before anything else is written.
func TestProgress(t *testing.T) {
	args := []string{"run", "-n", "2", "-s", "constant(delay=1500ms)", "--", "sh", "-c", flaky(2, 7)}
	out, code := terminal(t, "", "", nil, args...)
	require.Zero(t, code, out)
	line, next := "retry: next attempt in 2s (2 of 2)", "retry: next attempt in 1s (2 of 2)"
	erased := "\r" + strings.Repeat(" ", len(line)) + "\r"
	require.True(t, strings.HasSuffix(out, "next in 1.5s\r\n"+line+erased+next+erased), "%q", out)
	for name, c := range map[string]struct{ env, args []string }{
		"dumb":  {env: []string{"TERM=dumb"}},
		"never": {args: []string{"--progress", "never"}},
		"quiet": {args: []string{"-q"}},
		"json":  {args: []string{"--log", "json"}},
	} {
		out, code := terminal(t, "", "", c.env, append(append([]string{"run"}, c.args...), append([]string{"-s", "constant(delay=1ms)"}, args[5:]...)...)...)
		require.Zero(t, code, name)
		require.NotContains(t, out, "next attempt in", name)
	}
}

// TestForeground: the command has the terminal, and ^C reaches it by itself, once.
func TestForeground(t *testing.T) {
	out, code := terminal(t, "ready", "typed\n", nil, "run", "--", "sh", "-c", "echo ready; read line; echo got $line")
	require.Contains(t, out, "got typed")
	require.Zero(t, code)

	out, code = terminal(t, "ready", "\x03", nil, "run", "--", "sh", "-c", "trap 'n=x$n' INT; echo ready; sleep 5; sleep 0.2; echo \"[$n]\"")
	require.Contains(t, out, "[x]")
	require.Equal(t, -int(syscall.SIGINT), code)

	out, code = terminal(t, "ready", "\x03", nil, "run", "-s", "constant(delay=1h)", "--", "sh", "-c", "echo ready; exit 1")
	require.Contains(t, out, "ready")
	require.Equal(t, -int(syscall.SIGINT), code)
}

// TestNoForeground: a group in the background that reads the terminal would be stopped, so it gets nothing to read.
func TestNoForeground(t *testing.T) {
	out, code := terminal(t, "", "", nil, "run", "--no-foreground", "--", "sh", "-c", "cat; ps -o pgid= -p $$ | grep -qw $$ && echo own group")
	require.Zero(t, code, out)
	require.Contains(t, out, "own group")
}
