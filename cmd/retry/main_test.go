package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// retryBin is the program under test: built once, with the race detector where the tests have it.
var retryBin string

func TestMain(m *testing.M) {
	for _, name := range os.Environ() { // settings of whoever runs the tests
		if key, _, _ := strings.Cut(name, "="); strings.HasPrefix(key, "RETRY_") {
			_ = os.Unsetenv(key)
		}
	}
	dir, err := os.MkdirTemp("", "retry-test-*")
	if err != nil {
		panic(err)
	}
	retryBin = filepath.Join(dir, "retry")
	args := []string{"build", "-o", retryBin}
	if raceEnabled {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		fmt.Printf("%s", out)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// ran is what a run of the program came to.
type ran struct {
	out, err string
	code     int // below 0: died of that signal
}

// patience is how long any run may take: far more than it should, so that what hangs is found.
const patience = 60 * time.Second

// command is the program with arguments and nothing on its standard input.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, retryBin, args...)
	cmd.Dir = t.TempDir()
	return cmd
}

func finish(t testing.TB, cmd *exec.Cmd) ran {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return ran{out.String(), errs.String(), status(cmd.ProcessState)}
}

// retryRun runs the program.
func retryRun(t testing.TB, args ...string) ran {
	t.Helper()
	return finish(t, command(t, args...))
}

// piped runs it with text on its standard input, through a pipe.
func piped(t testing.TB, in string, args ...string) ran {
	t.Helper()
	cmd := command(t, args...)
	cmd.Stdin = strings.NewReader(in)
	return finish(t, cmd)
}

// flaky is a shell script that fails with code until its n-th attempt.
func flaky(n, code int) string { return fmt.Sprintf("test $RETRY_ATTEMPT -ge %d || exit %d", n, code) }

// now is a strategy without waits.
const atOnce = "constant"

func TestUsage(t *testing.T) {
	long := strings.Repeat("x", 10)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "nothing to run; see retry --help"},
		{[]string{"make"}, `unknown command "make"; to run it: retry run -- make`},
		{[]string{"make", "two words", "it's"}, `unknown command "make"; to run it: retry run -- make 'two words' 'it'\''s'`},
		{[]string{"-"}, `unknown command "-"; to run it: retry run -- -`},
		{[]string{""}, `unknown command ""; to run it: retry run -- ''`},
		{[]string{"run"}, "nothing to run; see retry run --help"},
		{[]string{"--"}, "nothing to run; see retry run --help"},
		{[]string{"run", "--", ""}, "nothing to run: the command is empty text"},
		{[]string{"run", "--bad", "touch", "ran"}, "unknown flag --bad"},
		{[]string{"--max-delay", "5", "touch", "ran"}, "--max-delay 5: needs a unit, such as 5s"},
		{[]string{"--max-delay", "five", "touch", "ran"}, "--max-delay five: must be a duration, such as 500ms or 1m30s"},
		{[]string{"--max-delay=-5s", "touch", "ran"}, "--max-delay -5s: must not be negative"},
		{[]string{"--deadline", "0s", "touch", "ran"}, "--deadline 0: leaves no time for an attempt"},
		{[]string{"-n", "0", "touch", "ran"}, "--attempts 0: must be a whole number of at least 1, or unlimited"},
		{[]string{"-n", "-1", "touch", "ran"}, "--attempts -1: must be a whole number of at least 1, or unlimited"},
		{[]string{"-n", long, "touch", "ran"}, "--attempts xxxxxxxxxx: must be a whole number of at least 1, or unlimited"},
		{[]string{"--until", "256", "touch", "ran"}, `--until 256: "256" is none of `},
		{[]string{"--until", "5-2", "touch", "ran"}, `--until 5-2: "5-2" is none of `},
		{[]string{"--until", "", "touch", "ran"}, `--until : "" is none of `},
		{[]string{"--on", "1,,2", "touch", "ran"}, `--on 1,,2: "" is none of `},
		{[]string{"--stop", "sigfoo", "touch", "ran"}, `--stop sigfoo: "sigfoo" is none of `},
		{[]string{"--until", "none,3", "touch", "ran"}, "--until none,3: none must stand alone"},
		{[]string{"--on-output", "(", "touch", "ran"}, "--on-output (: error parsing regexp"},
		{[]string{"--after-output", "x", "touch", "ran"}, "--after-output x: needs a group"},
		{[]string{"-s", "slow", "touch", "ran"}, "--strategy slow: "},
		{[]string{"--base-delay", "1s", "-s", "constant", "touch", "ran"}, "--base-delay 1s: cannot be used together with --strategy"},
		{[]string{"--jitter", "NaN", "touch", "ran"}, "--jitter NaN: must be full, equal, or a factor from 0 to 1"},
		{[]string{"--jitter", "0.2", "-s", "fulljitter", "touch", "ran"}, "WithJitter"},
		{[]string{"--successes", "0", "touch", "ran"}, "--successes 0: must be at least 1"},
		{[]string{"--stagger", "touch", "ran"}, "--stagger needs --initial-delay"},
		{[]string{"--signal", "FOO", "touch", "ran"}, "--signal FOO: is not a signal here"},
		{[]string{"--stdin", "tape", "touch", "ran"}, "--stdin must be one of"},
		{[]string{"--http", "http://127.0.0.1:1/", "touch", "ran"}, "cannot be used together with a command"},
		{[]string{"--http", "ftp://x/"}, "must be a URL that begins with http:// or https://"},
		{[]string{"--http", "http://127.0.0.1:1/", "--until", "3"}, "--until cannot be used together with --http"},
		{[]string{"--http", "http://127.0.0.1:1/", "--http-status", "99"}, "--http-status 99: must be a list of statuses"},
		{[]string{"--http-status", "200", "touch", "ran"}, "--http-status needs --http"},
		{[]string{"--config", "none.yaml", "touch", "ran"}, "--config: open none.yaml"},
		{[]string{"--log-file", "none/x", "touch", "ran"}, "--log-file: open none/x"},
		{[]string{"help", "make"}, `unknown command "make"`},
		{[]string{"completion", "csh"}, "completion csh: must be bash, zsh or fish"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			cmd := command(t, c.args...)
			r := finish(t, cmd)
			require.Equal(t, 125, r.code)
			require.Contains(t, r.err, c.want)
			require.True(t, strings.HasPrefix(r.err, "retry: "), r.err)
			require.Equal(t, 1, strings.Count(r.err, "\n"), "one line: %q", r.err)
			require.Empty(t, r.out)
			require.NoFileExists(t, filepath.Join(cmd.Dir, "ran"), "nothing was run")
		})
	}
}

