package main_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// alive are the processes whose command line has the mark.
func alive(t *testing.T, mark string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, name := range all {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), mark) && !strings.Contains(string(text), retryBin) {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// gone wants them to end: they were killed, which takes a moment.
func gone(t *testing.T, mark string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(alive(t, mark)) == 0 }, 10*time.Second, 10*time.Millisecond, "%v", alive(t, mark))
}

// TestGroupThatIgnoresTerm: neither the command nor its children are left after the time for grace.
func TestGroupThatIgnoresTerm(t *testing.T) {
	began := time.Now()
	r := retryRun(t, "run", "-t", "500ms", "--grace", "300ms", "-n", "2", "-s", atOnce, "--", "sh", "-c", `trap "" TERM; sleep 987651 & sleep 987652; true`)
	require.Equal(t, 124, r.code)
	require.Greater(t, time.Since(began), 1600*time.Millisecond)
	gone(t, "98765")
	require.Contains(t, r.err, "attempt 1 of 2: timed out after")
}

// TestGroupHeldOutput: a child in the background that holds the output open does not keep a failed attempt, and is ended.
func TestGroupHeldOutput(t *testing.T) {
	for _, flags := range []string{"--stdout pass", "--stdout success", "--on-output nothing"} {
		args := append([]string{"run", "-q", "-n", "2", "-s", atOnce}, strings.Fields(flags)...)
		r := retryRun(t, append(args, "--", "sh", "-c", "sleep 987653 & exit 3")...)
		require.Equal(t, 3, r.code, flags)
		gone(t, "987653")
	}
}

// TestGroupAfterAGoodEnd is left alone: a daemon may have been the purpose.
func TestGroupAfterAGoodEnd(t *testing.T) {
	for _, flags := range []string{"--stdout pass", "--until-output started"} {
		args := append([]string{"run", "-q"}, strings.Fields(flags)...)
		r := retryRun(t, append(args, "--", "sh", "-c", "sleep 987654 >/dev/null 2>&1 & echo started $!")...)
		require.Zero(t, r.code)
		require.Len(t, alive(t, "987654"), 1)
		pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(r.out, "started ")))
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		gone(t, "987654")
	}
}

// started runs the program until its command has written a line.
func started(t *testing.T, args ...string) (cmd *exec.Cmd, more *bufio.Reader) {
	t.Helper()
	cmd = command(t, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	more = bufio.NewReader(out)
	line, err := more.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	return cmd, more
}

func rest(t *testing.T, cmd *exec.Cmd, more *bufio.Reader) (out string, code int) {
	t.Helper()
	text, err := io.ReadAll(more)
	require.NoError(t, err)
	_ = cmd.Wait()
	return string(text), status(cmd.ProcessState)
}

// TestDiesOfTheSameSignal, so that a calling shell sees it; also when the command ended well meanwhile.
func TestDiesOfTheSameSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		for _, end := range []string{"3", "0"} {
			report := filepath.Join(t.TempDir(), "report")
			cmd, more := started(t, "run", "--report", report, "--", "sh", "-c",
				"trap 'echo got; exit "+end+"' INT TERM HUP QUIT; echo started; while :; do sleep 0.01; done")
			require.NoError(t, cmd.Process.Signal(sig))
			out, code := rest(t, cmd, more)
			require.Equal(t, -int(sig), code, out)
			require.Contains(t, out, "got\n")
			require.NotContains(t, out, "goroutine")
			text, err := os.ReadFile(report)
			require.NoError(t, err)
			require.Contains(t, string(text), `"ok":false`)
			require.Contains(t, string(text), `"exit":`+strconv.Itoa(128+int(sig)))
		}
	}
}

// TestSignalInAWait ends the run at once.
func TestSignalInAWait(t *testing.T) {
	cmd, more := started(t, "run", "-s", "constant(delay=1h)", "--", "sh", "-c", "echo started; exit 1")
	line, err := more.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "next in 1h")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	out, code := rest(t, cmd, more)
	require.Equal(t, -int(syscall.SIGTERM), code, out)
}

