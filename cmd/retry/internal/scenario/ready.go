package scenario

import (
	"embed"
	"path"
	"strings"
)

//go:embed ready/*.yaml
var ready embed.FS

// Names returns the names of the ready-made scenarios, in alphabetical order.
func Names() (names []string) {
	entries, _ := ready.ReadDir("ready")
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Source returns the text of a ready-made scenario.
func Source(name string) (data []byte, ok bool) {
	data, err := ready.ReadFile(path.Join("ready", name+".yaml"))
	return data, err == nil && !strings.Contains(name, "/")
}
