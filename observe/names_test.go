package observe_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every name in the one file of names is in the package comment and in the docs.
func TestNamesAreDocumented(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	names := regexp.MustCompile(`= "(retry\.[a-z._]+|success|retry|give_up)"`).FindAllStringSubmatch(read("names.go"), -1)
	require.Len(t, names, 15+3+6)
	pkg, docs := read("doc.go"), read("../docs/observability.md")
	for _, name := range names {
		whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(name[1]) + `\b`)
		assert.Regexp(t, whole, pkg, "doc.go")
		assert.Contains(t, docs, "`"+name[1]+"`", "docs/observability.md")
	}
}

// No other file has a name in it.
func TestNamesAreInOneFile(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if file == "names.go" || file == "doc.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotRegexp(t, `"retry\.[a-z]|"error\.type`, string(text), file)
	}
}
