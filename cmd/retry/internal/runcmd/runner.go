package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/statefile"
	"github.com/seed-89b3229b/retry/throttle"
)

// runner drives a retry.Flow: it starts the attempts, waits the waits, and says what happens.
type runner struct {
	*process
	settings *settings
	std      *frame.IO
	log      *logger
	clock    clock
	headers  *headerFile
	state    *statefile.State // nil: none
	flow     retry.Flow
	began    time.Time
	deadline time.Time // zero: none
	row      int       // good ends in a row
	last     *result
	report   report
}

func newRunner(c *Command, s *settings, std *frame.IO) (r *runner, err error) {
	r = &runner{settings: s, std: std, clock: clock{skips: c.NoWait}}
	r.process = &process{argv: c.Argv, signal: termSignal, grace: s.grace, command: c}
	if c.Signal.number > 0 {
		r.signal = c.Signal.number
	}
	terminal := isTerminal(std.Stdin)
	if terminal {
		r.tty = std.Stdin
	}
	if r.foreground = terminal; c.Foreground != nil {
		r.foreground = *c.Foreground
	}
	watch := c.UntilOutput.given() || c.OnOutput.given() || c.StopOutput.given() || c.ThrottledOutput.given() || c.AfterOutput.given()
	r.stdout = &stream{file: std.Stdout, mode: c.Stdout, watch: watch}
	r.stderr = &stream{file: std.Stderr, mode: c.Stderr, watch: watch}
	if r.stdin, err = newInput(c.Stdin, std.Stdin, !r.foreground); err != nil {
		return nil, err
	}
	if r.log, err = c.newLogger(std, s); err != nil {
		return nil, err
	}
	var more []retry.Option
	if c.State != "" {
		r.state = statefile.Open(c.State, s.strategy, r.log.warn)
		more = append(more, retry.WithThrottle(r.state))
	}
	policy, err := s.policy(more...)
	if err != nil {
		return nil, err
	}
	if c.Headers {
		if r.headers, err = newHeaderFile(); err != nil {
			return nil, frame.Usage("--headers: %v", err)
		}
	}
	r.signals = listen(r.foreground)
	r.began = r.clock.now()
	if s.deadline > 0 {
		r.deadline = r.began.Add(s.deadline)
	}
	r.flow = policy.Begin(r.began, r.deadline, nil)
	if os.Getenv("RETRY_ATTEMPT") != "" {
		r.log.warn("this is within an attempt of another retry: attempts multiply")
	}
	return r, nil
}

// main makes the run, and returns its exit status as an error.
func (r *runner) main() error {
	defer r.log.close()
	ctx := context.Background()
	step := r.flow.Next(ctx, r.clock.now())
	var died os.Signal
	for step.Action != retry.Done {
		switch step.Action {
		case retry.Go:
			step, died = r.attempt(ctx)
		case retry.Wait:
			died = r.clock.wait(step.Delay, r.signals, r.log.progress.countdown(r.log.of(r.report.Attempts+1)))
			r.log.progress.erase()
			if died == nil {
				step = r.flow.Next(ctx, r.clock.now())
			}
		}
		if died != nil {
			step = r.flow.Abort(ctx, r.clock.now(), throttle.Canceled)
		}
	}
	code, err := r.end(step, died)
	if died != nil {
		r.log.close()
		code = die(died)
	}
	if err != nil {
		return err
	}
	return frame.Exit(code)
}

