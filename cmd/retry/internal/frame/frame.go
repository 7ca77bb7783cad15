// Package frame is what the commands of retry have in common: how arguments are read, what an error of usage looks like, help,
// manual page, completions and the version.
//
// A command is a struct with kong's tags and a method Run(*frame.IO) error. A method Examples() []string gives the examples
// at the end of its help.
package frame

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// Name is the program's.
const Name = "retry"

// IO is where a command reads and writes.
type IO struct {
	Stdin, Stdout, Stderr *os.File
}

// Standard returns the process's own.
func Standard() *IO { return &IO{os.Stdin, os.Stdout, os.Stderr} }

// Main reads the arguments, runs the command that they name, and returns the exit status. commands is a pointer to a struct
// whose fields are the commands.
func Main(commands any, args []string, std *IO) int {
	err := execute(commands, args, std)
	var exit Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintf(std.Stderr, "%s: %s\n", Name, oneLine(err))
	return Failed
}

func execute(commands any, args []string, std *IO) error {
	args, err := arrange(args, names(commands))
	if err != nil {
		return err
	}
	k, err := model(commands, std)
	if err != nil {
		return err
	}
	ctx, err := k.Parse(args)
	if err != nil {
		if usage := (*UsageError)(nil); errors.As(err, &usage) {
			return usage // without what kong puts before it
		}
		return err
	}
	return ctx.Run(std)
}

// model is kong's view of the commands.
func model(commands any, std *IO) (*kong.Kong, error) {
	return kong.New(commands, kong.Name(Name), kong.Description("Run commands again until they succeed."), kong.Writers(std.Stdout, std.Stderr),
		kong.Help(printHelp))
}

// names are the commands that a struct has.
func names(commands any) (names []string) {
	t := reflect.TypeOf(commands).Elem()
	for f := range t.Fields() {
		names = append(names, strings.ToLower(f.Name))
	}
	return names
}

// oneLine is an error's text without its line breaks, since an error of usage is one line.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
