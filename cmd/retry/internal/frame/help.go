package frame

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// columns is the width that help keeps to.
const columns = 100

// Help is the command "help".
type Help struct {
	Man     bool   `help:"Write the manual page of all commands, as troff."`
	Command string `arg:"" optional:"" help:"A command; none: the program."`
}

// Run writes the help.
func (h *Help) Run(ctx *kong.Context, std *IO) error {
	if h.Man {
		return writeMan(std.Stdout, ctx.Model)
	}
	if h.Command == "" {
		return writeHelp(std.Stdout, ctx.Model.Node)
	}
	for _, c := range ctx.Model.Children {
		if c.Name == h.Command {
			return writeHelp(std.Stdout, c)
		}
	}
	return Usage("unknown command %q; see %s --help", h.Command, Name)
}

func printHelp(_ kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	return writeHelp(ctx.Stdout, node)
}

// section is a part of a help text: a title, and rows of a term and its meaning.
type section struct {
	title string
	rows  [][2]string
}

// sections are what is to be said of a command: its commands, arguments, and flags by group.
func sections(n *kong.Node) (all []section) {
	add := func(title, term, meaning string) {
		for i := range all {
			if all[i].title == title {
				all[i].rows = append(all[i].rows, [2]string{term, meaning})
				return
			}
		}
		all = append(all, section{title, [][2]string{{term, meaning}}})
	}
	for _, c := range n.Children {
		add("Commands", c.Name, c.Help)
	}
	for _, p := range n.Positional {
		add("Arguments", strings.ToUpper(p.Name), p.Help)
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if f.Group != nil {
				add(f.Group.Title, flagTerm(f), f.Help)
			}
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if f.Group == nil {
				add("Flags", flagTerm(f), f.Help)
			}
		}
	}
	return all
}

// flagTerm is how a flag is written.
func flagTerm(f *kong.Flag) string {
	term := "    --" + f.Name
	if f.Short != 0 {
		term = fmt.Sprintf("-%c, --%s", f.Short, f.Name)
	}
	if !f.IsBool() && !f.IsCounter() {
		term += " " + f.FormatPlaceHolder()
	}
	return term
}

// usage is the first line of a help text.
func usage(n *kong.Node) string {
	if n.Parent == nil {
		return Name + " COMMAND"
	}
	text := Name + " " + n.Name + " [FLAGS]"
	for _, p := range n.Positional {
		word := strings.ToUpper(p.Name)
		switch {
		case p.Passthrough:
			word = "[--] " + word + " [ARG...]"
		case p.IsCumulative():
			word = "[" + word + "...]"
		case !p.Required:
			word = "[" + word + "]"
		}
		text += " " + word
	}
	return text
}

// examples are those of the command behind a node.
func examples(n *kong.Node) []string {
	if n.Target.IsValid() && n.Target.CanAddr() {
		if c, ok := n.Target.Addr().Interface().(interface{ Examples() []string }); ok {
			return c.Examples()
		}
	}
	return nil
}

func writeHelp(w io.Writer, n *kong.Node) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n\n%s\n", usage(n), wrap(n.Help, 0))
	if n.Detail != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(n.Detail, 0))
	}
	for _, s := range sections(n) {
		fmt.Fprintf(&b, "\n%s:\n", s.title)
		width := 0
		for _, r := range s.rows {
			width = max(width, min(len(r[0]), 30))
		}
		for _, r := range s.rows {
			if len(r[0]) > width {
				fmt.Fprintf(&b, "  %s\n  %*s", r[0], width, "")
			} else {
				fmt.Fprintf(&b, "  %-*s", width, r[0])
			}
			fmt.Fprintf(&b, "  %s\n", wrap(r[1], width+4))
		}
	}
	if list := examples(n); len(list) > 0 {
		fmt.Fprintf(&b, "\nExamples:\n  %s\n", strings.Join(list, "\n  "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks text into lines, the first of which begins at the column indent, and so do the others. Line breaks of the text
// stay.
func wrap(text string, indent int) string {
	var b strings.Builder
	pad := "\n" + strings.Repeat(" ", indent)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString(pad)
		}
		at := indent
		for j, word := range strings.Fields(line) {
			switch {
			case j > 0 && at+1+len(word) > columns:
				b.WriteString(pad)
				at = indent
			case j > 0:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += len(word)
		}
	}
	return b.String()
}
