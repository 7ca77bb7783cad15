//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

type stateContent struct {
	Version  int       `json:"version"`
	Until    time.Time `json:"until"`
	Level    float64   `json:"level_ms"`
	Strategy string    `json:"strategy"`
	Failures int       `json:"failures"`
}

func readState(t *testing.T, path string) (s stateContent) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &s), "%s", data)
	require.Equal(t, 1, s.Version)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	return s
}

const sixSeconds = `{"version":1,"until":%q,"level_ms":0,"strategy":"","failures":1}`

func writeUntil(t *testing.T, path string, in time.Duration) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, sixSeconds, time.Now().Add(in).Format(time.RFC3339Nano)), 0o600))
}

// TestStateToldWait: a run that gave up because it was told to wait too long keeps the next one back, which runs nothing.
func TestStateToldWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	r := retryRun(t, "run", "--state", path, "--after-output", "after ([0-9]+)", "--", "sh", "-c", "echo after 240; exit 7")
	require.Equal(t, 7, r.code)
	require.Contains(t, r.err, "asked to wait 4m0s, which is above --max-hint")
	s := readState(t, path)
	require.WithinDuration(t, time.Now().Add(4*time.Minute), s.Until, time.Minute)
	require.Equal(t, 1, s.Failures)

	r = retryRun(t, "run", "--state", path, "--", "echo", "ran")
	require.Equal(t, 75, r.code)
	require.Empty(t, r.out)
	require.Regexp(t, `^retry: not before \d\d:\d\d:\d\d \(in [34]m\d+s\)\n$`, r.err)
	require.Equal(t, s, readState(t, path))

	// It is waited for where that is allowed, and a good end clears it.
	r = retryRun(t, "run", "--no-wait", "--max-hint", "10m", "--state", path, "--", "echo", "ran")
	require.Equal(t, "ran\n", r.out)
	require.Zero(t, r.code)
	s = readState(t, path)
	require.Zero(t, s.Until)
	require.Zero(t, s.Failures)
}

// TestStateMustFit: a wait that does not fit the run's own limits is not begun either.
func TestStateMustFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for _, limit := range []string{"--deadline", "--max-elapsed"} {
		writeUntil(t, path, 40*time.Second)
		r := retryRun(t, "run", "--state", path, limit, "20s", "--", "echo", "ran")
		require.Equal(t, 75, r.code, r.err)
		require.Empty(t, r.out)
	}
}

// TestStateWaitNotTaken: of a run whose attempts are used up, it is the wait that its strategy had next.
func TestStateWaitNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	began := time.Now()
	r := retryRun(t, "run", "-D", "-n", "3", "-s", "exponential(base=10s)", "--state", path, "--", "false")
	require.Equal(t, 1, r.code)
	until := readState(t, path).Until
	require.WithinRange(t, until, began.Add(70*time.Second), time.Now().Add(80*time.Second)) // 10 s and 20 s were skipped, 40 s are next

	path = filepath.Join(t.TempDir(), "final")
	require.Equal(t, 127, retryRun(t, "run", "--state", path, "--", "sh", "-c", "exit 127").code)
	require.Zero(t, readState(t, path).Until, "what is final has no wait")
}

// TestStateLevel goes from run to run: one attempt each, as from cron.
func TestStateLevel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	const limd = "limd(initial=2s, incrementonfailure=4s, multipleonsuccess=0.2, min=1s)"
	run := func(s, command string, want float64) {
		t.Helper()
		retryRun(t, "run", "-D", "-n", "1", "-s", s, "--state", path, "--", command)
		require.InDelta(t, want, readState(t, path).Level, 1e-6)
	}
	for _, want := range []float64{2000, 6000, 10000} {
		run(limd, "false", want)
		data := readState(t, path)
		data.Until = time.Time{}
		text, err := json.Marshal(data)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	run(limd, "true", 2000)
	run(limd, "true", 1000)
	run("limd(initial=7s)", "true", 7000) // another strategy: its own beginning
}

// TestStateBadFiles: one warning, and the run goes on as without.
func TestStateBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "half": `{"version":1,"unt`, "other": `{"version":2}`, "negative": `{"version":1,"level_ms":-1}`, "huge": `{"version":1,"level_ms":1e300}`,
		"list": `[]`, "year": `{"version":1,"until":"99999-01-01T00:00:00Z"}`,
	} {
		path := filepath.Join(t.TempDir(), "state")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		r := retryRun(t, "run", "-n", "2", "-s", atOnce, "--state", path, "--", "sh", "-c", flaky(2, 1))
		require.Zero(t, r.code, name)
		require.Contains(t, r.err, "is not valid, going on without; it is now "+path+".broken", name)
		kept, err := os.ReadFile(path + ".broken")
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
		require.NoFileExists(t, path)
	}
	r := retryRun(t, "run", "-n", "2", "-s", atOnce, "--state", "/no/such/folder/state", "--", "sh", "-c", flaky(2, 1))
	require.Zero(t, r.code)
	require.Contains(t, r.err, "retry: state /no/such/folder/state cannot be used, going on without")
}

// TestStateFromTheFuture: a clock that was wrong must not stop all runs for years.
func TestStateFromTheFuture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	writeUntil(t, path, 10000*time.Hour)
	r := retryRun(t, "run", "--state", path, "--", "true")
	require.Equal(t, 75, r.code)
	require.Contains(t, r.err, "(in 15m0s)")
}

// TestStateLocked: who holds the lock for good does not stop the run.
func TestStateLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the lock's patience")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	lock := flock.New(path + ".lock")
	require.NoError(t, lock.Lock())
	defer func() { _ = lock.Close() }()
	r := retryRun(t, "run", "--state", path, "--", "echo", "ran")
	require.Equal(t, "ran\n", r.out)
	require.Contains(t, r.err, "is locked for too long")
}

// TestStateSideBySide: fifty runs at once, some of them killed at random: the file is valid whenever it is looked at.
func TestStateSideBySide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	var all sync.WaitGroup
	for i := range 50 {
		cmd := command(t, "run", "-q", "-n", "4", "-s", "limd(initial=1ms, incrementonfailure=1ms, max=5ms)", "--state", path, "--", "sh", "-c", "exit 1")
		require.NoError(t, cmd.Start())
		all.Go(func() { _ = cmd.Wait() })
		if i%2 == 0 {
			all.Go(func() {
				time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
				_ = cmd.Process.Signal(syscall.SIGKILL)
			})
		}
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	looks := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if data, err := os.ReadFile(path); err == nil {
			require.NoError(t, json.Unmarshal(data, new(stateContent)), "%s", data)
			looks++
		}
		time.Sleep(time.Millisecond)
	}
	require.Positive(t, looks)
	s := readState(t, path)
	require.Positive(t, s.Level)
	require.LessOrEqual(t, s.Level, 5.0)
	require.NoFileExists(t, path+".broken")
	r := retryRun(t, "run", "--state", path, "--", "true")
	require.Zero(t, r.code, r.err)
}
