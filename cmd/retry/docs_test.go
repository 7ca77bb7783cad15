//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRowsOfTheGuide: every command of the table in docs/command.md ends well.
func TestRowsOfTheGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/command.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\|.*\\| `(retry [^`]+)` \\|$").FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, 12)
	for _, row := range rows {
		cmd := exec.Command("sh", "-c", row[1])
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(retryBin)+":"+os.Getenv("PATH"))
		r := finish(t, cmd)
		require.Zero(t, r.code, "%s: %s", row[1], r.err)
	}
}