// TestArguments: flags end at the first word that is not one, or at "--", and what follows is the command's.
func TestArguments(t *testing.T) {
	const show = `for a in "$@"; do printf '[%s]' "$a"; done`
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "sh", "-c", show, "x", "-n", "--", "--help"}, "[-n][--][--help]"},
		{[]string{"run", "--", "sh", "-c", show, "x", "--", "-q"}, "[--][-q]"},
		{[]string{"-n", "2", "sh", "-c", show, "x", "--version"}, "[--version]"},
		{[]string{"-n", "2", "--", "sh", "-c", show, "x", ""}, "[]"},
		{[]string{"--", "sh", "-c", show, "x", "a b"}, "[a b]"},
		{[]string{"-n2", "-v", "-q", "sh", "-c", show, "x", "1"}, "[1]"},
	} {
		require.Equal(t, ran{out: c.want}, retryRun(t, c.args...), "%q", c.args)
	}
	// What is named like a command of ours is a program all the same behind "--"; so is one that is named like a flag.
	for _, name := range []string{"delays", "run", "--"} {
		cmd := command(t, "--", name)
		require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, name), []byte("#!/bin/sh\necho mine\n"), 0o755))
		cmd.Env = append(os.Environ(), "PATH="+cmd.Dir+":"+os.Getenv("PATH"))
		if name == "--" {
			cmd.Args = append(cmd.Args[:1], "run", "--", "--")
		}
		require.Equal(t, ran{out: "mine\n"}, finish(t, cmd), name)
	}
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		r := retryRun(t, arg)
		require.Regexp(t, `^retry \S+ \S+/\S+ go1\S+\n$`, r.out)
		require.Zero(t, r.code)
	}
}
