package library

import (
	"context"
	"math"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
)

func failsafeGo() *Library {
	return &Library{
		Name:           "failsafe-go",
		Module:         "github.com/failsafe-go/failsafe-go",
		PassesContext:  true, // by the Execution
		New:            failsafeNew,
		Permanent:      markPermanent,
		After:          markHint,
		AttemptTimeout: timeout.ErrExceeded,
	}
}

func failsafeNew(s Settings) (Call, error) {
	if s.Full || s.Timers != nil {
		return nil, ErrAbsent
	}
	attempts := s.Attempts
	if attempts == 0 && !s.ZeroAttempts {
		attempts = -1
	}
	builder := retrypolicy.NewBuilder[int]().WithMaxAttempts(attempts).WithMaxDuration(s.MaxElapsed).AbortOnErrors(errPermanent).
		WithDelayFunc(func(exec failsafe.ExecutionAttempt[int]) time.Duration {
			if d, ok := hinted(exec.LastError()); ok {
				return d
			}
			return -1 // as configured
		})
	most := s.Cap
	if most == 0 {
		most = math.MaxInt64
	}
	if s.Doubling {
		builder = builder.WithBackoff(s.Delay, most)
	} else {
		builder = builder.WithDelay(min(s.Delay, most))
	}
	if s.Spreads {
		builder = builder.WithJitterFactor(s.Spread)
	}
	if s.OnRetry != nil {
		builder = builder.OnRetry(func(failsafe.ExecutionEvent[int]) { s.OnRetry() })
	}
	policies := []failsafe.Policy[int]{builder.Build()}
	if s.AttemptTimeout > 0 {
		policies = append(policies, timeout.New[int](s.AttemptTimeout))
	}
	executor := failsafe.With(policies...)
	return func(ctx context.Context, op Op) (int, error) {
		return executor.WithContext(ctx).GetWithExecution(func(exec failsafe.Execution[int]) (int, error) { return op(exec.Context()) })
	}, nil
}
