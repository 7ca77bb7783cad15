package retry_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// importRule says what the files it covers may import.
type importRule struct {
	name   string
	covers func(f importingFile) bool
	allows func(path string) bool
	why    string
}

// importingFile is a Go file with its imports, in a folder relative to the root ("." itself).
type importingFile struct {
	name, dir string
	imports   []string
}

func (f importingFile) test() bool { return strings.HasSuffix(f.name, "_test.go") }

func (f importingFile) in(dirs ...string) bool { return pathIn(f.dir, dirs) }

// pathIn reports whether p is one of the paths, or below one that ends in "/...".
func pathIn(p string, paths []string) bool {
	for _, one := range paths {
		above, deep := strings.CutSuffix(one, "/...")
		if p == above || deep && strings.HasPrefix(p, above+"/") {
			return true
		}
	}
	return false
}

const (
	pathModule        = "github.com/seed-89b3229b/retry"
	pathInternal      = pathModule + "/internal/..."
	pathBackoffV4     = "github.com/cenkalti/backoff/v4"
	pathOTel          = "go.opentelemetry.io/..."
	pathOTelSDK       = "go.opentelemetry.io/otel/sdk/..."
	pathOTelExporters = "go.opentelemetry.io/otel/exporters/..."
	pathOTelContrib   = "go.opentelemetry.io/contrib/..."
)

var importRules = []importRule{
	{
		name:   "leaves stand alone",
		covers: inCode("strategy", "condition", "throttle"),
		allows: importOnly(pathInternal),
		why:    "each can be used, read and tested without the others",
	},
	{
		name:   "what leaves import stands alone",
		covers: func(f importingFile) bool { return !f.test() && f.in("internal/...") && !f.in("internal/throttletest") },
		allows: importOnly(pathInternal),
		why:    "through it a leaf would import another package after all",
	},
	{
		name:   "the root imports the leaves",
		covers: inCode("."),
		allows: importOnly(pathModule+"/strategy", pathModule+"/condition", pathModule+"/throttle", pathInternal),
		why:    "what imports only the root builds the standard library and this module, and nothing above the root",
	},
	{
		name:   "hints and pools stand on throttle",
		covers: inCode("throttle/hint", "throttle/pool", "internal/throttletest"),
		allows: importOnly(pathModule+"/throttle", pathInternal),
		why:    "a program that holds attempts back and reads no headers builds no net/http",
	},
	{
		name:   "alibaba puts root and leaves together",
		covers: inCode("throttle/alibaba"),
		allows: importOnly(pathModule, pathModule+"/strategy", pathModule+"/condition", pathModule+"/throttle", pathModule+"/throttle/hint", pathInternal),
		why:    "it is options for a policy, whatever carries the requests",
	},
	{
		name:   "the HTTP transport stands on the root and the leaves",
		covers: inCode("retryhttp"),
		allows: importOnly(pathModule, pathModule+"/condition", pathModule+"/throttle", pathModule+"/throttle/hint", pathInternal),
		why:    "a client that retries needs no more than the standard library",
	},
	{
		name:   "the simulator stands on the root and the leaves",
		covers: inCode("retrysim"),
		allows: importOnly(pathModule, pathModule+"/strategy", pathModule+"/throttle", pathInternal),
		why:    "it is for tests of services, and for a page in a browser, which have no use for the rest",
	},
	{
		name: "the core has no third-party imports",
		covers: func(f importingFile) bool {
			return !f.test() && !f.in("observe/...", "strategy/cenkalti/...", "examples/...")
		},
		allows: importOnly(pathModule + "/..."),
		why:    "a dependency is a cost for every user; those who want one import the package that is there for it",
	},
	{
		name:   "telemetry is observe's",
		covers: func(f importingFile) bool { return !f.in("observe/...", "examples/...") },
		allows: importNone(pathOTel),
		why:    "nobody who does not ask for OpenTelemetry shall build it",
	},
	{
		name:   "backoff v4 is cenkalti's",
		covers: func(f importingFile) bool { return !f.in("strategy/cenkalti/...", "examples/...") },
		allows: importNone(pathBackoffV4),
		why:    "the two methods of its interface are enough for everybody else",
	},
	{
		name:   "tools for tests are for tests",
		covers: func(f importingFile) bool { return !f.test() && !f.in("examples/...") },
		allows: importNone("github.com/benbjohnson/clock", "github.com/stretchr/testify/...", "go.uber.org/goleak", pathOTelExporters, pathOTelContrib),
		why:    "production code must not build them",
	},
	{
		name:   "OpenTelemetry's SDK is the program's choice",
		covers: func(f importingFile) bool { return !f.test() && !f.in("observe/waterfall", "examples/...") },
		allows: importNone(pathOTelSDK),
		why:    "a library speaks to the API; whoever wants the terminal's waterfall has chosen the SDK",
	},
	{
		name: "testing is for tests",
		covers: func(f importingFile) bool {
			return !f.test() && !f.in("retrytest/...", "internal/throttletest", "internal/fuzzed", "examples/...")
		},
		allows: importNone("testing/...", pathModule+"/internal/fuzzed"),
		why:    "production code must not build the test framework",
	},
	{
		name:   "examples are at the end",
		covers: func(f importingFile) bool { return !f.in("examples/...") },
		allows: importNone(pathModule + "/examples/..."),
		why:    "examples show the library and are no part of it",
	},
}

