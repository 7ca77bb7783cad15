package delayscmd

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/strategy"
)

// gaveUp stands for -1 among waits.
const gaveUp = time.Duration(-1)

// event is a failure or a success.
type event struct {
	success bool
	at      time.Time
}

// readEvents reads a log of events. Without a time an event is at the same instant as the one before; the first is then now.
func readEvents(words []string, now time.Time) ([]event, error) {
	events := make([]event, 0, len(words))
	at := now
	for _, word := range words {
		kind, when, timed := strings.Cut(word, ":")
		if kind != "0" && kind != "1" {
			return nil, frame.Usage("delays: event %s: must be 0 for a failure or 1 for a success, with :+SECONDS or :EPOCH", word)
		}
		if timed {
			relative := strings.HasPrefix(when, "+")
			d, ok := fromSeconds(strings.TrimPrefix(when, "+"))
			if !ok || d < 0 {
				return nil, frame.Usage("delays: event %s: the time must be +SECONDS or seconds since 1970", word)
			}
			if relative {
				at = at.Add(d)
			} else {
				at = time.Unix(0, int64(d))
			}
		}
		events = append(events, event{kind == "1", at})
	}
	return events, nil
}

// fromSeconds reads seconds, to the nanosecond. What no Duration holds is not read.
func fromSeconds(text string) (time.Duration, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(f) < math.MaxInt64/1e9) {
		return 0, false
	}
	return time.Duration(math.Round(f * 1e9)), true
}

// parser reads a duration of a flag.
type parser func(flag, text string) (time.Duration, error)

// events shows what a Pacer answers to the events. read is how its durations are written.
func (c *Command) events(std *frame.IO, s strategy.Strategy, read parser) error {
	if c.Plot || c.Samples != 0 || c.Jitter != "" {
		return frame.Usage("delays: --plot, --samples and --jitter do not go with events; see --jitter-factor")
	}
	p := &strategy.Pacer{
		Strategy: s, JitterFactor: c.JitterFactor, MaxAttempts: c.MaxAttempts,
		ConsiderActualDelay: c.ConsiderActualDelay, Compat010: c.Compat010, Rand: c.random(),
	}
	for _, d := range []struct {
		flag, text string
		at         *time.Duration
	}{
		{"--min-delay", c.MinDelay, &p.MinDelay}, {"--max-delay", c.MaxDelay, &p.MaxDelay},
		{"--max-actual-duration", c.MaxActualDuration, &p.MaxDuration}, {"--delay-on-success", c.DelayOnSuccess, &p.DelayOnSuccess},
	} {
		if d.text == "" {
			continue
		}
		v, err := read(d.flag, d.text)
		if err != nil {
			return err
		}
		if *d.at = v; v == 0 && d.flag == "--max-delay" {
			*d.at = 1 // a cap of zero, see Pacer
		}
	}
	if c.Start != "" {
		d, ok := fromSeconds(c.Start)
		if !ok {
			return frame.Usage("--start %s: must be seconds since 1970", c.Start)
		}
		p.Start = time.Unix(0, int64(d))
	}
	if err := p.Validate(); err != nil {
		return frame.Usage("delays: %v", err)
	}
	events, err := readEvents(c.Event, time.Now())
	if err != nil {
		return err
	}
	waits := make([]time.Duration, len(events))
	for i, e := range events {
		var ok bool
		if e.success {
			waits[i] = p.Success(e.at)
		} else if waits[i], ok = p.Failure(e.at); !ok {
			waits[i] = gaveUp
		}
	}
	if c.Algorithm.Algorithm != "" {
		for i, d := range waits {
			if d != gaveUp {
				waits[i] = d.Round(10 * time.Nanosecond) // what a zero that was written as a nanosecond may have added
			}
		}
		return c.write(std, waits, plainSeconds)
	}
	return c.write(std, waits, seconds)
}
