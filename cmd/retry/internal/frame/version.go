package frame

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is the command "version".
type Version struct{}

// Run writes the version.
func (*Version) Run(std *IO) error {
	_, err := fmt.Fprintf(std.Stdout, "%s %s %s/%s %s\n", Name, version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}

// version is the module's version where it was installed by version, and the commit where it was built in a clone.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
