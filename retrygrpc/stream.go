package retrygrpc

import (
	"context"
	"runtime"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// stream is the grpc.ClientStream that the caller gets. Until an attempt is committed, because its header has come, a goroutine
// makes attempts; after that everything is passed on to that attempt's own stream.
//
// No lock is held while anything of gRPC's or the caller's runs.
type stream struct {
	ctx      context.Context // the caller's
	i        *Interceptor
	m        *method
	desc     *grpc.StreamDesc
	cc       *grpc.ClientConn
	name     string
	streamer grpc.Streamer
	options  callOptions
	limit    int // of bytes kept

	number int // of attempts; the goroutine's own

	mu      sync.Mutex
	changed sync.Cond // anything below
	kept    []any     // messages, for a replay
	size    int       // of those
	last    bool      // no attempt after the running one
	half    bool      // the caller has closed its side
	opened  bool      // there was a stream
	latest  *attempt
	running *attempt // takes messages; nil between attempts
	final   *attempt // committed
	over    bool     // the call has ended without a committed attempt, with err
	err     error
	panics  any // what left the goroutine: it is to leave the caller's too
	exited  bool
}

// Stream is a grpc.StreamClientInterceptor. It returns when a first stream is open, or the call has failed. The stream is repeated until
// the server's header has come, or there is none to come; Header and RecvMsg wait for that, and SendMsg between two attempts. Then
// it is the server's and the caller's alone, for as long as they like: no limit but that of ctx holds for it.
//
// The caller's call of Context, and a message that does not fit into BufferBytes, make the running attempt the last, as in gRPC. A
// panic in a callback of the policy leaves the next method that is called. The caller's OnFinish is called once, at the end of the
// committed attempt or of the call.
func (i *Interceptor) Stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, name string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s := &stream{ctx: ctx, i: i, desc: desc, cc: cc, name: name, streamer: streamer, options: readOptions(opts)}
	s.m = i.methodOf(cc, name, true, &s.options)
	if s.m.err != nil {
		err := surface(ctx, s.m.err)
		s.options.finished(err)
		return nil, err
	}
	s.limit = s.m.buffer
	if s.options.limited {
		s.limit = s.options.buffer
	}
	s.changed.L = &s.mu

	go s.run()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.opened && !s.over {
		s.changed.Wait()
	}
	s.rethrow()
	if !s.opened {
		return nil, s.err
	}
	return s, nil
}

// run makes the attempts.
func (s *stream) run() {
	returned := false
	defer func() {
		if returned {
			return
		}
		p := recover()
		s.mu.Lock()
		s.panics, s.exited = p, p == nil
		s.end(status.Error(codes.Canceled, "retrygrpc: left by a panic"))
		s.mu.Unlock()
	}()
	_, err := retry.Do(s.ctx, s.try, s.m.policy)
	if err == nil {
		s.commit()
	} else {
		err = surface(s.ctx, err)
		s.options.finished(err)
		s.mu.Lock()
		s.end(err)
		s.mu.Unlock()
	}
	returned = true
}

// end is the end without a committed attempt. The caller holds mu.
func (s *stream) end(err error) {
	s.over, s.err = true, err
	s.running, s.kept = nil, nil
	s.changed.Broadcast()
}

// commit hands the latest attempt to the caller.
func (s *stream) commit() {
	a := s.latest
	s.mu.Lock()
	ended := a.ended
	if !ended {
		s.hand(a)
	}
	s.mu.Unlock()
	if !ended {
		return
	}
	a.finish() // it has ended before it was committed, so nobody was told
	s.mu.Lock()
	s.hand(a)
	s.mu.Unlock()
}

// hand makes an attempt the final one. The caller holds mu.
func (s *stream) hand(a *attempt) {
	s.final = a
	s.forget(a)
	s.changed.Broadcast()
}

// forget drops the messages that the committed attempt has. The caller holds mu.
func (s *stream) forget(a *attempt) {
	if s.final == a && a.next >= len(s.kept) {
		s.kept = nil
	}
}

// rethrow lets what left the goroutine of the attempts leave the caller's. The caller holds mu, and defers its release.
func (s *stream) rethrow() {
	if s.panics != nil {
		panic(s.panics)
	}
	if s.exited {
		runtime.Goexit()
	}
}

// current is the attempt that takes messages; nil: none now. The caller holds mu.
func (s *stream) current() *attempt {
	if s.final != nil {
		return s.final
	}
	return s.running
}

func (s *stream) classify(err error) throttle.Outcome {
	if err == nil {
		return throttle.Outcome{}
	}
	s.mu.Lock()
	a, last := s.latest, s.last
	f := &Failure{Method: s.name, Sent: a.inner != nil || !a.ended, Err: err, status: statusOf(err)}
	readable := a.inner != nil && a.ended
	s.mu.Unlock()
	if readable {
		f.Trailer = a.inner.Trailer()
	}
	s.i.warnIfDoubled(s.ctx, s.cc, s.name, &s.options)
	return s.m.judge(f, false, last || isShut(s.cc))
}
