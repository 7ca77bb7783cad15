package retryhttp

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

// ErrStalled is matched by the failure of an attempt that got nothing for as long as Download.Stall. Its Timeout method
// returns true, as that of all errors for lack of time.
var ErrStalled error = errStalled

var errStalled = &stalledError{}

type stalledError struct{}

func (*stalledError) Error() string   { return "retryhttp: nothing came for as long as Download.Stall" }
func (*stalledError) Timeout() bool   { return true }
func (*stalledError) Temporary() bool { return true }

// broke judges an attempt whose answer could not be read.
func (f *flight) broke(err error, whose fault) *throttle.Outcome {
	fail := &Failure{Request: f.request, Sent: true, Err: err}
	f.failure, f.unknown = fail, true
	o := &throttle.Outcome{Err: fail}
	switch whose {
	case ofAnswer:
		fail.verdict = condition.Retry
	default:
		fail.verdict = condition.Stop
	}
	switch {
	case whose == ofCaller:
		o.Decided = throttle.No
	case !f.repeatable():
		f.forbid(o, fail, f.safe)
	case !f.safe:
		f.forbid(o, fail, false)
	}
	return o
}

// watchedBody is the body of an answer while it is read. It remembers how it broke off.
type watchedBody struct {
	io.ReadCloser
	stall *stall
	err   error
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.stall.wait()
	n, err := b.ReadCloser.Read(p)
	b.stall.rest()
	if err != nil && err != io.EOF {
		if b.stall.fired() {
			err = errStalled
		}
		b.err = err
	}
	return n, err
}

// stall ends an attempt that gets nothing for too long. A nil stall never does.
type stall struct {
	after time.Duration
	timer *time.Timer
	late  *atomic.Bool // of the attempt
}

// begin starts to wait for the answer's header.
func (s *stall) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	late := new(atomic.Bool)
	timer := time.AfterFunc(s.after, func() {
		late.Store(true)
		cancel()
	})
	s.timer, s.late = timer, late
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// wait and rest are called around each wait for the peer: what the caller does with the bytes is not its time.
func (s *stall) wait() {
	if s != nil {
		s.timer.Reset(s.after)
	}
}

func (s *stall) rest() {
	if s != nil {
		s.timer.Stop()
	}
}

func (s *stall) fired() bool { return s != nil && s.late.Load() }
