package retrygrpc

import (
	"context"
	"io"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// SendMsg sends on the running attempt, and keeps the message for others while that is possible. It blocks between two attempts.
func (s *stream) SendMsg(m any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rethrow()
	index := s.keep(m)
	for {
		a := s.current()
		switch {
		case s.over, a != nil && a == s.final && a.broken:
			return s.closed()
		case a == nil:
		case index >= 0 && a.next > index:
			return nil // the replay has sent it
		case a.busy, a.broken: // the replay is on its way, or the attempt's end is
		case a.next == index, index < 0 && a.next >= len(s.kept):
			err := s.send(a, m, index)
			if err != io.EOF || index < 0 {
				return err
			}
			continue // the attempt has ended: perhaps there is another
		}
		s.changed.Wait()
		s.rethrow()
	}
}

// send sends the message with the given index, below 0 for one that is not kept. The caller holds mu.
func (s *stream) send(a *attempt, m any, index int) error {
	a.busy = true
	defer func() {
		a.busy = false
		s.changed.Broadcast()
	}()
	err := a.send(m)
	switch {
	case err != nil:
		a.broken = true
		if err != io.EOF {
			s.last = true // the message's own fault
		}
	case index >= 0:
		a.next++
		s.forget(a)
	default:
		s.kept = nil // this attempt is the last
	}
	return err
}

// keep keeps a message, if it can be and makes sense, and returns its index; below 0: not kept. The caller holds mu.
func (s *stream) keep(m any) int {
	if s.final != nil || s.last || s.over {
		return -1
	}
	if s.desc.ClientStreams {
		p, ok := m.(proto.Message)
		if !ok {
			s.last = true
			return -1
		}
		n := proto.Size(p)
		if n > s.limit-s.size {
			s.last = true
			return -1
		}
		s.size += n
	}
	s.kept = append(s.kept, m)
	return len(s.kept) - 1
}

// closed is what SendMsg returns when the stream has ended: RecvMsg says why. Generated code of methods whose request is one
// message takes an error of SendMsg for that of the call, and gRPC gives it none.
func (s *stream) closed() error {
	if s.desc.ClientStreams {
		return io.EOF
	}
	return nil
}

// CloseSend closes the caller's side, on the attempts that follow too.
func (s *stream) CloseSend() error {
	s.mu.Lock()
	s.half = true
	a := s.current()
	if a == nil || a.busy || a.halved { // the replay will do it, or has
		s.mu.Unlock()
		return nil
	}
	a.halved = true
	s.mu.Unlock()
	return a.inner.CloseSend()
}

// committed waits until there is nothing more to decide. Nil: the call has failed.
func (s *stream) committed() *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.final == nil && !s.over {
		s.changed.Wait()
	}
	s.rethrow()
	return s.final
}

// RecvMsg waits for an attempt that is committed, and receives from it.
func (s *stream) RecvMsg(m any) error {
	if a := s.committed(); a != nil {
		return a.inner.RecvMsg(m)
	}
	return s.err
}

// Header waits for an attempt that is committed. Like gRPC's own it leaves the error of the call to RecvMsg.
func (s *stream) Header() (metadata.MD, error) {
	if a := s.committed(); a != nil {
		return a.inner.Header()
	}
	return nil, nil
}

// Trailer is the committed attempt's, else the latest one's.
func (s *stream) Trailer() metadata.MD {
	s.mu.Lock()
	a := s.final
	if a == nil && s.latest != nil && s.latest.ended {
		a = s.latest
	}
	s.mu.Unlock()
	if a == nil || a.inner == nil {
		return nil
	}
	return a.inner.Trailer()
}

// Context is that of the running attempt, and makes it the last: what the caller does with it cannot be repeated.
func (s *stream) Context() context.Context {
	s.mu.Lock()
	s.last = true
	a := s.current()
	s.mu.Unlock()
	if a == nil {
		return s.ctx
	}
	return a.inner.Context()
}
