package retrygrpc_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is published in a module of its own must not lean on the insides of another module, whose versions it does not choose.
func TestImports(t *testing.T) {
	const module = "github.com/seed-89b3229b/retry"
	allowed := map[string]bool{module: true, module + "/condition": true, module + "/throttle": true, module + "/throttle/hint": true, module + "/hedge": true}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	read := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
		require.NoError(t, err)
		read++
		for _, spec := range file.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			first, _, _ := strings.Cut(p, "/")
			ok := !strings.Contains(first, ".") || allowed[p]
			for _, others := range []string{"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc"} {
				ok = ok || p == others || strings.HasPrefix(p, others+"/")
			}
			require.True(t, ok, "%s imports %s", e.Name(), p)
		}
	}
	require.Greater(t, read, 10)
}
