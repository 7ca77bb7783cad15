package runcmd

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// tailSize is how much of an output the expressions see: its end.
const tailSize = 1 << 20

// tail is a writer that keeps the last tailSize bytes.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
	}
	if len(t.kept)+len(p) > 2*tailSize { // seldom enough that moving the rest costs nothing
		keep := tailSize - len(p)
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-keep:]...)
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

func (t *tail) bytes() []byte {
	if t == nil {
		return nil
	}
	return t.kept[max(len(t.kept)-tailSize, 0):]
}

// pattern is a flag with a regular expression.
type pattern struct{ re *regexp.Regexp }

// Decode reads a flag.
func (p *pattern) Decode(ctx *kong.DecodeContext) (err error) {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return frame.Usage("--%s needs a regular expression", ctx.Value.Name)
	}
	if p.re, err = regexp.Compile(token.String()); err != nil {
		return frame.Usage("--%s %s: %v", ctx.Value.Name, token, err)
	}
	return nil
}

func (p *pattern) given() bool { return p.re != nil }

func (p *pattern) found(r *result) bool {
	return p.re != nil && (p.re.Match(r.stdout.bytes()) || p.re.Match(r.stderr.bytes()))
}

// wait reads what --after-output finds: the last match of each output, and the longer wait of the two.
func (p *pattern) wait(r *result, now time.Time) (s throttle.Signal) {
	if p.re == nil {
		return s
	}
	for _, t := range []*tail{r.stdout, r.stderr} {
		found := p.re.FindAllSubmatch(t.bytes(), -1)
		if len(found) == 0 {
			continue
		}
		if d, ok := readWait(string(found[len(found)-1][1]), now); ok && (!s.HasDelay || d > s.Delay) {
			s = throttle.Signal{Delay: d, HasDelay: true, Source: "output"}
		}
	}
	return s
}

// readWait reads seconds, a Go duration or an HTTP date.
func readWait(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= 0) { // NaN too
			return 0, false
		}
		if seconds >= math.MaxInt64/1e9 {
			return math.MaxInt64, true
		}
		return time.Duration(math.Ceil(seconds * 1e9)), true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0
	}
	return hint.ParseRetryAfter([]string{text}, time.Time{}, now)
}
