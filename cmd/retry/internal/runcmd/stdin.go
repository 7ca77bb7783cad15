package runcmd

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/spool"
)

// input gives every attempt the same standard input.
type input struct {
	file   *os.File // handed to the command; nil: /dev/null
	start  int64    // where a regular file stood; below 0: it is not rewound
	replay *replay  // nil: the command reads file itself

	read *os.File // the attempt's end of the pipe
	stop func()   // ends the pump
}

func newInput(mode string, stdin *os.File, background bool) (*input, error) {
	in := &input{file: stdin, start: -1}
	info, err := stdin.Stat()
	if err != nil || mode == "none" { // closed: nothing to read
		return &input{start: -1}, nil
	}
	device := info.Mode()&os.ModeCharDevice != 0
	switch {
	case background && device && isTerminal(stdin): // or the command is stopped when it reads
		return &input{start: -1}, nil
	case mode == "inherit", mode == "auto" && device:
	case info.Mode().IsRegular():
		if in.start, err = stdin.Seek(0, io.SeekCurrent); err != nil {
			return nil, frame.Usage("standard input: %v", err)
		}
	default:
		in.replay = &replay{source: stdin}
		in.replay.changed.L = &in.replay.mu
	}
	return in, nil
}

// open returns what the next attempt reads; nil: nothing. failed is called if the input can't be kept or read.
func (in *input) open(failed func(error)) (f *os.File, err error) {
	if in.replay == nil {
		if in.start >= 0 {
			_, err = in.file.Seek(in.start, io.SeekStart)
		}
		return in.file, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in.read, in.stop = r, in.replay.pump(w, failed)
	return r, nil
}

// begun is called when the command has its end of the pipe. Without ours, writing ends when the command has gone.
func (in *input) begun() {
	if in.read != nil {
		_ = in.read.Close()
		in.read = nil
	}
}

// ended is called when the attempt is over.
func (in *input) ended() {
	in.begun()
	if in.stop != nil {
		in.stop()
		in.stop = nil
	}
}

// replay reads a source as far as the attempts want it, and keeps what was read.
type replay struct {
	source *os.File

	mu      sync.Mutex
	changed sync.Cond
	kept    spool.Buffer
	wanted  int64 // how far an attempt has come
	err     error // io.EOF: all was read
	reading bool
}

// pump writes all of the input to w, in a goroutine, until w's reader has gone or stop is called.
func (r *replay) pump(w *os.File, failed func(error)) (stop func()) {
	done, stopped := make(chan struct{}), false
	go func() {
		defer close(done)
		defer func() { _ = w.Close() }()
		buffer := make([]byte, 32<<10)
		var at int64
		for {
			n, err := r.next(buffer, at, &stopped)
			if n == 0 {
				if err != nil && !errors.Is(err, io.EOF) {
					failed(err)
				}
				return
			}
			if _, err := w.Write(buffer[:n]); err != nil {
				return // it wants no more
			}
			at += int64(n)
		}
	}()
	return func() {
		r.mu.Lock()
		stopped = true
		r.mu.Unlock()
		r.changed.Broadcast()
		_ = w.Close() // ends a Write that nobody reads
		<-done
	}
}

// next waits until there is input at that place. n 0: there is none and will be none.
func (r *replay) next(buffer []byte, at int64, stopped *bool) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case *stopped:
			return 0, nil
		case at < r.kept.Len():
			n, err = r.kept.ReadAt(buffer, at)
			if n > 0 {
				return n, nil
			}
			return 0, err
		case r.err != nil:
			return 0, r.err
		}
		r.wanted = max(r.wanted, at+1)
		if !r.reading { // one goroutine reads, for good: a read that waits for more cannot be broken off
			r.reading = true
			go r.read()
		}
		r.changed.Broadcast()
		r.changed.Wait()
	}
}

// read reads the source whenever an attempt wants more than is kept.
func (r *replay) read() {
	buffer := make([]byte, 32<<10)
	for {
		r.mu.Lock()
		for r.wanted <= r.kept.Len() {
			r.changed.Wait()
		}
		r.mu.Unlock()
		n, err := r.source.Read(buffer)
		r.mu.Lock()
		if n > 0 {
			if _, full := r.kept.Write(buffer[:n]); full != nil {
				err = full
			}
		}
		r.err = err
		r.mu.Unlock()
		r.changed.Broadcast()
		if err != nil {
			return
		}
	}
}
