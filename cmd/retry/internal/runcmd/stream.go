package runcmd

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/spool"
)

// drainTime is how long output is waited for that somebody else than the command holds open, when the command has ended.
const drainTime = time.Second

// stream is one output of the attempts.
type stream struct {
	file  *os.File // ours
	mode  string   // as of the flag
	watch bool     // expressions look at it

	held  spool.Buffer
	tail  *tail
	read  *os.File // our end of the attempt's pipe; nil: it writes to file itself
	write *os.File
	done  chan error
}

// open returns what the next attempt writes to; nil: nowhere.
func (s *stream) open() (f *os.File, err error) {
	s.tail, s.read, s.write = nil, nil, nil
	if s.mode == "none" && !s.watch {
		return nil, nil
	}
	if s.mode == "pass" && !s.watch {
		return s.file, nil
	}
	if s.read, s.write, err = os.Pipe(); err != nil {
		return nil, err
	}
	return s.write, nil
}

// started begins to read, once the command has its end of the pipe. failed is called if what was read can't be kept.
func (s *stream) started(failed func(error)) {
	if s.read == nil {
		return
	}
	_ = s.write.Close()
	var to []io.Writer
	switch s.mode {
	case "pass":
		to = append(to, s.file)
	case "success", "last":
		to = append(to, &s.held)
	}
	if s.watch {
		s.tail = new(tail)
		to = append(to, s.tail)
	}
	s.done = make(chan error, 1)
	go func() {
		_, err := io.Copy(io.MultiWriter(to...), s.read)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) {
			failed(err)
		}
		s.done <- err
	}()
}

// ended waits until all that the command wrote has been read. What it left in the background may hold the pipe open.
func (s *stream) ended() {
	if s.read == nil {
		return
	}
	if s.done == nil { // it was not started
		_ = s.write.Close()
	} else {
		timer := time.NewTimer(drainTime)
		defer timer.Stop()
		select {
		case <-s.done:
		case <-timer.C:
			if s.read.SetReadDeadline(time.Now()) != nil {
				_ = s.read.Close()
			}
			<-s.done
		}
	}
	_ = s.read.Close()
	s.read, s.done = nil, nil
}

// settle decides on what is held of an attempt that is over. isStdout: what another attempt than the one that ended well
// wrote there goes to stderr, so that it is not lost.
func (s *stream) settle(good, last bool, other *os.File) error {
	defer func() { _ = s.held.Close() }()
	var err error
	switch {
	case s.mode == "success" && good, s.mode == "last" && last:
		_, err = s.held.WriteTo(s.file)
	case s.mode == "success" && other != nil:
		_, err = s.held.WriteTo(other)
	}
	return err
}