// inCode covers what is compiled into a user's program, in the given folders.
func inCode(dirs ...string) func(importingFile) bool {
	return func(f importingFile) bool { return !f.test() && f.in(dirs...) }
}

// importOnly allows the standard library and the given paths.
func importOnly(paths ...string) func(string) bool {
	return func(p string) bool {
		first, _, _ := strings.Cut(p, "/")
		return !strings.Contains(first, ".") || pathIn(p, paths)
	}
}

// importNone allows everything but the given paths.
func importNone(paths ...string) func(string) bool {
	return func(p string) bool { return !pathIn(p, paths) }
}

// importingFiles parses the imports of all Go files of the module in fsys, but not those of nested modules, which have
// dependencies of their own.
func importingFiles(fsys fs.FS) (files []importingFile, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." {
			if base := path.Base(name); base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}
		if entry.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := importingFile{name: name, dir: path.Dir(name)}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imported)
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

// importViolations lists the imports that a rule forbids.
func importViolations(files []importingFile) (found []string) {
	for _, f := range files {
		for _, rule := range importRules {
			if !rule.covers(f) {
				continue
			}
			for _, imported := range f.imports {
				if !rule.allows(imported) {
					found = append(found, fmt.Sprintf("%s imports %s; %s: %s", f.name, imported, rule.name, rule.why))
				}
			}
		}
	}
	return found
}

// TestImports holds the packages to the order of docs/design.md: who may import whom.
func TestImports(t *testing.T) {
	files, err := importingFiles(os.DirFS("."))
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.dir] = true
	}
	for _, dir := range []string{".", "strategy", "condition", "throttle", "retryhttp", "internal/errtree", "observe"} {
		require.True(t, seen[dir], "no file of folder %s was read", dir)
	}
	for _, violation := range importViolations(files) {
		t.Error(violation)
	}
}

