package retry

import (
	"context"
	"iter"
	"slices"

	"github.com/seed-89b3229b/retry/throttle"
)

// Loop is a call whose attempts are the iterations of a for statement:
//
//	loop := retry.NewLoop(ctx, policy)
//	for try := range loop.Tries() {
//		if err := step(try.Context()); err != nil {
//			try.Fail(err)
//			continue // another try, after a wait
//		}
//		break // done
//	}
//	return loop.Err()
//
// An iteration says how it went: break (or return) is a success, Fail a failure, Fail(nil) a success too, and Again neither.
// One that comes to its end without a word, by continue or at the bottom of the body, is a mistake in the body: it may have
// been a failure that would be lost, or a success that would be repeated. It ends the loop, and Err says so. One goroutine at a
// time.
type Loop struct {
	ctx  context.Context
	opts []Option
	err  error
	used bool
}

// NewLoop makes a Loop with the options of Do; those for typed results (WithResults, WithRetryResult, WithFallback) make a
// *ConfigError. Options that cannot be used give no iteration, and Err is the *ConfigError.
func NewLoop(ctx context.Context, opts ...Option) *Loop {
	return &Loop{ctx: ctx, opts: slices.Clone(opts)}
}

// Tries returns the attempts, with the waits between them. A break or return in the body ends the call and leaves nothing
// behind. A second use yields nothing.
func (l *Loop) Tries() iter.Seq[*Try] {
	return func(yield func(*Try) bool) {
		if l.used {
			return
		}
		l.used = true
		var c config
		if l.err = c.merge(l.opts); l.err != nil {
			return
		}
		if l.err = c.untyped("a Loop, which has no result"); l.err != nil {
			return
		}
		number, left, again := 0, false, false
		w := work{
			try: func(ctx context.Context) error {
				number++
				try := &Try{ctx: ctx, number: number} // one each: a Try that is kept does not become the next
				left = !yield(try)
				again = try.again && !left
				if !left && !try.said {
					return errUnsaid
				}
				return try.err
			},
			classify: func(err error) throttle.Outcome {
				switch {
				case err == errUnsaid:
					return throttle.Outcome{Err: err, Decided: throttle.No, Class: throttle.Canceled}
				case left && err != nil:
					return throttle.Outcome{Err: err, Decided: throttle.No, Class: throttle.Transient}
				}
				return throttle.Outcome{Err: err}
			},
			sequel: func() sequel {
				if again {
					return unfinished
				}
				return finished
			},
		}
		err := errPanicked // unless drive returns
		defer func() { l.err = err }()
		err = drive(l.ctx, &c, &w, nil)
	}
}

// Err returns how the loop ended, as Do would: nil after a success. After Fail and a break it is that error, after an iteration
// without a word, and after a panic in the body that was recovered outside of the loop, an error that says so. It is nil until
// the loop has ended.
func (l *Loop) Err() error { return l.err }

// Try is one attempt of a Loop. It ends with its iteration: what is done to it later has no effect.
type Try struct {
	ctx    context.Context
	number int
	err    error
	again  bool
	said   bool // Fail or Again was called
}

// Context returns the attempt's context.
func (t *Try) Context() context.Context { return t.ctx }

// Number returns the attempt's number, from 1.
func (t *Try) Number() int { return t.number }

// Fail makes the attempt a failure with err; nil makes it a success. Of Fail and Again, the last call counts.
func (t *Try) Fail(err error) { t.err, t.again, t.said = err, false, true }

// Again makes the attempt neither a failure nor the end: not done yet, as in a Poll. Another iteration follows, after the
// wait of a first failure; no attempt is counted, no budget charged, and no hook or logger called. It ends a run of
// failures, so that WithMaxAttempts counts failures in a row. After a break it is a success. Of Fail and Again, the last
// call counts.
func (t *Try) Again() { t.err, t.again, t.said = nil, true, true }
