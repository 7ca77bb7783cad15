package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// golden is the text that each file should hold, as lines by file name.
type golden map[string][]string

func (g golden) names() []string { return slices.Sorted(maps.Keys(g)) }

func (g golden) print(out io.Writer) error {
	for i, name := range g.names() {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if _, err := io.WriteString(out, join(g[name])); err != nil {
			return err
		}
	}
	return nil
}

// write writes the files, and removes those of packages that are gone.
func (g golden) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range g.names() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(join(g[name])), 0o644); err != nil {
			return err
		}
	}
	stale, err := g.stale(dir)
	for _, name := range stale {
		err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
	}
	return err
}

var errDiffers = errors.New("the exported API is not what the files say: if the change is meant, run \"make api\" and commit the result")

// check prints the lines by which the files differ from what they should hold, and returns errDiffers if any do.
func (g golden) check(dir string, out io.Writer) error {
	same := true
	for _, name := range g.names() {
		file := filepath.Join(dir, name)
		content, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		text := strings.ReplaceAll(string(content), "\r\n", "\n")
		if text == join(g[name]) {
			continue
		}
		same = false
		fmt.Fprintf(out, "%s:\n", filepath.ToSlash(file))
		for _, line := range diff(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), g[name]) {
			fmt.Fprintln(out, line)
		}
	}
	stale, err := g.stale(dir)
	if err != nil {
		return err
	}
	for _, name := range stale {
		same = false
		fmt.Fprintf(out, "%s: there is no such package\n", filepath.ToSlash(filepath.Join(dir, name)))
	}
	if !same {
		return errDiffers
	}
	return nil
}

// stale lists the files in dir that belong to no package.
func (g golden) stale(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := g[e.Name()]; !ok && filepath.Ext(e.Name()) == ".txt" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// diff returns the lines that only is has, behind "- ", and those that only want has, behind "+ ". Lines stand for
// themselves, so which are there is all that matters; if it is only their order that differs, it says so.
func diff(is, want []string) []string {
	var lines []string
	for _, line := range is {
		if line != "" && !slices.Contains(want, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range want {
		if !slices.Contains(is, line) {
			lines = append(lines, "+ "+line)
		}
	}
	if lines == nil {
		return []string{"  the same lines in another order, or blank ones between"}
	}
	return lines
}

func join(lines []string) string { return strings.Join(lines, "\n") + "\n" }