// The rules are only as good as their eye: each of these files breaks the rules named beside it, and no other.
func TestImportRulesBite(t *testing.T) {
	tests := []struct {
		file, imports string
		broken        []string
	}{
		{"strategy/bad.go", pathModule + "/condition", []string{"leaves stand alone"}},
		{"throttle/bad.go", pathModule, []string{"leaves stand alone"}},
		{"condition/bad.go", pathModule + "/condition/sub", []string{"leaves stand alone"}},
		{"condition/bad.go", "example.org/errors", []string{"leaves stand alone", "the core has no third-party imports"}},
		{"internal/deep/down/bad.go", pathModule + "/throttle", []string{"what leaves import stands alone"}},
		{"throttle/bad.go", pathModule + "/internal/fuzzed", []string{"testing is for tests"}},
		{"bad.go", pathModule + "/retryhttp", []string{"the root imports the leaves"}},
		{"bad.go", pathModule + "/strategy/cenkalti", []string{"the root imports the leaves"}},
		{"bad.go", "testing/synctest", []string{"testing is for tests"}},
		{"retryhttp/bad.go", "example.org/http", []string{
			"the HTTP transport stands on the root and the leaves", "the core has no third-party imports",
		}},
		{"retrysim/bad.go", pathModule + "/retryhttp", []string{"the simulator stands on the root and the leaves"}},
		{"retrysim/good.go", pathModule + "/throttle", nil},
		{"retryhttp/bad.go", pathModule + "/retrytest", []string{"the HTTP transport stands on the root and the leaves"}},
		{"retryhttp/bad.go", pathModule + "/examples/server", []string{
			"the HTTP transport stands on the root and the leaves", "examples are at the end",
		}},
		{"retryhttp/bad_test.go", "go.opentelemetry.io/otel/trace", []string{"telemetry is observe's"}},
		{"observe/bad.go", "go.opentelemetry.io/otel/sdk/metric", []string{"OpenTelemetry's SDK is the program's choice"}},
		{"observe/waterfall/bad.go", "go.opentelemetry.io/otel/exporters/stdout/stdouttrace", []string{"tools for tests are for tests"}},
		{"observe/bad.go", "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", []string{"tools for tests are for tests"}},
		{"throttle/bad_test.go", "go.opentelemetry.io/otel/attribute", []string{"telemetry is observe's"}},
		{"observe/bad.go", "go.uber.org/goleak", []string{"tools for tests are for tests"}},
		{"strategy/bad_test.go", pathBackoffV4, []string{"backoff v4 is cenkalti's"}},
		{"clock.go", "github.com/benbjohnson/clock", []string{
			"the root imports the leaves", "the core has no third-party imports", "tools for tests are for tests",
		}},

		{"good.go", pathModule + "/strategy", nil},
		{"strategy/good.go", pathModule + "/internal/clock", nil},
		{"strategy/good.go", "math/rand/v2", nil},
		{"strategy/good_test.go", pathModule, nil},
		{"strategy/good_test.go", "github.com/stretchr/testify/require", nil},
		{"strategy/cenkalti/good.go", pathBackoffV4, nil},
		{"throttle/bad.go", pathModule + "/throttle/hint", []string{"leaves stand alone"}},
		{"throttle/hint/bad.go", pathModule, []string{"hints and pools stand on throttle"}},
		{"throttle/pool/bad.go", pathModule + "/throttle/hint", []string{"hints and pools stand on throttle"}},
		{"throttle/hint/good.go", pathModule + "/throttle", nil},
		{"throttle/alibaba/bad.go", pathModule + "/retryhttp", []string{"alibaba puts root and leaves together"}},
		{"throttle/alibaba/good.go", pathModule, nil},
		{"retryhttp/good.go", pathModule, nil},
		{"retryhttp/good_test.go", pathModule + "/retrytest", nil},
		{"observe/good.go", "go.opentelemetry.io/otel/metric", nil},
		{"observe/good_test.go", "go.opentelemetry.io/otel/sdk/trace", nil},
		{"observe/good_test.go", "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", nil},
		{"observe/waterfall/good.go", "go.opentelemetry.io/otel/sdk/trace", nil},
		{"retrytest/good.go", "testing", nil},
		{"examples/server/good.go", "go.opentelemetry.io/otel/sdk/trace", nil},
		{"strategy/testdata/any.go", "example.org/any", nil},
		{".hidden/any.go", "example.org/any", nil},
		{"retrysql/nested/deep/any.go", "example.org/any", nil}, // nested has a go.mod
	}
	for _, test := range tests {
		fsys := fstest.MapFS{
			test.file:                {Data: []byte("package any\n\nimport \"fmt\"\nimport _ " + strconv.Quote(test.imports) + "\n")},
			"retrysql/nested/go.mod": {Data: []byte("module nested\n")},
		}
		files, err := importingFiles(fsys)
		require.NoError(t, err)
		found := importViolations(files)
		require.Len(t, found, len(test.broken), "%s imports %s: %v", test.file, test.imports, found)
		for i, name := range test.broken {
			require.Contains(t, found[i], test.file+" imports "+test.imports+"; "+name+": ")
		}
	}

	_, err := importingFiles(fstest.MapFS{"bad.go": {Data: []byte("no Go")}})
	require.Error(t, err, "a file that cannot be parsed is not passed over")
}
