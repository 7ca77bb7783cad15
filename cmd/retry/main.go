// Command retry runs commands again until they succeed, and shows what strategies for waiting come to.
//
//	retry run -- make deploy
//	retry delays 'fibonacci(first=1s)'
//
// docs/command.md in the module of the library has the guide. Exit status 125 is an error of retry itself.
package main

import (
	"os"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/delayscmd"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/runcmd"
)

// commands are what the first word may be. A new command is a line here, and a package of its own.
type commands struct {
	Run        runcmd.Command    `cmd:"" help:"Run a command until it succeeds, or there is a good reason to stop."`
	Delays     delayscmd.Command `cmd:"" help:"Show the waits of a strategy."`
	Completion frame.Completion  `cmd:"" help:"Write the completions of a shell."`
	Help       frame.Help        `cmd:"" help:"Show the help of a command, or the manual page of all."`
	Version    frame.Version     `cmd:"" help:"Show the version."`
}

func main() {
	os.Exit(frame.Main(new(commands), os.Args[1:], frame.Standard()))
}
