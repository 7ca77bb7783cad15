package alibaba

import (
	"time"

	"github.com/seed-89b3229b/retry/strategy"
)

// curve is the policy's own wait where no cool-down lasts longer, and none where one does: the whole wait is the
// throttle's then, and the whole of it is compared with the limit.
type curve struct {
	strategy.EqualJitter
	hold    *hold // nil: the control is off
	invalid error
}

func (c curve) Next(s strategy.State) (delay time.Duration, ok bool) {
	delay, ok = c.EqualJitter.Next(s)
	if c.hold != nil && !s.Now.IsZero() && c.hold.rest(s.Now) > delay {
		return 0, ok
	}
	return delay, ok
}

func (c curve) Validate() error { return c.invalid }
