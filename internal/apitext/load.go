package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package of the main module, or of one below it.
type pkg struct {
	path   string // import path
	module string // the main module's path
	types  *types.Package
}

// public reports whether users may import the package.
func (p pkg) public() bool {
	if p.types.Name() == "main" {
		return false
	}
	elements := strings.Split(p.rel(), "/")
	return elements[0] != "examples" && elements[0] != "benchmarks" && !slices.Contains(elements, "internal")
}

// rel is the package's folder in the module; "" for the root.
func (p pkg) rel() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.path, p.module), "/")
}

// file is the name of the package's file: strategy/cenkalti becomes strategy-cenkalti.txt, the root the module's name.
func (p pkg) file() string {
	name := strings.ReplaceAll(p.rel(), "/", "-")
	if name == "" {
		name = p.module[strings.LastIndex(p.module, "/")+1:]
	}
	return name + ".txt"
}

// nested lists the folders below root that hold modules of their own for users to import.
func nested(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == root {
			return err
		}
		switch name := entry.Name(); {
		case name == "examples", name == "benchmarks", name == "internal", name == "testdata", strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"):
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs, err
}

// load compiles the packages of the module in dir that match the patterns and returns what they export.
func load(dir string, patterns []string) ([]pkg, error) {
	args := append([]string{"-C", dir, "list", "-export", "-deps", "-json=ImportPath,Export,DepOnly,Module", "--"}, patterns...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}

	var found []pkg
	exports := map[string]string{} // import path to the file of export data
	for decoder := json.NewDecoder(strings.NewReader(string(listed))); ; {
		var p struct {
			ImportPath, Export string
			DepOnly            bool
			Module             *struct{ Path string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && p.Module != nil && p.Export != "" { // a folder of nothing but tests exports nothing
			found = append(found, pkg{path: p.ImportPath, module: p.Module.Path})
		}
	}

	compiled := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for i := range found {
		if found[i].types, err = compiled.Import(found[i].path); err != nil {
			return nil, err
		}
	}
	return found, nil
}
