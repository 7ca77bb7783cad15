package throttle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGateIsNoThrottle: the compiler's message about one that is given as it is points to For.
func TestGateIsNoThrottle(t *testing.T) {
	const program = `package main

import (
	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

func main() { _ = retry.WithThrottle(new(throttle.Gate)) }
`
	here, err := os.Getwd()
	require.NoError(t, err)
	source, overlay := filepath.Join(t.TempDir(), "main.go"), filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o600))
	replace := `{"Replace": {` + strconv.Quote(filepath.Join(here, "nowhere", "main.go")) + ": " + strconv.Quote(source) + "}}"
	require.NoError(t, os.WriteFile(overlay, []byte(replace), 0o600))
	message, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", os.DevNull, "./nowhere").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(message), "missing method Admit")
	require.Contains(t, string(message), "have admit(throttle.useForOrBy)")
}
