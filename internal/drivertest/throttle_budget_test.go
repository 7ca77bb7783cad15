package drivertest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

type throttledByAWS struct{ error }

func (throttledByAWS) ErrorCode() string { return "Throttling" }

// TestTokenBudgetAgreesWithAWS: the same calls through the SDK's own retryer and its bucket, with the costs of 2026.
func TestTokenBudgetAgreesWithAWS(t *testing.T) {
	const refill = awsretry.DefaultNoRetryIncrement
	bucket := ratelimit.NewTokenRateLimit(awsretry.DefaultRetryRateTokens)
	sdk := awsretry.NewStandard(func(o *awsretry.StandardOptions) {
		o.RateLimiter, o.RetryCost, o.ThrottlingRetryCost, o.NoRetryIncrement = bucket, 14, 5, refill
	})
	ours, now, ctx := throttle.NewTokenBudget(), time.Time{}, context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for i := range 20_000 {
		failing := 0.05
		if i/100%5 == 0 { // an outage of a hundred calls
			failing = 0.95
		}
		ours.Start(now)
		held, release := 0, func(error) error { return nil }
		for attempt := 1; ; attempt++ {
			if r.Float64() >= failing {
				ours.Settle(now, true, held)
				require.NoError(t, release(nil))
				if attempt == 1 {
					require.NoError(t, bucket.AddTokens(refill)) // GetAttemptToken does, for the first attempt
				}
				break
			}
			class, err := throttle.Transient, errors.New("500")
			if r.IntN(3) == 0 {
				class, err = throttle.Throttled, throttledByAWS{err}
			}
			if attempt == 3 {
				ours.Charge(now, class, held, true)
				ours.Settle(now, false, held)
				break
			}
			give, sdkErr := sdk.GetRetryToken(ctx, err)
			cost, ok := ours.Charge(now, class, held, false)
			require.Equal(t, sdkErr == nil, ok)
			held, release = cost, give
			if !ok {
				refused++
				ours.Settle(now, false, held)
				break
			}
		}
		require.Equal(t, bucket.Remaining(), uint(ours.Tokens()))
	}
	require.Greater(t, refused, 1000)
}
