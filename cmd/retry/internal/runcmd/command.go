// Package runcmd is the command "run": attempts as processes, what their ends mean, and their streams. What is decided from
// one attempt to the next is a retry.Flow's.
package runcmd

import (
	"net/url"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
)

// Command is the command line of "run".
type Command struct {
	Limits   `group:"Limits and waits"`
	Outcomes `group:"Outcomes"`
	Streams  `group:"Streams and logs"`

	Argv []string `arg:"" optional:"" passthrough:"partial" name:"command" help:"What to run, with its arguments. No shell reads it: for one, run sh -c '...'."`
}

// Limits are the flags about how often and how long.
type Limits struct {
	Attempts       attempts       `short:"n" placeholder:"N|unlimited" help:"How many attempts, the first included. Default: 5; unlimited where --max-elapsed or --deadline is given."`
	Strategy       string         `short:"s" placeholder:"TEXT" help:"The waits. Default: fulljitter(base=1s, max=1m), 7.5s in all on average, 15s at most."`
	BaseDelay      frame.Duration `placeholder:"D" help:"Base of full jitter, in place of --strategy."`
	MaxDelay       frame.Duration `placeholder:"D" help:"Cap on the waits of the strategy."`
	Jitter         jitter         `placeholder:"full|equal|FACTOR" help:"Spread the waits of a strategy that does not draw them itself."`
	MaxElapsed     frame.Duration `placeholder:"D" help:"No wait is begun that would end later than this. It does not interrupt an attempt."`
	Deadline       frame.Duration `placeholder:"D" help:"Limit on the whole run: the attempt that runs then is ended. Exit status 124."`
	AttemptTimeout frame.Duration `short:"t" placeholder:"D" help:"Limit on each attempt."`
	Signal         signalFlag     `placeholder:"SIG" help:"What ends an attempt for lack of time. Default: TERM."`
	Grace          frame.Duration `placeholder:"D" help:"How long after that signal KILL follows. Default: 10s."`
	InitialDelay   frame.Duration `placeholder:"D" help:"Wait before the first attempt."`
	Stagger        bool           `help:"Draw the initial delay from 0..D."`
	MaxHint        frame.Duration `placeholder:"D" help:"Longest wait that is obeyed if the command or --state asks for it; a longer one ends the run. Default: 60s."`
	ResetAfter     frame.Duration `placeholder:"D" help:"An attempt that ran at least so long begins attempts and waits anew."`
	Config         string         `placeholder:"FILE" help:"Settings, .yaml, .yml or .json: max_attempts, base_delay, max_delay, max_elapsed, attempt_timeout, strategy. RETRY_MAX_ATTEMPTS and so on in the environment win over it, flags over both."`
	Seed           *uint64        `placeholder:"N" help:"Draw the same waits every time."`
	Name           string         `placeholder:"TEXT" help:"A name for log lines."`
}

// Outcomes are the flags about what an attempt's end means.
type Outcomes struct {
	Until           list     `placeholder:"LIST" help:"What ends the run well. LIST: exit codes, ranges a-b, success, failure, timeout, signal, SIGSEGV and so on, none; separated by commas. Default: success."`
	On              list     `placeholder:"LIST" help:"What is repeated; all else is then final. Default: all but 126, 127 and death by INT, TERM, HUP, QUIT."`
	Stop            list     `placeholder:"LIST" help:"What is final."`
	UntilOutput     pattern  `placeholder:"RE" help:"Text that the output must have to end the run well (RE2, last MiB of stdout and of stderr)."`
	OnOutput        pattern  `placeholder:"RE" help:"Output that is repeated."`
	StopOutput      pattern  `placeholder:"RE" help:"Output that is final."`
	Throttled       list     `placeholder:"LIST" help:"What is repeated because the server asked for less, for bythrottled(...)."`
	ThrottledOutput pattern  `placeholder:"RE" help:"The same by output."`
	AfterOutput     pattern  `placeholder:"RE" help:"Output whose group 1 says how long to wait: seconds, a duration or an HTTP date."`
	Headers         bool     `help:"Read HTTP header lines, such as Retry-After, from the file that RETRY_HEADERS names: curl -D \"$$RETRY_HEADERS\"."`
	Successes       int      `default:"1" placeholder:"N" help:"So many good ends in a row. A failure starts the count again; --attempts counts failures in a row then."`
	Zero            bool     `help:"Exit status 0 whenever the run ended well."`
	HTTP            string   `name:"http" placeholder:"URL" help:"GET URL in place of a command; exit status 0, or 69."`
	HTTPStatus      statuses `name:"http-status" placeholder:"LIST" help:"Statuses of --http that are well. Default: 200-299."`
}

