package retry

import "time"

// limit is what the wait that was not taken did not fit into, for the text of an Error: the reason alone names neither.
type limit struct {
	asked time.Duration // the wait
	most  time.Duration // what there was: of the limit, or until the deadline
	of    string        // whose limit it is
}

const (
	ofHint         = "WithMaxHint"
	ofHintLeft     = "what is left of WithMaxHint"
	ofElapsed      = "the start (WithMaxElapsed)"
	ofRetryElapsed = "the first failure (WithMaxRetryElapsed)"
	ofRule         = "its kind's first failure (WithRule)"
	ofDeadline     = "the deadline"
)

// text says why the wait did not fit; "" if that is not why the call ended.
func (l *limit) text() string {
	asked, most := readable(l.asked).String(), readable(l.most).String()
	if asked == most {
		asked, most = l.asked.String(), l.most.String() // the difference is what matters
	}
	switch {
	case l.of == "":
		return ""
	case l.of == ofHint, l.of == ofHintLeft:
		return "asked to wait " + asked + ", more than " + most + " (" + l.of + ")"
	case l.of != ofDeadline:
		return "the next wait of " + asked + " would not end within " + most + " of " + l.of
	case l.most <= 0:
		return "the deadline has passed"
	case l.asked == l.most:
		return "the next wait of " + asked + " would end at the deadline"
	}
	return "the next wait of " + asked + " would end after the deadline in " + most
}
