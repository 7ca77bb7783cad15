package benchmarks

import (
	_ "embed"
	"strings"
)

//go:embed go.mod
var module string

// Version returns the version of a module that is compared, as go.mod pins it; "" for one that is not. For the library
// itself it is "this tree".
func Version(path string) string {
	replaced, version := false, ""
	for line := range strings.Lines(module) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 1 && fields[0] == "replace" && fields[1] == path:
			replaced = true
		case len(fields) > 1 && fields[0] == path:
			version = fields[1]
		}
	}
	if replaced {
		return "this tree"
	}
	return version
}
