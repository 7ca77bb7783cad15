package cenkalti

import (
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// permanent returns the first PermanentError in err's tree, as errors.As finds it, but none that is nil, and none within
// the *retry.Error of another call.
func permanent(err error) (found *PermanentError) {
	errtree.Walk(err, func(err error) bool {
		if p, ok := err.(*PermanentError); ok {
			found = p
		} else if e, ok := err.(interface{ As(any) bool }); ok && !e.As(&found) {
			found = nil
		}
		return found == nil
	})
	return found
}

// Condition stops for failures that v4's Permanent marks, anywhere in their tree, and knows nothing of others. It is for
// retry.WithCondition, where operations go on using v4's mark. Such a failure comes back as the operation returned it: with
// the text around the mark and the errors beside it, and with the mark, through which errors.Is and errors.As see.
//
// It is safe for concurrent use.
func Condition() condition.Condition { return stopPermanent }

var stopPermanent condition.Condition = condition.Func(func(err error) condition.Verdict {
	if permanent(err) != nil {
		return condition.Stop
	}
	return condition.Unknown
})
