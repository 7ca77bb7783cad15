package frame

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the command "completion".
type Completion struct {
	Shell string `arg:"" help:"bash, zsh or fish."`
}

// Examples are tested.
func (*Completion) Examples() []string {
	return []string{
		"retry completion bash > ~/.local/share/bash-completion/completions/retry",
		"retry completion zsh > ~/.zfunc/_retry",
		"retry completion fish > ~/.config/fish/completions/retry.fish",
	}
}

// Run writes the script.
func (c *Completion) Run(ctx *kong.Context, std *IO) error {
	write, ok := map[string]func(io.Writer, []*kong.Node) error{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}[c.Shell]
	if !ok {
		return Usage("completion %s: must be bash, zsh or fish", c.Shell)
	}
	return write(std.Stdout, ctx.Model.Children)
}

// flagsOf are the flags of a command as words.
func flagsOf(n *kong.Node) (words []string) {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			words = append(words, "--"+f.Name)
		}
	}
	return words
}

// completeBash: after the command's own flags the rest is completed as a command line of its own.
func completeBash(w io.Writer, nodes []*kong.Node) error {
	var b strings.Builder
	b.WriteString("_retry() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} i\n" +
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n" +
		"\t\t\tif declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); else COMPREPLY=($(compgen -f -c -- \"$cur\")); fi\n\t\t\treturn\n\t\tfi\n\tdone\n" +
		"\tlocal words\n\tcase ${COMP_WORDS[1]} in\n")
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
		if n.Name != "run" {
			fmt.Fprintf(&b, "\t%s) words='%s' ;;\n", n.Name, strings.Join(flagsOf(n), " "))
			continue
		}
		fmt.Fprintf(&b, "\t%s | -*) words='%s' ;;\n", n.Name, strings.Join(flagsOf(n), " "))
	}
	fmt.Fprintf(&b, "\t*) words='%s --help --version' ;;\n\tesac\n", strings.Join(names, " "))
	b.WriteString("\tif [[ $cur == -* || $COMP_CWORD -eq 1 ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); else COMPREPLY=($(compgen -f -c -- \"$cur\")); fi\n}\n" +
		"complete -F _retry retry\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func completeZsh(w io.Writer, nodes []*kong.Node) error {
	quote := strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`).Replace
	var b strings.Builder
	b.WriteString("#compdef retry\n_retry() {\n\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n\t\tlocal -a commands=(\n")
	for _, n := range nodes {
		fmt.Fprintf(&b, "\t\t\t'%s:%s'\n", n.Name, quote(n.Help))
	}
	b.WriteString("\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase $words[2] in\n")
	for _, n := range nodes {
		pattern := n.Name
		if n.Name == "run" {
			pattern += "|-*"
		}
		fmt.Fprintf(&b, "\t%s)\n\t\t_arguments -S", pattern)
		for _, group := range n.AllFlags(true) {
			for _, f := range group {
				value := ""
				if !f.IsBool() && !f.IsCounter() {
					value = ":" + quote(f.FormatPlaceHolder()) + ":_files"
				}
				fmt.Fprintf(&b, " \\\n\t\t\t'--%s[%s]%s'", f.Name, quote(f.Help), value)
			}
		}
		b.WriteString(" \\\n\t\t\t'*::command:_normal'\n\t\t;;\n")
	}
	b.WriteString("\tesac\n}\n_retry \"$@\"\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func completeFish(w io.Writer, nodes []*kong.Node) error {
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "complete -c retry -n __fish_use_subcommand -a %s -d '%s'\n", n.Name, quote(n.Help))
		for _, group := range n.AllFlags(true) {
			for _, f := range group {
				fmt.Fprintf(&b, "complete -c retry -n '__fish_seen_subcommand_from %s' -l %s -d '%s'", n.Name, f.Name, quote(f.Help))
				if f.Short != 0 {
					fmt.Fprintf(&b, " -s %c", f.Short)
				}
				if !f.IsBool() && !f.IsCounter() {
					b.WriteString(" -r")
				}
				b.WriteString("\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
