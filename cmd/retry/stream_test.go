//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInputIsTheSame for every attempt: half an upload, because the first attempt ate the input, must be impossible.
func TestInputIsTheSame(t *testing.T) {
	const script = "cat; test $RETRY_ATTEMPT = 2"
	require.Equal(t, "datadata", piped(t, "data", "run", "-n", "2", "-s", atOnce, "--", "sh", "-c", script).out)

	long := strings.Repeat("0123456789abcdef", 300_000) // beyond what is kept in memory
	r := piped(t, long, "run", "-n", "2", "-s", atOnce, "--", "sh", "-c", script)
	require.Zero(t, r.code, r.err)
	require.Equal(t, len(long)*2, len(r.out))
	require.True(t, r.out == long+long)

	r = piped(t, long, "run", "-n", "3", "-s", atOnce, "--", "sh", "-c", "head -c 5; test $RETRY_ATTEMPT = 3") // which leaves the rest
	require.Equal(t, "012340123401234", r.out)

	// A file is rewound to where it stood.
	name := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(name, []byte("headbody"), 0o600))
	for mode, want := range map[string]string{"auto": "bodybody", "replay": "bodybody", "inherit": "body", "none": ""} {
		f, err := os.Open(name)
		require.NoError(t, err)
		_, err = f.Seek(4, 0)
		require.NoError(t, err)
		cmd := command(t, "run", "-n", "2", "-s", atOnce, "--stdin", mode, "--", "sh", "-c", script)
		cmd.Stdin = f
		require.Equal(t, want, finish(t, cmd).out, mode)
		require.NoError(t, f.Close())
	}
	require.Equal(t, "data", piped(t, "data", "run", "-n", "2", "-s", atOnce, "--stdin", "inherit", "--", "sh", "-c", script).out)
	require.Empty(t, piped(t, "data", "run", "-n", "2", "-s", atOnce, "--stdin", "none", "--", "sh", "-c", script).out)
}

// TestInputIsNotWaitedFor: the command starts, and ends, while the input is open.
func TestInputIsNotWaitedFor(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _, _ = r.Close(), w.Close() }()
	cmd := command(t, "run", "-n", "2", "-s", atOnce, "--", "sh", "-c", "head -c 3; test $RETRY_ATTEMPT = 2")
	cmd.Stdin = r
	_, err = w.WriteString("one")
	require.NoError(t, err)
	got := finish(t, cmd)
	require.Zero(t, got.code, got.err)
	require.Equal(t, "oneone", got.out)
}

func TestInputClosed(t *testing.T) {
	cmd := exec.Command("sh", "-c", retryBin+" run -n 2 -s constant -- sh -c 'cat; exit 3' <&-")
	require.Equal(t, 3, finish(t, cmd).code)
}

// TestOutputModes: what reaches the outputs of three attempts, of which the last is good, and of three that fail.
func TestOutputModes(t *testing.T) {
	const script = `echo out$RETRY_ATTEMPT; echo err$RETRY_ATTEMPT >&2; `
	for _, c := range []struct {
		flags, end, out, err string
	}{
		{"", flaky(3, 1), "out1\nout2\nout3\n", "err1\nerr2\nerr3\n"},
		{"--stdout success", flaky(3, 1), "out3\n", "err1\nout1\nerr2\nout2\nerr3\n"},
		{"--stdout success", "exit 1", "", "err1\nout1\nerr2\nout2\nerr3\nout3\n"},
		{"--stdout last", flaky(3, 1), "out3\n", "err1\nerr2\nerr3\n"},
		{"--stdout last", "exit 1", "out3\n", "err1\nerr2\nerr3\n"},
		{"--stderr success", flaky(3, 1), "out1\nout2\nout3\n", "err3\n"},
		{"--stderr success", "exit 1", "out1\nout2\nout3\n", ""},
		{"--stderr last", "exit 1", "out1\nout2\nout3\n", "err3\n"},
		{"--stderr none", "exit 1", "out1\nout2\nout3\n", ""},
		{"--stderr none --until-output err3", "exit 0", "out1\nout2\nout3\n", ""},
		{"--stdout success --stderr success", flaky(3, 1), "out3\n", "out1\nout2\nerr3\n"},
		{"--until-output out3", "exit 0", "out1\nout2\nout3\n", "err1\nerr2\nerr3\n"},
	} {
		args := append([]string{"run", "-q", "-n", "3", "-s", atOnce}, strings.Fields(c.flags)...)
		r := retryRun(t, append(args, "--", "sh", "-c", script+c.end)...)
		require.Equal(t, c.out, r.out, "%s: %s", c.flags, c.end)
		require.Equal(t, c.err, r.err, "%s: %s", c.flags, c.end)
	}
	// Held output that does not fit into memory.
	r := retryRun(t, "run", "-q", "--stdout", "success", "--", "sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' a")
	require.Equal(t, 5_000_000, len(r.out))
}

// TestNoRoom: what cannot be kept is a failure of ours and never a good end.
func TestNoRoom(t *testing.T) {
	cmd := command(t, "run", "--stdout", "success", "--", "head", "-c", "5000000", "/dev/zero")
	cmd.Env = append(cmd.Environ(), "TMPDIR=/no/such/folder")
	r := finish(t, cmd)
	require.Equal(t, 125, r.code)
	require.Contains(t, r.err, "/no/such/folder")
	require.Equal(t, 1, strings.Count(r.err, "\n"), r.err)

	cmd = command(t, "run", "-n", "2", "--", "sh", "-c", "cat >/dev/null; exit 0")
	cmd.Env = append(cmd.Environ(), "TMPDIR=/no/such/folder")
	cmd.Stdin = strings.NewReader(strings.Repeat("x", 5_000_000))
	require.Equal(t, 125, finish(t, cmd).code)
}
