package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Error is a problem of a scenario file, with its place.
type Error struct {
	// File is the file's name, Line the line, from 1; 0: none in particular.
	File string
	Line int
	// Path is the way to the culprit, such as "server.queue.workers".
	Path string
	Err  error
}

// Error returns the text, such as `brownout.yaml:7: server.queue.workers: must be a whole number, not "ten"`.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if e.Path != "" {
		text += ": " + e.Path
	}
	return text + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// at is an error at a node.
func at(n *yaml.Node, path string, err error) error {
	var placed *Error
	if errors.As(err, &placed) {
		return err // it has a better place
	}
	return &Error{Line: n.Line, Path: path, Err: err}
}

func atf(n *yaml.Node, path, format string, args ...any) error {
	return at(n, path, fmt.Errorf(format, args...))
}

// reader reads the value of a key.
type reader func(n *yaml.Node, path string) error

// readMapping hands the value of each key to its reader. Unknown keys and those that are given twice are errors.
func readMapping(n *yaml.Node, path string, readers map[string]reader) error {
	if n.Kind != yaml.MappingNode {
		return atf(n, path, "must have keys: %s", keys(readers))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := readers[key.Value]
		switch {
		case !ok:
			return atf(key, path, "unknown key %q; known are %s", key.Value, keys(readers))
		case seen[key.Value]:
			return atf(key, path, "key %q must not be given twice", key.Value)
		}
		seen[key.Value] = true
		for value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if err := read(value, join(path, key.Value)); err != nil {
			return at(value, join(path, key.Value), err)
		}
	}
	return nil
}

// readOne is readMapping for a mapping of exactly one key, which says of what kind the thing is. A kind without settings may be
// written as a word alone.
func readOne(n *yaml.Node, path string, readers map[string]reader) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		if read, ok := readers[n.Value]; ok {
			return read(&yaml.Node{Kind: yaml.MappingNode, Line: n.Line}, join(path, n.Value))
		}
	}
	if n.Kind == yaml.MappingNode && len(n.Content) != 2 {
		return atf(n, path, "must have exactly one of the keys %s", keys(readers))
	}
	return readMapping(n, path, readers)
}

// readList hands each element of a list to read.
func readList(n *yaml.Node, path string, read reader) error {
	if n.Kind != yaml.SequenceNode {
		return atf(n, path, "must be a list")
	}
	for i, one := range n.Content {
		here := fmt.Sprintf("%s[%d]", path, i)
		for one.Kind == yaml.AliasNode {
			one = one.Alias
		}
		if err := read(one, here); err != nil {
			return at(one, here, err)
		}
	}
	return nil
}

func keys(readers map[string]reader) string {
	var all []string
	for key := range readers {
		all = append(all, key)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