// Streams are the flags about input, output and what is said.
type Streams struct {
	Stdin      string `enum:"auto,inherit,none,replay" default:"auto" placeholder:"MODE" help:"auto, inherit, none or replay. auto: every attempt gets the same input, pipes from memory, files from where they stood. In 'while read' loops use none, or the command eats the loop's input."`
	Stdout     string `enum:"pass,success,last" default:"pass" placeholder:"MODE" help:"pass; success: only that of the attempt that ended well, that of others goes to stderr; last: that of the last."`
	Stderr     string `enum:"pass,success,last,none" default:"pass" placeholder:"MODE" help:"pass, success, last or none."`
	Foreground *bool  `negatable:"" help:"Give the command the terminal: no process group of its own. Default: if stdin is a terminal."`
	Quiet      bool   `short:"q" help:"No log lines."`
	Verbose    bool   `short:"v" help:"Also starts and the good end."`
	Log        string `enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
	LogFile    string `placeholder:"FILE" help:"Log lines go to this file's end in place of stderr."`
	Report     string `placeholder:"FILE|-" help:"Write an account of the run at its end, as JSON."`
	Progress   string `enum:"auto,never" default:"auto" placeholder:"MODE" help:"auto or never: a countdown while waiting, on a terminal."`
	DryRun     bool   `help:"Run nothing, and show the waits if every attempt failed."`
	NoWait     bool   `short:"D" help:"Skip the waits; limits count them all the same."`
	State      string `placeholder:"FILE" help:"Share waits and levels with other runs; exit status 75 if it is not time yet."`
}

// Help is the text before the flags.
func (*Command) Help() string {
	return "The exit status is that of the last attempt, 128+n for death by signal n, but: 124 for lack of time, 125 for a failure of retry " +
		"itself, 126 and 127 for a command that cannot be run or is not there, 75 if --state says not yet; and 1 where the last attempt exited " +
		"with 0 and the run did not end well. The command finds RETRY_ATTEMPT (from 1), RETRY_LIMIT and RETRY_PREV_EXIT in its environment."
}

// Examples are tested.
func (*Command) Examples() []string {
	return []string{
		"retry run -- make deploy",
		"retry run -n 10 -t 30s --deadline 5m --on failure,timeout -- rsync -a src/ host:dst/",
		`retry run --headers -- sh -c 'curl -fsS -D "$RETRY_HEADERS" https://example.com/api'`,
	}
}

// Run runs the command, and returns its exit status as an error.
func (c *Command) Run(std *frame.IO) error {
	if err := c.check(); err != nil {
		return err
	}
	s, err := c.settings()
	if err != nil {
		return err
	}
	switch {
	case c.DryRun:
		return s.dryRun(std.Stdout)
	case c.HTTP != "":
		return c.get(std, s)
	}
	r, err := newRunner(c, s, std)
	if err != nil {
		return err
	}
	return r.main()
}

// check is about flags that do not go together.
func (c *Command) check() error {
	if len(c.Argv) > 0 && c.Argv[0] == "--" { // kong leaves it where it stands first
		c.Argv = c.Argv[1:]
	}
	switch {
	case len(c.Argv) == 0 && c.HTTP == "" && !c.DryRun:
		return frame.Usage("nothing to run; see retry run --help")
	case len(c.Argv) > 0 && c.Argv[0] == "":
		return frame.Usage("nothing to run: the command is empty text")
	case len(c.Argv) > 0 && c.HTTP != "":
		return frame.Usage("--http %s: cannot be used together with a command", c.HTTP)
	case c.Successes < 1:
		return frame.Usage("--successes %d: must be at least 1", c.Successes)
	case c.Stagger && !c.InitialDelay.Set:
		return frame.Usage("--stagger needs --initial-delay, which it draws from")
	case c.AfterOutput.given() && c.AfterOutput.re.NumSubexp() < 1:
		return frame.Usage("--after-output %s: needs a group, such as 'after ([0-9]+)'", c.AfterOutput.re)
	case c.HTTPStatus.given && c.HTTP == "":
		return frame.Usage("--http-status needs --http")
	case c.HTTP != "" && c.forCommands() != "":
		return frame.Usage("%s cannot be used together with --http", c.forCommands())
	}
	if c.HTTP != "" {
		if u, err := url.Parse(c.HTTP); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return frame.Usage("--http %s: must be a URL that begins with http:// or https://", c.HTTP)
		}
	}
	return nil
}

// forCommands is a flag that only means something where a command is run, if one was given.
func (c *Command) forCommands() string {
	for flag, given := range map[string]bool{
		"--until": c.Until.given, "--on": c.On.given, "--stop": c.Stop.given, "--until-output": c.UntilOutput.given(),
		"--on-output": c.OnOutput.given(), "--stop-output": c.StopOutput.given(), "--throttled": c.Throttled.given,
		"--throttled-output": c.ThrottledOutput.given(), "--after-output": c.AfterOutput.given(), "--headers": c.Headers,
		"--successes": c.Successes != 1, "--stdin": c.Stdin != "auto", "--stdout": c.Stdout != "pass", "--stderr": c.Stderr != "pass",
		"--foreground": c.Foreground != nil, "--state": c.State != "", "--report": c.Report != "", "--no-wait": c.NoWait,
	} {
		if given {
			return flag
		}
	}
	return ""
}
