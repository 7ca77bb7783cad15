package runcmd

import (
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/strategy"
)

// attempts is a flag with a number of attempts.
type attempts struct{ retry.Attempts }

// Decode reads a flag.
func (a *attempts) Decode(ctx *kong.DecodeContext) error {
	text := ctx.Scan.Pop().String()
	if a.UnmarshalText([]byte(text)) != nil || a.Attempts == 0 {
		return frame.Usage("--attempts %s: must be a whole number of at least 1, or unlimited", text)
	}
	return nil
}

// jitter is a flag with a jitter.
type jitter struct {
	strategy.Jitter
	text string
}

// Decode reads a flag.
func (j *jitter) Decode(ctx *kong.DecodeContext) (err error) {
	j.text = ctx.Scan.Pop().String()
	j.Jitter, err = ParseJitter(j.text)
	return err
}

// ParseJitter reads full, equal or a factor.
func ParseJitter(text string) (strategy.Jitter, error) {
	switch strings.ToLower(text) {
	case "full":
		return strategy.Full, nil
	case "equal":
		return strategy.Equal, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return nil, frame.Usage("--jitter %s: must be full, equal, or a factor from 0 to 1", text)
	}
	return strategy.Proportional(f), nil
}

// signalFlag is a flag with a signal's name or number.
type signalFlag struct{ number int }

// Decode reads a flag.
func (s *signalFlag) Decode(ctx *kong.DecodeContext) error {
	text := ctx.Scan.Pop().String()
	if s.number = signalNumber(text); s.number == 0 {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || signalName(n) == "" {
			return frame.Usage("--signal %s: is not a signal here", text)
		}
		s.number = n
	}
	return nil
}

// statuses is a flag with a list of HTTP statuses.
type statuses struct {
	given bool
	spans [][2]int
}

// Decode reads a flag.
func (s *statuses) Decode(ctx *kong.DecodeContext) error {
	text := ctx.Scan.Pop().String()
	*s = statuses{given: true}
	for part := range strings.SplitSeq(text, ",") {
		a, b, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			b = a
		}
		first, errFirst := strconv.Atoi(a)
		last, errLast := strconv.Atoi(b)
		if errFirst != nil || errLast != nil || first < 100 || last > 599 || first > last {
			return frame.Usage("--http-status %s: must be a list of statuses from 100 to 599 and ranges of them, such as 200-299,404", text)
		}
		s.spans = append(s.spans, [2]int{first, last})
	}
	return nil
}

func (s *statuses) has(status int) bool {
	if !s.given {
		return status >= 200 && status <= 299
	}
	for _, span := range s.spans {
		if status >= span[0] && status <= span[1] {
			return true
		}
	}
	return false
}
