package drivertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	openapi "github.com/alibabacloud-go/darabonba-openapi/v2/client"
	"github.com/alibabacloud-go/tea/dara"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

type daraVector struct {
	Attempted  int
	Name       string `json:"error_name"`
	Code       string `json:"error_code"`
	Type       string `json:"go_type"`
	RetryAfter *int64 `json:"retry_after_ms"`
	Retry      bool   `json:"want_retry"`
	Delay      int64  `json:"want_delay_ms"`
}

// readVectors reads one group out of a file of vectors.
func readVectors[T any](t *testing.T, path, group string) (vectors []T) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	groups := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(data, &groups))
	require.NoError(t, json.Unmarshal(groups[group], &vectors))
	require.NotEmpty(t, vectors)
	return vectors
}

// after returns what policy does after each of count calls that failed with err.
func after(policy *retry.Policy, err error, count int) retry.Step {
	ctx, now := context.Background(), time.Unix(0, 0)
	flow := policy.Begin(now, time.Time{}, nil)
	step := flow.Next(ctx, now)
	for range count {
		if step = flow.Report(ctx, now, throttle.Outcome{Err: err}); step.Action != retry.Wait {
			return step
		}
		now = now.Add(step.Delay)
		if next := flow.Next(ctx, now); next.Action != retry.Go {
			return next
		}
	}
	if count > 0 {
		flow.Abort(ctx, now, throttle.Skipped)
	}
	return step
}

// TestVectorsOfDara runs dara's own ShouldRetry, and a policy that says the same in this library's words: three attempts,
// 100 ms, a wait that the server named cut to 5 s in all, and the conditions.
func TestVectorsOfDara(t *testing.T) {
	retryable := &dara.RetryCondition{MaxAttempts: 3, MaxDelay: 5000, Exception: []string{"ThrottlingError"}, ErrorCode: []string{"Throttling"}}
	never := &dara.RetryCondition{Exception: []string{"NoErr"}, ErrorCode: []string{"Fatal"}}
	options := &dara.RetryOptions{Retryable: true, RetryCondition: []*dara.RetryCondition{retryable}, NoRetryCondition: []*dara.RetryCondition{never}}

	named := func(name string) condition.Condition {
		return condition.Match(func(e dara.BaseError) bool { return dara.StringValue(e.GetName()) == name })
	}
	policy := retry.MustNew(
		retry.WithMaxAttempts(3),
		retry.WithStrategy(strategy.Constant{Delay: 100 * time.Millisecond}),
		retry.WithHint(throttle.Clamp(4900*time.Millisecond)), // above the 100 ms
		retry.WithCondition(condition.Only(
			condition.Not(condition.Any(condition.ErrorCode("Fatal"), named("NoErr"))),
			named("ThrottlingError"), condition.ErrorCode("Throttling"),
		)),
	)
	for _, v := range readVectors[daraVector](t, "../../condition/testdata/original_rules.json", "alibaba_go_should_retry") {
		var err error
		switch v.Type {
		case "*errors.errorString":
			err = errors.New("plain")
		case "*fmt.wrapError":
			err = fmt.Errorf("outer: %w", errors.New("plain"))
		default:
			err = &openapi.AlibabaCloudError{Name: &v.Name, Code: &v.Code, RetryAfter: v.RetryAfter, Message: dara.String("m")}
		}
		original := &dara.RetryPolicyContext{RetriesAttempted: v.Attempted, Exception: err}
		require.Equal(t, v.Retry, dara.ShouldRetry(options, original), "%+v", v)
		require.Equal(t, v.Delay, int64(dara.GetBackoffDelay(options, original)), "%+v", v)

		step := after(policy, err, v.Attempted)
		require.Equal(t, v.Retry, step.Action != retry.Done, "%+v: %+v", v, step)
		if v.Retry { // what is not retried has no wait
			require.Equal(t, time.Duration(v.Delay)*time.Millisecond, step.Delay, "%+v", v)
		}
	}

	// The original looks at the error itself only.
	wrapped := fmt.Errorf("outer: %w", &openapi.AlibabaCloudError{Name: dara.String("ThrottlingError"), Message: dara.String("m")})
	require.False(t, dara.ShouldRetry(options, &dara.RetryPolicyContext{RetriesAttempted: 1, Exception: wrapped}))
	require.Equal(t, retry.Wait, after(policy, wrapped, 1).Action)
}
