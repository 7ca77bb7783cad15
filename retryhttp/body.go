package retryhttp

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

var errDetached = errors.New("retryhttp: read of a request body after its attempt was over")

// source is a request body that cannot be had anew. Attempts read it by leases, one after the other. What they read is
// kept, up to a limit, for the next; once more than that was read there cannot be a next. Base may read and close a
// lease in a goroutine of its own after the attempt is over: what it gets is kept too, and the next lease waits for it.
type source struct {
	body  io.ReadCloser
	limit int64

	reading sync.Mutex // held while body is read
	mu      sync.Mutex // guards what follows, and is not held while body is read or closed
	kept    []byte
	taken   int64 // read, or being read, at most
	err     error // of body: io.EOF at its end
	current *lease
	ended   bool
	closed  bool
}

// lease is the body of one attempt.
type lease struct {
	from   *source
	at     int // how much of what is kept was read
	closed bool
}

// lease takes the body from the attempt before, if any, and returns it for the next.
func (s *source) lease() *lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = &lease{from: s}
	return s.current
}

// again is the GetBody of an attempt's request: net/http sends some requests again by itself.
func (s *source) again() (io.ReadCloser, error) {
	if !s.repeatable() {
		return nil, fmt.Errorf("%w: more than BufferBody was read of it", ErrBody)
	}
	return s.lease(), nil
}

// repeatable reports whether another lease can read the whole body.
func (s *source) repeatable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken <= max(s.limit, 0) && (s.err == nil || s.err == io.EOF)
}

// end says that there will be no further lease. The body is closed with the current one, or now if nobody has that.
func (s *source) end(unused bool) {
	s.mu.Lock()
	s.ended = true
	if unused {
		s.current = nil
	}
	_ = s.settle()
}

// settle closes the body if that is due. The caller holds mu; settle releases it.
func (s *source) settle() error {
	last := s.current
	due := s.ended && !s.closed && (last == nil || last.closed)
	s.closed = s.closed || due
	s.mu.Unlock()
	if due {
		return s.body.Close()
	}
	return nil
}

// Read reads what is kept, then the body.
func (l *lease) Read(p []byte) (int, error) {
	if n, done, err := l.recall(p); done {
		return n, err
	}
	s := l.from
	s.reading.Lock()
	defer s.reading.Unlock()
	if n, done, err := l.recall(p); done { // somebody else was reading
		return n, err
	}
	s.begin(len(p))
	n, err := 0, errDetached
	defer func() { s.came(l, p[:n], len(p), err) }() // a panic in Read passes through
	n, err = s.body.Read(p)
	return n, err
}

// begin counts a read of up to n bytes.
func (s *source) begin(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken += int64(n)
}

// came counts what a read gave, and keeps it while that is of use.
func (s *source) came(l *lease, p []byte, asked int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= int64(asked - len(p))
	s.err = err
	if s.taken > s.limit {
		return
	}
	s.kept = append(s.kept, p...)
	l.at += len(p)
}

// recall reads what needs no look at the body. Not done: there is nothing like that.
func (l *lease) recall(p []byte) (n int, done bool, err error) {
	s := l.from
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.current != l || l.closed:
		return 0, true, errDetached
	case l.at < len(s.kept):
		n = copy(p, s.kept[l.at:])
		l.at += n
		return n, true, nil
	}
	return 0, s.err != nil || len(p) == 0, s.err
}

// Close ends the lease. The body itself is closed with the last one.
func (l *lease) Close() error {
	l.from.mu.Lock()
	l.closed = true
	return l.from.settle()
}
