// Package delayscmd is the command "delays".
package delayscmd

import "github.com/seed-89b3229b/retry/cmd/retry/internal/frame"

// Command is the command line of "delays".
type Command struct {
	Strategy string `arg:"" optional:"" help:"The strategy, such as 'fibonacci(first=1s)'."`
}

// Run shows the waits.
func (c *Command) Run(std *frame.IO) error {
	return frame.Usage("delays needs a strategy; see retry delays --help")
}
