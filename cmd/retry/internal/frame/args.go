package frame

import (
	"slices"
	"strings"
)

// arrange completes the arguments before they are read: flags alone, and "--", are those of run. It is done by hand because
// kong's default command would take the COMMAND of "retry -- delays" for one of ours.
func arrange(args, commands []string) ([]string, error) {
	if len(args) == 0 {
		return nil, Usage("nothing to run; see %s --help", Name)
	}
	switch first := args[0]; {
	case first == "-h" || first == "--help":
		return []string{"--help"}, nil
	case first == "--version":
		return []string{"version"}, nil
	case len(first) > 1 && first[0] == '-':
		return append([]string{"run"}, args...), nil
	case slices.Contains(commands, first):
		return args, nil
	default:
		return nil, Usage("unknown command %q; to run it: %s run -- %s", first, Name, shellWords(args))
	}
}

// shellWords is a command line that a shell reads as args.
func shellWords(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if arg == "" || strings.ContainsFunc(arg, special) {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// special is true of what means something to a shell, or is not plain.
func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+%", r))
}
