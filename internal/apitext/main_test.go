package main

import (
	"bytes"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The sample has one of everything that a package can export, and of everything that is not exported.
func TestDescribe(t *testing.T) {
	packages, err := load(".", []string{"./testdata/sample"})
	require.NoError(t, err)
	require.Len(t, packages, 1)

	want, err := os.ReadFile("testdata/sample.txt")
	require.NoError(t, err)
	got := join(describe(packages[0].types))
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
}

func TestLoadReportsWhatDoesNotCompile(t *testing.T) {
	_, err := load(".", []string{"./testdata/nowhere"})
	require.ErrorContains(t, err, "go list")
}

func TestPublic(t *testing.T) {
	const module = "example.org/some/thing"
	tests := []struct {
		path, name string
		public     bool
		file       string
	}{
		{module, "thing", true, "thing.txt"},
		{module + "/strategy", "strategy", true, "strategy.txt"},
		{module + "/strategy/cenkalti", "cenkalti", true, "strategy-cenkalti.txt"},
		{module + "/internals", "internals", true, "internals.txt"},
		{module + "/internal/clock", "clock", false, "internal-clock.txt"},
		{module + "/observe/internal", "internal", false, "observe-internal.txt"},
		{module + "/examples/server", "server", false, "examples-server.txt"},
		{module + "/benchmarks", "benchmarks", false, "benchmarks.txt"},
		{module + "/cmd/tool", "main", false, "cmd-tool.txt"},
	}
	for _, test := range tests {
		p := pkg{path: test.path, module: module, types: types.NewPackage(test.path, test.name)}
		require.Equal(t, test.public, p.public(), test.path)
		require.Equal(t, test.file, p.file(), test.path)
	}
}

func TestNested(t *testing.T) {
	dirs, err := nested("../..")
	require.NoError(t, err)
	require.Contains(t, dirs, filepath.FromSlash("../../retrygrpc"))
	for _, dir := range dirs {
		require.NotContains(t, dir, "examples")
		require.NotContains(t, dir, "drivertest")
	}
	p := pkg{path: "example.org/some/thing/sub", module: "example.org/some/thing", types: types.NewPackage("", "sub")}
	require.Equal(t, "sub.txt", p.file(), "a module below is named by its folder")
}

func TestWriteAndCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "api")
	g := golden{
		"root.txt": {"package root", "func A()", "type T struct"},
		"sub.txt":  {"package sub", "func B(n int) error"},
	}
	check := func() (string, error) {
		var out bytes.Buffer
		err := g.check(dir, &out)
		return strings.ReplaceAll(out.String(), filepath.ToSlash(dir)+"/", ""), err
	}

	out, err := check()
	require.ErrorIs(t, err, errDiffers)
	require.Equal(t, "root.txt:\n+ package root\n+ func A()\n+ type T struct\nsub.txt:\n+ package sub\n+ func B(n int) error\n", out, "no files yet")

	require.NoError(t, g.write(dir))
	out, err = check()
	require.NoError(t, err)
	require.Empty(t, out)

	g["sub.txt"] = []string{"package sub", "func B(n int64) error"}
	out, err = check()
	require.ErrorIs(t, err, errDiffers)
	require.Equal(t, "sub.txt:\n- func B(n int) error\n+ func B(n int64) error\n", out)

	g["sub.txt"] = []string{"func B(n int) error", "package sub"}
	out, err = check()
	require.ErrorIs(t, err, errDiffers)
	require.Contains(t, out, "another order")

	delete(g, "sub.txt")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("not ours"), 0o644))
	out, err = check()
	require.ErrorIs(t, err, errDiffers)
	require.Equal(t, "sub.txt: there is no such package\n", out)

	require.NoError(t, g.write(dir))
	out, err = check()
	require.NoError(t, err)
	require.Empty(t, out)
	require.NoFileExists(t, filepath.Join(dir, "sub.txt"))
	require.FileExists(t, filepath.Join(dir, "README.md"))
}

// A check-out with the line ends of Windows holds the same API.
func TestCheckReadsCRLF(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "root.txt"), []byte("package root\r\nfunc A()\r\n"), 0o644))
	var out bytes.Buffer
	require.NoError(t, golden{"root.txt": {"package root", "func A()"}}.check(dir, &out))
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.ErrorContains(t, run([]string{"-write", "-check"}, &out), "exclude")
	require.ErrorContains(t, run([]string{"."}, &out), "no public package")
}