// TestSecondSignalKills what ignores the first, without grace.
func TestSecondSignalKills(t *testing.T) {
	cmd, more := started(t, "run", "--grace", "1h", "--", "sh", "-c", "trap 'echo deaf' TERM; echo started; while :; do sleep 0.01; done")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	for line := ""; line != "deaf\n"; { // a shell may first say that its sleep was terminated
		var err error
		line, err = more.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, code := rest(t, cmd, more)
	require.Equal(t, -int(syscall.SIGTERM), code)
}

// TestGraceEnds what ignores the signal.
func TestGraceEnds(t *testing.T) {
	cmd, more := started(t, "run", "--grace", "100ms", "--", "sh", "-c", "trap '' TERM; echo started; while :; do sleep 0.01; done")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, code := rest(t, cmd, more)
	require.Equal(t, -int(syscall.SIGTERM), code)
}

// TestUserSignals are passed on, and nothing else.
func TestUserSignals(t *testing.T) {
	cmd, more := started(t, "run", "--", "sh", "-c", "trap 'echo usr1; exit 0' USR1; echo started; while :; do sleep 0.01; done")
	require.NoError(t, cmd.Process.Signal(syscall.SIGUSR1))
	out, code := rest(t, cmd, more)
	require.Contains(t, out, "usr1\n")
	require.Zero(t, code)
}

// TestStopAndContinue: TSTP stops the group and then the program, CONT goes the other way.
func TestStopAndContinue(t *testing.T) {
	cmd, more := started(t, "run", "--", "sh", "-c", "trap 'echo on; exit 0' CONT; echo started; while :; do sleep 0.01; done")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTSTP))
	require.Eventually(t, func() bool { return state(t, cmd.Process.Pid) == "T" }, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	out, code := rest(t, cmd, more)
	require.Equal(t, "on\n", out)
	require.Zero(t, code)
}

func state(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(text), ") ")
	return after[:1]
}

// TestIgnoredSignals stay ignored, for the command too: nohup.
func TestIgnoredSignals(t *testing.T) {
	r := finish(t, exec.Command("sh", "-c", "trap '' HUP; exec "+retryBin+` run -q -- sh -c 'kill -HUP $PPID; kill -HUP $$; echo alive'`))
	require.Equal(t, ran{out: "alive\n"}, r)
}

// TestDeadline ends the attempt that runs then, and foresees the wait that would pass it; both are 124.
func TestDeadline(t *testing.T) {
	r := retryRun(t, "run", "--deadline", "300ms", "--grace", "100ms", "--", "sleep", "987655")
	require.Equal(t, 124, r.code, r.err)
	gone(t, "987655")
	r = retryRun(t, "run", "--deadline", "1m", "-s", "constant(delay=2m)", "--", "sh", "-c", "exit 7")
	require.Equal(t, 124, r.code)
	require.Contains(t, r.err, "no time left before the deadline")
	// Time is up in an attempt that is good whatever happens: it did not end well all the same.
	r = retryRun(t, "run", "--deadline", "300ms", "--grace", "100ms", "--until", "timeout", "--", "sleep", "987655")
	require.Equal(t, 124, r.code)
	require.Contains(t, r.err, "gave up")
	// --max-elapsed does not interrupt, and the status is the command's.
	r = retryRun(t, "run", "--max-elapsed", "1m", "-s", "constant(delay=2m)", "--", "sh", "-c", "exit 7")
	require.Equal(t, 7, r.code)
	require.Contains(t, r.err, "time budget used up")
}

func TestSignalFlag(t *testing.T) {
	r := retryRun(t, "run", "-n", "1", "-t", "300ms", "--signal", "USR2", "--", "sh", "-c", "trap 'echo usr2; exit' USR2; while :; do sleep 0.01; done")
	require.Equal(t, "usr2\n", r.out)
	require.Equal(t, 124, r.code)
}
