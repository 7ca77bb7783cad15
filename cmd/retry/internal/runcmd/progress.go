package runcmd

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// progress is a line on a terminal that counts down. A nil progress shows nothing.
type progress struct {
	to    *os.File
	width int // of what is shown
}

func newProgress(stderr *os.File) *progress {
	if kind := os.Getenv("TERM"); kind == "" || kind == "dumb" || !isTerminal(stderr) {
		return nil
	}
	return &progress{to: stderr}
}

// countdown returns what to call during a wait; nil: nothing.
func (p *progress) countdown(of string) func(left time.Duration) {
	if p == nil {
		return nil
	}
	return func(left time.Duration) {
		text := fmt.Sprintf("retry: next attempt in %v (%s)", time.Duration(math.Ceil(left.Seconds()))*time.Second, of)
		if w, _, err := term.GetSize(int(p.to.Fd())); err == nil && w > 0 && len(text) >= w {
			text = text[:w-1] // a line that wraps could not be erased
		}
		p.erase()
		_, _ = p.to.WriteString(text)
		p.width = len(text)
	}
}

// erase takes the line away, before anything else is written.
func (p *progress) erase() {
	if p != nil && p.width > 0 {
		_, _ = p.to.WriteString("\r" + strings.Repeat(" ", p.width) + "\r")
		p.width = 0
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
