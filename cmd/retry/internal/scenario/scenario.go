// Package scenario reads the scenario files of "retry sim", and has those that are ready-made.
package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-89b3229b/retry/retrysim"
)

// File is what a scenario file says.
type File struct {
	// About is one line for the list of scenarios.
	About    string
	Scenario retrysim.Scenario
	Policies []Policy
	// Trials is how often it is simulated, unless the user says otherwise. 0: not said.
	Trials int
	// Assert are sentences that must be true of the result.
	Assert []retrysim.Assertion
	// Map is set if recovery is to be mapped over load and outage, instead of one run.
	Map *Map
}

// Map is what a stability map is drawn over.
type Map struct {
	Loads   []float64
	Outages []time.Duration
}

// Contenders are the policies as the simulator takes them.
func (f *File) Contenders() (all []retrysim.Contender) {
	for _, p := range f.Policies {
		all = append(all, p.Contender())
	}
	return all
}

// Put adds a policy, or puts it in the place of the one of its name.
func (f *File) Put(p Policy) {
	for i := range f.Policies {
		if f.Policies[i].Name == p.Name {
			f.Policies[i] = p
			return
		}
	}
	f.Policies = append(f.Policies, p)
}

// Setting is a value that takes the place of what the file says, such as "server.queue.workers=20".
type Setting struct{ Path, Value string }

// ParseSetting reads PATH=VALUE.
func ParseSetting(s string) (Setting, error) {
	path, value, found := strings.Cut(s, "=")
	if path = strings.TrimSpace(path); !found || path == "" {
		return Setting{}, fmt.Errorf("%q: must be of the form PATH=VALUE, such as timeout=300ms", s)
	}
	return Setting{path, strings.TrimSpace(value)}, nil
}

// Load reads a file, or the ready-made scenario of that name.
func Load(name string, settings ...Setting) (*File, error) {
	if data, ok := Source(name); ok {
		return Read(name, data, settings...)
	}
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, "./\\"):
		return nil, fmt.Errorf("unknown scenario %q; known are %s; a file's name has a dot or a slash in it", name, strings.Join(Names(), ", "))
	case err != nil:
		return nil, err
	}
	return Read(name, data, settings...)
}

// longest is how large a file may be.
const longest = 1 << 20

// Read reads a scenario. The error is an *Error with the line.
func Read(name string, data []byte, settings ...Setting) (*File, error) {
	f, err := read(data, settings)
	if err == nil {
		return f, nil
	}
	var placed *Error
	if !errors.As(err, &placed) {
		placed = &Error{Err: err}
	}
	placed.File = name
	return nil, placed
}

func read(data []byte, settings []Setting) (*File, error) {
	if len(data) > longest {
		return nil, errors.New("must not be longer than 1 MiB")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, errors.New("is empty")
	} else if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("must be one document")
	}
	root := document.Content[0]
	for _, s := range settings {
		if err := s.apply(root); err != nil {
			return nil, err
		}
	}
	return readFile(root)
}

func readFile(root *yaml.Node) (*File, error) {
	var f File
	s := &f.Scenario
	readers := map[string]reader{
		"name": into(&s.Name, text), "about": into(&f.About, text), "trials": into(&f.Trials, trials), "length": into(&s.Length, duration), "drain": into(&s.Drain, duration),
		"step": into(&s.Step, duration), "clients": into(&s.Clients, whole), "load": readLoad(&s.Load), "timeout": into(&s.Timeout, duration),
		"deadline": into(&s.Deadline, duration), "network": into(&s.Network, dist), "server": readServer(&s.Server),
		"faults": func(n *yaml.Node, path string) error { return readList(n, path, readFault(&s.Faults)) },
		"policies": func(n *yaml.Node, path string) error {
			return readList(n, path, readPolicy(&f.Policies))
		},
		"assert": listed(&f.Assert, func(s string) ([]retrysim.Assertion, error) {
			a, err := retrysim.ParseAssertion(s)
			return []retrysim.Assertion{a}, err
		}),
		"map": func(n *yaml.Node, path string) error {
			f.Map = new(Map)
			return readMapping(n, path, map[string]reader{"loads": listed(&f.Map.Loads, Loads), "outages": listed(&f.Map.Outages, Durations)})
		},
	}
	if err := readMapping(root, "", readers); err != nil {
		return nil, err
	}
	return &f, f.check(root)
}

func trials(s string) (int, error) {
	n, err := whole(s)
	if err == nil && n < 1 {
		err = errors.New("must be at least 1")
	}
	return n, err
}

// check looks at the whole. A problem is placed at the key that it belongs to.
func (f *File) check(root *yaml.Node) error {
	err := f.Scenario.Validate()
	if f.Map != nil {
		err = nil // load, length and faults are the map's; Stability looks at the rest
	}
	var invalid *retrysim.ConfigError
	if errors.As(err, &invalid) {
		key, _, _ := strings.Cut(strings.ToLower(invalid.Field), ".")
		key, _, _ = strings.Cut(key, "[")
		line := root.Line
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == key {
				line = root.Content[i].Line
			}
		}
		return &Error{Line: line, Err: err}
	}
	names := map[string]bool{}
	for i, p := range f.Policies {
		switch {
		case p.Name == "":
			return &Error{Line: root.Line, Path: fmt.Sprintf("policies[%d]", i), Err: errors.New("needs a name")}
		case names[p.Name]:
			return &Error{Line: root.Line, Path: fmt.Sprintf("policies[%d]", i), Err: fmt.Errorf("%q must not be the name of two", p.Name)}
		}
		names[p.Name] = true
	}
	return err
}
