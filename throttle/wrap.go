package throttle

import "github.com/seed-89b3229b/retry/internal/errtree"

// Wrap returns err carrying s, as a Carrier: FromError finds it, and so does a policy in the error of its operation. The
// text is err's, and errors.Is and As look through. Nil, a nil pointer too, stays what it is, and so does every err if s
// said nothing. As with retry.After, what carries it is removed at the top of an error: a call returns, observes and keeps err.
func (s Signal) Wrap(err error) error {
	if errtree.IsNil(err) || s.IsZero() {
		return err
	}
	return &carried{err, s}
}

// carried is an error with what was said about it.
type carried struct {
	error
	signal Signal
}

func (c *carried) Unwrap() error                  { return c.error }
func (c *carried) RetryMark() errtree.Marked      { return errtree.Marked{Err: c.error} }
func (c *carried) ThrottleSignal() (Signal, bool) { return c.signal, true }
