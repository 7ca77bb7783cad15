package runcmd

import (
	"os"
	"time"
)

// clock is the time that a run lives by. With skips, waits pass at once and time goes on as if they had been waited.
type clock struct {
	skips   bool
	skipped time.Duration
}

func (c *clock) now() time.Time { return time.Now().Add(c.skipped) }

// wait waits, and returns the signal that broke it off. each is called now and every second.
func (c *clock) wait(d time.Duration, signals <-chan os.Signal, each func(left time.Duration)) os.Signal {
	if c.skips {
		c.skipped += d
		select {
		case s := <-signals:
			if isFatal(s) {
				return s
			}
		default:
		}
		return nil
	}
	end := time.Now().Add(d)
	timer := time.NewTimer(d)
	defer timer.Stop()
	var ticks <-chan time.Time
	if each != nil {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		ticks = ticker.C
		each(d)
	}
	for {
		select {
		case <-timer.C:
			return nil
		case <-ticks:
			each(max(time.Until(end), 0))
		case s := <-signals:
			if isFatal(s) {
				return s
			}
			pause(s)
		}
	}
}
