package condition_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImports: a leaf imports the standard library and this module's internal packages, on every platform.
func TestImports(t *testing.T) {
	const module = "github.com/seed-89b3229b/retry/"
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	checked := 0
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") {
				require.True(t, strings.HasPrefix(path, module+"internal/"), "%s imports %s", name, path)
			}
		}
		checked++
	}
	require.NotZero(t, checked)
}
