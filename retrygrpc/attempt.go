package retrygrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// attempt is one stream on the wire. The fields below the context's are under the stream's mu.
type attempt struct {
	s      *stream
	cancel context.CancelFunc

	inner  grpc.ClientStream // nil: none was made
	next   int               // how many of the kept messages it has
	busy   bool              // a message is on its way, or the replay is
	halved bool              // its side was closed
	broken bool              // it takes no more messages
	ended  bool              // gRPC has reported its end, with err
	err    error
}

// try makes one attempt: it returns when the attempt has failed, or is committed.
func (s *stream) try(ctx context.Context) (*stream, error) {
	s.number++
	a := &attempt{s: s}
	ctx, a.cancel = context.WithCancel(ctx)
	if s.number > 1 {
		s.options.reset()
		ctx = withPrevious(ctx, s.number-1)
	}
	s.mu.Lock()
	s.latest = a
	s.mu.Unlock()
	committed := false
	defer func() {
		if committed {
			return
		}
		a.cancel()
		s.mu.Lock()
		s.running = nil
		s.mu.Unlock()
	}()

	passed := s.options.passed
	inner, err := s.streamer(ctx, s.desc, s.cc, s.name, append(passed[:len(passed):len(passed)], grpc.OnFinish(a.onFinish))...)
	if err != nil {
		return s, err
	}
	if inner == nil {
		return s, status.Error(codes.Internal, "retrygrpc: an interceptor returned neither a stream nor an error")
	}
	a.open(inner)
	md, err := inner.Header()
	err = a.outcome(md != nil && err == nil, err)
	committed = err == nil
	return s, err
}

// open gives the attempt its stream, and begins the replay.
func (a *attempt) open(inner grpc.ClientStream) {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	a.inner = inner
	s.running, s.opened = a, true
	if len(s.kept) > 0 || s.half {
		a.busy = true
		// Beside the wait for the header: a server that answers while it reads would else fill the window of its answers, and
		// then no longer read.
		go a.replay()
	}
	s.changed.Broadcast()
}

// outcome is what an attempt has come to when Header has returned: nil if it is committed.
func (a *attempt) outcome(header bool, err error) error {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case header, a.ended && a.err == nil:
		return nil
	case a.ended:
		return a.err
	case err != nil:
		return err // of a stream that is not gRPC's own
	case s.ctx.Err() != nil:
		return status.FromContextError(s.ctx.Err()).Err() // gRPC reports the end a moment later
	}
	return nil // nobody knows what became of it: no repeat
}

// onFinish is gRPC's report of the attempt's end.
func (a *attempt) onFinish(err error) {
	s := a.s
	s.mu.Lock()
	first := !a.ended
	if first {
		a.ended, a.err = true, err
	}
	committed := s.final == a
	s.mu.Unlock()
	if first && committed {
		a.finish()
	}
}

// finish ends a committed attempt.
func (a *attempt) finish() {
	a.cancel()
	a.s.options.finished(a.err)
}

// replay sends what is kept, and closes the side if the caller has done so.
func (a *attempt) replay() {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for !a.broken && a.next < len(s.kept) {
		a.broken = a.send(s.kept[a.next]) != nil // its end says why
		if !a.broken {
			a.next++
		}
	}
	if s.half && !a.halved && !a.broken {
		a.halved = true
		s.mu.Unlock()
		a.inner.CloseSend()
		s.mu.Lock()
	}
	a.busy = false // in one step with the last look at half and kept: what comes later is the caller's to send
	s.forget(a)
	s.changed.Broadcast()
}

// send sends one message. The caller holds mu, which is released meanwhile.
func (a *attempt) send(m any) error {
	a.s.mu.Unlock()
	defer a.s.mu.Lock()
	return a.inner.SendMsg(m)
}
