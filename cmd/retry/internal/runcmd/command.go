// Package runcmd is the command "run".
package runcmd

import "github.com/seed-89b3229b/retry/cmd/retry/internal/frame"

// Command is the command line of "run".
type Command struct {
	Argv []string `arg:"" optional:"" passthrough:"partial" name:"command" help:"What to run, with its arguments."`
}

// Run runs it.
func (c *Command) Run(std *frame.IO) error { return frame.Usage("nothing to run; see retry run --help") }
