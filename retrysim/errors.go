package retrysim

// The failures of attempts, for the conditions of a policy to tell apart.
var (
	// ErrServer is a request that the server failed, of class throttle.Transient.
	ErrServer error = &failure{"retrysim: the server failed"}
	// ErrRejected is a request that the server turned away because its line was full, of class throttle.Transient.
	ErrRejected error = &failure{"retrysim: the server is full"}
	// ErrThrottled is a request above a Quota, of class throttle.Throttled.
	ErrThrottled error = &failure{"retrysim: too many requests"}
	// ErrTimeout is an attempt without an answer within the Timeout, of class throttle.Timeout. Its method Timeout returns true.
	ErrTimeout error = &timeout{failure{"retrysim: no answer in time"}}
)

type failure struct{ text string }

func (f *failure) Error() string { return f.text }

type timeout struct{ failure }

func (*timeout) Timeout() bool { return true }
