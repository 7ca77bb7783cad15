package runcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"time"
)

// process is what attempts have in common.
type process struct {
	argv       []string
	stdin      *input
	stdout     *stream
	stderr     *stream
	foreground bool
	tty        *os.File // standard input, where that is the terminal
	signal     int
	grace      time.Duration
	signals    <-chan os.Signal
	command    *Command
}

// attempt runs the command once. limit is how long it may take; 0: no limit. died is the signal that came to us meanwhile.
func (p *process) attempt(env []string, limit time.Duration) (r *result, died os.Signal) {
	r = new(result)
	began := time.Now()
	defer func() { r.duration = time.Since(began) }()
	broken := make(chan error, 3) // one for each stream
	failed := func(err error) {
		select {
		case broken <- err:
		default:
		}
	}
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env = env
	g := group{foreground: p.foreground}
	g.prepare(cmd)
	done, err := p.start(cmd, failed)
	if err != nil {
		r.broken = err
		return r, nil
	}
	defer done()
	if err := cmd.Start(); err != nil {
		r.fail(p.argv[0], err)
		return r, nil
	}
	exited := make(chan error, 1)
	p.stdin.begun()
	p.stdout.started(failed)
	p.stderr.started(failed)
	if err := g.started(cmd.Process); err != nil {
		failed(err)
	}
	go func() { exited <- cmd.Wait() }()
	died = p.watch(r, &g, exited, broken, limit)
	r.code, r.signal = ended(cmd.ProcessState)
	if r.timeout {
		r.code, r.signal = codeTimeout, 0
	}
	stays := r.broken == nil && died == nil && p.command.ends(r)
	if !stays {
		g.over(false) // now, so that nothing holds its output open
	}
	p.stdin.ended()
	p.stdout.ended()
	p.stderr.ended()
	if r.broken == nil {
		select {
		case r.broken = <-broken:
		default:
		}
	}
	r.stdout, r.stderr = p.stdout.tail, p.stderr.tail
	if stays {
		g.over(p.command.decide(r) == well)
	}
	return r, died
}

// start opens the streams. done closes what is left of them.
func (p *process) start(cmd *exec.Cmd, failed func(error)) (done func(), err error) {
	in, err := p.stdin.open(failed)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	done = func() { p.stdin.ended(); p.stdout.ended(); p.stderr.ended() }
	out, err := p.stdout.open()
	if err == nil {
		var errs *os.File
		if errs, err = p.stderr.open(); err == nil {
			// A nil *os.File in an io.Reader would not be nil.
			if in != nil {
				cmd.Stdin = in
			}
			if out != nil {
				cmd.Stdout = out
			}
			if errs != nil {
				cmd.Stderr = errs
			}
			return done, nil
		}
	}
	done()
	return nil, err
}

// watch waits for the command's end, and sees to it that it comes in time.
func (p *process) watch(r *result, g *group, exited <-chan error, broken <-chan error, limit time.Duration) (died os.Signal) {
	var up, kill <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		up = timer.C
	}
	grace := func() {
		if kill == nil {
			timer := time.NewTimer(p.grace)
			kill = timer.C
		}
	}
	for {
		select {
		case <-exited:
			return died
		case <-up:
			r.timeout, up = true, nil
			g.end(p.signal)
			grace()
		case <-kill:
			kill = nil
			g.kill()
		case r.broken = <-broken:
			broken = nil
			g.kill()
		case s := <-p.signals:
			switch {
			case !isFatal(s):
				g.forward(s)
				pause(s)
			case died != nil:
				g.kill()
			default:
				died = s
				if !p.foreground || !fromKeyboard(s, p.tty) {
					g.forward(s)
					g.resume()
				}
				grace()
			}
		}
	}
}

// fail is an attempt that could not be started.
func (r *result) fail(name string, err error) {
	var path *fs.PathError
	var look *exec.Error
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &look):
		err = look.Err
	}
	r.cannot = fmt.Errorf("cannot run %s: %w", name, err)
	switch {
	case cannotFork(err):
		r.broken = r.cannot
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		r.code = codeNotFound
	default:
		r.code = codeCannotRun
	}
}
