package frame

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// writeMan writes a manual page in troff's man macros, from the same texts as the help.
func writeMan(w io.Writer, app *kong.Application) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(Name), Name, troff(strings.TrimSuffix(app.Help, ".")))
	b.WriteString(".SH SYNOPSIS\n")
	for _, c := range app.Children {
		fmt.Fprintf(&b, ".B %s\n.br\n", troff(usage(c)))
	}
	for _, c := range app.Children {
		fmt.Fprintf(&b, ".SH \"%s\"\n%s\n", troff(strings.ToUpper(Name+" "+c.Name)), troff(c.Help))
		if c.Detail != "" {
			fmt.Fprintf(&b, ".PP\n%s\n", troff(c.Detail))
		}
		for _, s := range sections(c) {
			fmt.Fprintf(&b, ".SS \"%s\"\n", troff(s.title))
			for _, r := range s.rows {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", troff(strings.TrimSpace(r[0])), troff(r[1]))
			}
		}
		if list := examples(c); len(list) > 0 {
			fmt.Fprintf(&b, ".SS Examples\n.nf\n%s\n.fi\n", troff(strings.Join(list, "\n")))
		}
	}
	b.WriteString(".SH \"EXIT STATUS\"\nThat of the last attempt; 128+n after death by signal n; 124 for lack of time; 125 for a failure of " +
		Name + " itself; 126 and 127 for a command that cannot be run or is not there; 75 where a state file says not yet.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// troff escapes what troff would read as its own.
func troff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
