package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/seed-89b3229b/retry"
)

// progress is told what happens, by several goroutines at a time.
type progress interface {
	retrying(f *fetched, e retry.Event)
	done(f *fetched)
	end()
}

func newProgress(out, terminal io.Writer, total int) progress {
	if terminal != nil {
		return newBar(terminal, total)
	}
	return &lines{out: out, start: time.Now()}
}

// bar draws how many URLs are done, and says how many retries there were.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	retries   atomic.Int64
}

func newBar(terminal io.Writer, total int, opts ...mpb.ContainerOption) *bar {
	b := &bar{container: mpb.New(append(opts, mpb.WithOutput(terminal), mpb.WithWidth(60))...)}
	b.bar = b.container.AddBar(int64(total),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return fmt.Sprintf(" %d retries", b.retries.Load()) })),
	)
	return b
}

func (b *bar) retrying(*fetched, retry.Event) { b.retries.Add(1) }
func (b *bar) done(*fetched)                  { b.bar.Increment() }

// end leaves the bar as it is, and the cursor below it.
func (b *bar) end() {
	b.bar.Abort(false) // nothing if it is full
	b.container.Wait()
}

// lines writes a line for each thing that happens.
type lines struct {
	start time.Time

	mu  sync.Mutex
	out io.Writer
}

func (l *lines) retrying(f *fetched, e retry.Event) {
	l.say(f, "attempt %d failed: %s; again in %.3fs, %s", e.Number, short(e.Err), e.Delay.Seconds(), reasons[e.Source])
}

var reasons = map[retry.Source]string{
	retry.SourcePolicy:   "by the policy",
	retry.SourceServer:   "as the server asks",
	retry.SourceThrottle: "as the server asked another",
}

func (l *lines) done(f *fetched) { l.say(f, "%s", f.result()) }

func (l *lines) end() {}

func (l *lines) say(f *fetched, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%6.3fs  %s: %s\n", time.Since(l.start).Seconds(), f.url, fmt.Sprintf(format, args...))
}
