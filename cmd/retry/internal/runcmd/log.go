package runcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
)

// logger says what happens: as lines of text or as JSON objects.
type logger struct {
	to       io.Writer // nil: quiet
	file     *os.File
	json     bool
	verbose  bool
	name     string // as given
	program  string // what is run; its arguments may hold secrets
	limit    retry.Attempts
	progress *progress
	began    time.Time
}

func (c *Command) newLogger(std *frame.IO, s *settings) (*logger, error) {
	l := &logger{to: std.Stderr, json: c.Log == "json", verbose: c.Verbose, name: c.Name, limit: s.config.MaxAttempts, began: time.Now()}
	if len(c.Argv) > 0 {
		l.program = filepath.Base(c.Argv[0])
	}
	if c.LogFile != "" {
		f, err := os.OpenFile(c.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, frame.Usage("--log-file: %v", err)
		}
		l.to, l.file = f, f
	}
	if c.Progress == "auto" && !c.Quiet && !(l.json && l.file == nil) {
		l.progress = newProgress(std.Stderr)
	}
	if c.Quiet {
		l.to = nil
	}
	return l, nil
}

func (l *logger) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}

// warn says what is wrong, also in JSON's stead: it is for people.
func (l *logger) warn(format string, args ...any) { l.text(format, args...) }

func (l *logger) text(format string, args ...any) {
	if l.to == nil {
		return
	}
	prefix := frame.Name + ": "
	if l.name != "" {
		prefix += l.name + ": "
	}
	_, _ = fmt.Fprintf(l.to, prefix+format+"\n", args...)
}

// line is a line of JSON.
type line struct {
	Time     string   `json:"time"`
	Event    string   `json:"event"`
	Name     string   `json:"name"`
	Attempt  int      `json:"attempt"`
	Limit    any      `json:"limit"`
	Exit     *int     `json:"exit,omitempty"`
	Signal   string   `json:"signal,omitempty"`
	Timeout  bool     `json:"timeout,omitempty"`
	Duration *float64 `json:"duration_ms,omitempty"`
	Delay    *float64 `json:"delay_ms,omitempty"`
	Source   string   `json:"source,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	OK       *bool    `json:"ok,omitempty"`
}

func (l *logger) write(o line) {
	if l.to == nil {
		return
	}
	o.Time = time.Now().Format("2006-01-02T15:04:05.000Z07:00")
	o.Limit = l.limit
	if o.Name = l.name; o.Name == "" {
		o.Name = l.program
	}
	text, _ := json.Marshal(o)
	_, _ = l.to.Write(append(text, '\n'))
}

// of is a number of attempts within the limit.
func (l *logger) of(number int) string {
	if l.limit == retry.Unlimited || number > int(l.limit) { // more than the limit: not all count, see --successes and --reset-after
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%d of %d", number, l.limit)
}

func (l *logger) starts(number int) {
	if l.verbose && !l.json {
		l.text("attempt %s: %s", l.of(number), l.program)
	}
}

func (l *logger) attempted(r *result, ok bool) {
	if l.json {
		o := line{Event: "attempt", Attempt: r.number, Exit: &r.code, Timeout: r.timeout, Duration: millis(r.duration), OK: &ok}
		if r.signal > 0 {
			o.Signal = signalName(r.signal)
		}
		l.write(o)
	}
}

func (l *logger) retries(r *result, step retry.Step) {
	if l.json {
		l.write(line{Event: "retry", Attempt: r.number, Delay: millis(step.Delay), Source: step.Source.String()})
		return
	}
	told := ""
	switch step.Source {
	case retry.SourceServer:
		told = fmt.Sprintf("; the server asked for %s", short(r.told.Delay))
	case retry.SourceThrottle:
		told = "; the state file says so"
	}
	l.text("attempt %s: %s after %s; next in %s%s", l.of(r.number), r, short(r.duration), short(step.Delay), told)
}

// waits is a wait before the first attempt.
func (l *logger) waits(step retry.Step) {
	switch {
	case l.json:
		l.write(line{Event: "retry", Delay: millis(step.Delay), Source: step.Source.String()})
	case l.verbose || step.Source == retry.SourceThrottle:
		l.text("first attempt in %s", short(step.Delay))
	}
}

// ended is the end of a run. elapsed is the run's own time, skipped waits included.
func (l *logger) ended(attempts int, last *result, ok bool, reason string, elapsed time.Duration) {
	if l.json {
		o := line{Event: "end", Attempt: attempts, Reason: reason, Duration: millis(elapsed), OK: &ok}
		if last != nil {
			code := last.status()
			o.Exit = &code
		}
		l.write(o)
		return
	}
	if ok {
		if l.verbose {
			l.text("done after %s, %s", tries(attempts), short(elapsed))
		}
		return
	}
	if last == nil {
		l.text("gave up before the first attempt: %s", reason)
		return
	}
	l.text("gave up after %s, %s: %s (%s)", tries(attempts), short(elapsed), last, reason)
}

func tries(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

func millis(d time.Duration) *float64 {
	ms := float64(d.Microseconds()) / 1000
	return &ms
}

// short is a duration as people want to read it.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		d = d.Round(time.Microsecond)
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < time.Minute:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	return d.String()
}
