package condition

import (
	"context"
	"os"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Timeout returns a Condition that says Retry for a failure for lack of time, and is Unknown for any other: an error in
// the tree has a method Timeout() bool that is true (net.Error and its kin), or matches context.DeadlineExceeded or
// os.ErrDeadlineExceeded.
//
// The deadline of the caller's own context never gets here: the executor ends the call when that passes, before it asks
// conditions. What does are the timeouts of single attempts, of connections, clients and servers.
//
// The Condition is safe for concurrent use.
func Timeout() Condition {
	return timeout{}
}

type timeout struct{}

func (timeout) Check(err error) Verdict {
	if find(err, isTimeout) {
		return Retry
	}
	return Unknown
}

func isTimeout(err error) bool {
	return errtree.TimedOut(err) || is(err, context.DeadlineExceeded) || is(err, os.ErrDeadlineExceeded)
}
