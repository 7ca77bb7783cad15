package condition

// Verdict is a Condition's answer.
type Verdict uint8

const (
	// Unknown leaves the decision to the next condition. It is the zero value.
	Unknown Verdict = iota
	// Stop says that another attempt cannot help.
	Stop
	// Retry says that another attempt may succeed.
	Retry
	// Throttled is Retry, and the server asked for less: strategies and budgets may treat it apart.
	Throttled
)

// String returns the verdict's name in lower case.
func (v Verdict) String() string {
	switch v {
	case Unknown:
		return "unknown"
	case Stop:
		return "stop"
	case Retry:
		return "retry"
	case Throttled:
		return "throttled"
	}
	return "invalid"
}

// Condition decides whether a failure is worth another attempt. Check is never called with a nil error by the
// executor, and answers Unknown for one. It must be safe for concurrent use.
type Condition interface {
	Check(err error) Verdict
}

// Func is a function that is a Condition. A nil Func answers Unknown.
type Func func(err error) Verdict

// Check calls f.
func (f Func) Check(err error) Verdict {
	if f == nil || err == nil {
		return Unknown
	}
	return f(err)
}
