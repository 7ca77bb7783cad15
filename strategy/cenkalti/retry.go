package cenkalti

import "github.com/seed-89b3229b/retry"

// Retry calls o until it succeeds or b stops, and waits in between: at least once, also where the context in b is done
// already. The package comment says what it returns. It Resets b first; b must not be in use elsewhere.
func Retry(o Operation, b BackOff) error { return RetryNotifyWithTimer(o, b, nil, nil) }

// RetryWithData is Retry for operations with a value. With an error it returns the value of the last attempt.
func RetryWithData[T any](o OperationWithData[T], b BackOff) (T, error) {
	return RetryNotifyWithTimerAndData(o, b, nil, nil)
}

// RetryNotify is Retry that tells notify, if it is not nil, each failure that will be retried, with the wait, before it.
func RetryNotify(operation Operation, b BackOff, notify Notify) error {
	return RetryNotifyWithTimer(operation, b, notify, nil)
}

// RetryNotifyWithData is RetryNotify for operations with a value.
func RetryNotifyWithData[T any](operation OperationWithData[T], b BackOff, notify Notify) (T, error) {
	return RetryNotifyWithTimerAndData(operation, b, notify, nil)
}

// RetryNotifyWithTimer is RetryNotify whose waits are t's: Start before each, also of 0, and Stop at the end. A nil t is the
// system's, or the one of retry.ContextWithClock where the context in b has one.
func RetryNotifyWithTimer(operation Operation, b BackOff, notify Notify, t Timer) error {
	var o OperationWithData[struct{}]
	if operation != nil {
		o = func() (struct{}, error) { return struct{}{}, operation() }
	}
	_, err := RetryNotifyWithTimerAndData(o, b, notify, t)
	return err
}

// RetryNotifyWithTimerAndData is RetryNotifyWithTimer for operations with a value.
func RetryNotifyWithTimerAndData[T any](operation OperationWithData[T], b BackOff, notify Notify, t Timer) (T, error) {
	if operation == nil {
		var none T
		return none, &retry.ConfigError{Option: "operation", Problem: "must not be nil"}
	}
	c := newCall(b, t)
	defer c.wait.stop()
	c.reset()
	for {
		v, err := operation()
		if err == nil {
			return v, nil
		}
		if end, err := c.failed(err, notify); end {
			return v, err
		}
	}
}
