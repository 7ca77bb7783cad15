package simcmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocs runs every "retry sim" of the guides as it stands there, files aside: what is asserted holds.
func TestDocs(t *testing.T) {
	block := regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	found := 0
	for _, name := range []string{"simulator.md", "choosing.md"} {
		text, err := os.ReadFile(filepath.Join("../../../../docs", name))
		require.NoError(t, err)
		for _, code := range block.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(code[1]) {
				line = strings.TrimSpace(line)
				args, ok := strings.CutPrefix(line, "retry sim ")
				if !ok {
					continue
				}
				found++
				t.Run(line, func(t *testing.T) {
					t.Chdir(t.TempDir())
					_, errs, exit := sim(t, shell(t, args)...)
					require.Zero(t, exit, errs)
				})
			}
		}
	}
	require.Greater(t, found, 20)
}

// shell splits a line into words. Quotes are single ones.
func shell(t *testing.T, line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if rest, quoted := strings.CutPrefix(line, "'"); quoted {
			word, after, closed := strings.Cut(rest, "'")
			require.True(t, closed, line)
			words, line = append(words, word), after
			continue
		}
		word, after, _ := strings.Cut(line, " ")
		words, line = append(words, word), after
	}
	return words
}
