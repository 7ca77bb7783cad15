package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// result is what came of a trial, second by second.
type result struct {
	trial
	seconds []second
}

// healthy is the share of calls that succeed in a second in which all is well.
const healthy = 0.95

// deadline is when a call that began in a second is over at the latest, near enough. Later seconds are not counted.
const deadline = 3 * time.Second

// counted returns the seconds whose calls are all over.
func (r result) counted() []second { return r.seconds[:(length-deadline)/time.Second] }

// recovery returns how long after the outage all is well for good, and whether it ever is.
func (r result) recovery() (time.Duration, bool) {
	seconds := r.counted()
	for i := len(seconds); i > 0; i-- {
		if seconds[i-1].success() < healthy {
			return max(time.Duration(i)*time.Second-outageEnds, 0), i < len(seconds)
		}
	}
	return 0, true
}

func (s second) success() float64 { return float64(s.successful) / float64(max(s.calls, 1)) }

// total adds up all that is counted.
func (r result) total() (t second) {
	for _, s := range r.counted() {
		t = second{t.attempts + s.attempts, t.calls + s.calls, t.successful + s.successful}
	}
	return t
}

func (r result) verify() error {
	after, recovered := r.recovery()
	switch {
	case r.want == never && recovered:
		return fmt.Errorf("%s: should not have recovered, but did after %v", r.name, after)
	case r.want == recovers && !recovered:
		return fmt.Errorf("%s: should have recovered, but did not", r.name)
	}
	return nil
}

const most = 2000 // requests a second, at the top of the chart

// draw shows load and success over time, a column a second.
func draw(out io.Writer, r result) {
	var load, success strings.Builder
	for _, s := range r.seconds {
		load.WriteRune(block(float64(s.attempts) / most))
	}
	for _, s := range r.counted() {
		success.WriteRune(block(s.success()))
	}
	fmt.Fprintf(out, "\n%s\n  load     %s  of %d/s\n  success  %s\n           %s\n", r.name, load.String(), most, success.String(), axis())
}

// block returns a column that is filled by a share of its height; one of 0 is a line.
func block(share float64) rune {
	blocks := []rune("_▁▂▃▄▅▆▇█")
	return blocks[min(max(int(share*8+0.5), 0), 8)]
}

// axis marks the outage.
func axis() string {
	at := func(t time.Duration) int { return int(t / time.Second) }
	text := strings.Repeat(" ", at(outageBegins)) + "|" + strings.Repeat("-", at(outageEnds-outageBegins)-2) + "|"
	return text + " half of the capacity is lost"
}

// table compares the trials.
func table(out io.Writer, results []result) {
	fmt.Fprintf(out, "\n%-32s  %17s  %9s  %s\n", "", "attempts per call", "succeeded", "well again after the outage")
	for _, r := range results {
		t, after := r.total(), "never"
		if d, recovered := r.recovery(); recovered {
			after = "in " + d.String()
		}
		fmt.Fprintf(out, "%-32s  %17.2f  %8.0f%%  %s\n", r.name, float64(t.attempts)/float64(t.calls), 100*t.success(), after)
	}
}