// attempt makes one, and tells the flow.
func (r *runner) attempt(ctx context.Context) (step retry.Step, died os.Signal) {
	number := r.report.Attempts + 1
	if r.headers != nil {
		_ = r.headers.clear()
	}
	r.log.starts(number)
	limit, whole := r.limit()
	one, died := r.process.attempt(r.environment(number), limit)
	now := r.clock.now()
	one.number, one.deadline = number, one.timeout && whole
	if r.last = one; died != nil {
		r.report.add(one)
		r.log.attempted(one, false)
		return step, died
	}
	if r.headers != nil {
		one.told = r.headers.read(now)
	}
	if s := r.command.AfterOutput.wait(one, now); s.HasDelay {
		one.told = s
	}
	v := r.command.decide(one)
	r.report.add(one)
	r.log.attempted(one, v == well)
	if v != well {
		r.row = 0
		step = r.flow.Report(ctx, now, one.outcome(v))
	} else if r.row++; r.row < r.command.Successes {
		step = r.flow.Again(ctx, now)
	} else {
		step = r.flow.Report(ctx, now, throttle.Outcome{Duration: one.duration})
	}
	if r.state != nil {
		r.state.After(now, step, one.told.HasDelay)
	}
	if step.Action == retry.Wait {
		r.settle(false, false)
		r.report.Waits = append(r.report.Waits, *millis(step.Delay))
		if v != well || r.command.Verbose || r.log.json {
			r.log.retries(one, step)
		}
	}
	return step, nil
}

// settle decides on what is held of the last attempt's output.
func (r *runner) settle(good, last bool) {
	for _, err := range []error{r.stdout.settle(good, last, r.std.Stderr), r.stderr.settle(good, last, nil)} {
		if err != nil && r.last != nil && r.last.broken == nil {
			r.last.broken = err
		}
	}
}

// limit is how long the next attempt may take, and whether it is the deadline that says so. 0: no limit.
func (r *runner) limit() (d time.Duration, whole bool) {
	d = r.settings.config.AttemptTimeout
	if r.deadline.IsZero() {
		return d, false
	}
	if left := max(r.deadline.Sub(r.clock.now()), 1); d == 0 || left <= d {
		return left, true
	}
	return d, false
}

// environment is what the command finds.
func (r *runner) environment(number int) []string {
	previous := ""
	if r.last != nil {
		previous = strconv.Itoa(r.last.code)
	}
	env := append(os.Environ(), "RETRY_ATTEMPT="+strconv.Itoa(number), "RETRY_LIMIT="+r.settings.config.MaxAttempts.String(), "RETRY_PREV_EXIT="+previous)
	if r.headers != nil {
		env = append(env, "RETRY_HEADERS="+r.headers.path)
	}
	return env
}

// end says how the run ended, and returns its exit status.
func (r *runner) end(step retry.Step, died os.Signal) (code int, err error) {
	ok := died == nil && r.last != nil && step.Err == nil
	r.settle(ok, true)
	if r.headers != nil {
		r.headers.remove()
	}
	if r.last != nil && r.last.broken != nil {
		ok, err = false, r.last.broken
	}
	reason := reasonOf(step, r.last)
	switch {
	case died != nil:
		reason, code = fmt.Sprintf("%v came", died), signalCode(died)
	case err != nil:
		code = frame.Failed
	case r.last == nil && step.Source == retry.SourceThrottle:
		code = codeNotNow
		until := r.clock.now().Add(step.Delay)
		r.log.text("not before %s (in %s)", until.Format("15:04:05"), step.Delay.Round(time.Second))
	case r.last == nil, errors.Is(step.Reason, retry.ErrDeadline):
		code = codeTimeout
	case ok && r.command.Zero:
	default:
		if code = r.last.code; code == 0 && !ok {
			code = 1 // 0 would say that all went well
		}
	}
	elapsed := r.clock.now().Sub(r.began)
	if err == nil && code != codeNotNow || r.last != nil && err == nil {
		r.log.ended(r.report.Attempts, r.last, ok, reason, elapsed)
	}
	r.report.Exit, r.report.OK, r.report.Reason, r.report.Elapsed = code, ok, reason, *millis(elapsed)
	if failed := r.report.write(r.command.Report, r.std); failed != nil && err == nil {
		err = frame.Usage("--report: %v", failed)
	}
	return code, err
}

// reasonOf is why a run ended, in words.
func reasonOf(step retry.Step, last *result) string {
	switch {
	case step.Err == nil:
		return "success"
	case errors.Is(step.Reason, retry.ErrNotRetryable):
		return "not repeated"
	case errors.Is(step.Reason, retry.ErrHintTooLong):
		return fmt.Sprintf("asked to wait %s, which is above --max-hint", short(step.Delay))
	}
	text := step.Reason.Error()
	if len(text) > 7 && text[:7] == "retry: " {
		text = text[7:]
	}
	return text
}
