//go:build unix

package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOutcomes is what is repeated and with which status it ends. Attempts are counted by what the command writes.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name     string
		flags    string
		script   string
		attempts int
		code     int
	}{
		{"success", "", "exit 0", 1, 0},
		{"failure", "", "exit 7", 3, 7},
		{"second attempt is good", "", flaky(2, 9), 2, 0},
		{"126 from a shell is final", "", "exit 126", 1, 126},
		{"127 from a shell is final", "", "exit 127", 1, 127},
		{"127 if asked for", "--on 127", "exit 127", 3, 127},
		{"death by TERM is final", "", "kill -TERM $$", 1, 143},
		{"death by INT is final", "", "kill -INT $$", 1, 130},
		{"death by HUP is final", "", "kill -HUP $$", 1, 129},
		{"death by SEGV is repeated", "", "kill -SEGV $$", 3, 139},
		{"death by KILL is repeated", "", "kill -KILL $$", 3, 137},
		{"on: in it", "--on 7,9-11", "exit 10", 3, 10},
		{"on: not in it", "--on 7,9-11", "exit 8", 1, 8},
		{"on signal by name", "--on segv", "kill -SEGV $$", 3, 139},
		{"on signal by full name", "--on SIGSEGV", "kill -SEGV $$", 3, 139},
		{"on signal", "--on signal", "kill -KILL $$", 3, 137},
		{"on signal's status", "--on 137", "kill -KILL $$", 3, 137},
		{"stop", "--stop 7", "exit 7", 1, 7},
		{"stop before until", "--stop 0 --until 0", "exit 0", 1, 1},
		{"stop before on", "--stop 7 --on 7", "exit 7", 1, 7},
		{"until a failure", "--until 7", "exit 7", 1, 7},
		{"until a failure, zero", "--until 7 --zero", "exit 7", 1, 0},
		{"until failure never comes", "--until failure --zero", "exit 0", 3, 1},
		{"until failure", "--until failure --zero", "exit 3", 1, 0},
		{"until none", "--until none", "exit 0", 3, 1},
		{"until a signal", "--until segv --zero", "kill -SEGV $$", 1, 0},
		{"timeout is repeated", "-t 100ms", "sleep 60", 3, 124},
		{"timeout as a word", "-t 100ms --stop timeout", "sleep 60", 1, 124},
		{"timeout as a code", "-t 100ms --stop 124", "sleep 60", 1, 124},
		{"timeout as what was wanted", "-t 100ms --until timeout --zero", "sleep 60", 1, 0},
		{"timeout whatever the status", "-t 200ms --on 124", "trap 'exit 0' TERM; sleep 60 & wait", 3, 124},
		{"124 of its own is no timeout", "--stop timeout", "exit 124", 3, 124},
		{"until-output", "--until-output ready", "test $RETRY_ATTEMPT = 2 && echo ready; exit 0", 2, 0},
		{"until-output on stderr", "--until-output ready", "test $RETRY_ATTEMPT = 2 && echo ready >&2; exit 0", 2, 0},
		{"until-output never comes: 0 would say that it did", "--until-output ready", "exit 0", 3, 1},
		{"until-output, and the status must be good", "--until-output ready", "echo ready; exit 4", 3, 4},
		{"on-output", "--on-output busy", "echo busy; exit 0", 3, 1},
		{"stop-output", "--stop-output 'no such'", "echo no such; exit 5", 1, 5},
		{"stop-output before on-output", "--stop-output fatal --on-output fatal", "echo fatal; exit 5", 1, 5},
		{"throttled is repeated though final by the rest", "--throttled 8 --on 7", "exit 8", 3, 8},
		{"throttled by output", "--throttled-output slow --on 7", "echo slow; exit 8", 3, 8},
		{"output of the end of a long one", "--until-output '(?m)^b+$'", "head -c 3000000 /dev/zero | tr '\\0' a; echo; echo bbb", 1, 0},
		{"successes", "--successes 3", "exit 0", 3, 0},
		{"successes: a failure starts the count again", "--successes 2", "test $RETRY_ATTEMPT != 2", 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var flags []string
			for i, part := range strings.Split(c.flags, "'") { // words, and quoted ones
				if i%2 == 1 {
					flags = append(flags, part)
				} else {
					flags = append(flags, strings.Fields(part)...)
				}
			}
			args := append([]string{"run", "-n", "3", "-s", atOnce, "--grace", "5s", "--stdout", "last", "--report", "-"}, flags...)
			r := retryRun(t, append(args, "--", "sh", "-c", c.script)...)
			require.Equal(t, c.code, r.code, r.err)
			require.Contains(t, r.out, `{"attempts":`+string(rune('0'+c.attempts))+",")
		})
	}
}

func TestCannotRun(t *testing.T) {
	r := retryRun(t, "run", "-s", atOnce, "--", "no-such-command-here")
	require.Equal(t, 127, r.code)
	require.Contains(t, r.err, "cannot run no-such-command-here")
	require.Contains(t, r.err, "after 1 attempt,")
	r = retryRun(t, "run", "-s", atOnce, "--", "/etc/passwd")
	require.Equal(t, 126, r.code)
	r = retryRun(t, "run", "-s", atOnce, "--", "/no/such/file")
	require.Equal(t, 127, r.code)
	r = retryRun(t, "run", "-s", atOnce, "-n", "2", "--on", "127", "--", "/no/such/file")
	require.Equal(t, 127, r.code)
	require.Contains(t, r.err, "after 2 attempts,")
}

// TestEnvironmentOfAttempts: attempts count from 1.
func TestEnvironmentOfAttempts(t *testing.T) {
	const script = `echo "$RETRY_ATTEMPT/$RETRY_LIMIT/$RETRY_PREV_EXIT"; exit $((RETRY_ATTEMPT + 4))`
	require.Equal(t, "1/3/\n2/3/5\n3/3/6\n", retryRun(t, "-n", "3", "-s", atOnce, "sh", "-c", script).out)
	require.Equal(t, "1/unlimited/\n", retryRun(t, "-n", "unlimited", "--stop", "5", "sh", "-c", script).out)
	cmd := command(t, "-n", "1", "true")
	cmd.Env = append(cmd.Environ(), "RETRY_ATTEMPT=2")
	require.Equal(t, "retry: this is within an attempt of another retry: attempts multiply\n", finish(t, cmd).err)
}
