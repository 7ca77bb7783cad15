// Command apitext writes the exported API of this module's packages, and of the modules below it, as text, one line for each thing that a user's code
// can name. The text is kept under api/, so that a change of the API is seen in review, and never made unawares.
//
//	go run ./internal/apitext            print it
//	go run ./internal/apitext -write     write the files under api/
//	go run ./internal/apitext -check     compare with the files: exit status 1 and the differing lines if they differ
//
// It runs in the module's root, and reads compiled packages, not sources: what is inferred or embedded is in the text too.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "apitext:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("apitext", flag.ContinueOnError)
	dir := flags.String("dir", "api", "the folder of the files")
	write := flags.Bool("write", false, "write the files")
	check := flags.Bool("check", false, "compare with the files")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *write && *check {
		return errors.New("-write and -check exclude each other")
	}
	packages, err := loadAll(flags.Args())
	if err != nil {
		return err
	}
	files := make(golden, len(packages))
	for _, p := range packages {
		if !p.public() {
			continue
		}
		files[p.file()] = append([]string{"package " + p.path}, describe(p.types)...)
	}
	if len(files) == 0 {
		return errors.New("no public package found")
	}

	switch {
	case *write:
		return files.write(*dir)
	case *check:
		return files.check(*dir, out)
	}
	return files.print(out)
}

// loadAll loads what the patterns match; without any, all packages of this module and of those below it, as if they were one.
func loadAll(patterns []string) ([]pkg, error) {
	if len(patterns) > 0 {
		return load(".", patterns)
	}
	patterns = []string{"./..."}
	packages, err := load(".", patterns)
	if err != nil {
		return nil, err
	}
	dirs, err := nested(".")
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		below, err := load(dir, patterns)
		if err != nil {
			return nil, err
		}
		for _, p := range below {
			p.module = packages[0].module
			packages = append(packages, p)
		}
	}
	return packages, nil
}
