package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// A token that is rate limited cools down, and the call goes on with another one at once.
func Example_tokens() {
	tokens := pool.New("token-a", "token-b", "token-c")
	policy := retry.MustNew(
		retry.WithThrottle(tokens),
		retry.WithHint(throttle.Ignore()), // told waits are the token's
		retry.WithStrategy(strategy.ByThrottled{Normal: strategy.FullJitter{Base: 200 * time.Millisecond}, Throttled: strategy.Constant{}}),
	)
	user, err := retry.Do(context.Background(), func(ctx context.Context) (string, error) {
		token := tokens.Key(ctx)
		fmt.Println("GET /users/42 with", token)
		if token == "token-a" {
			return "", retry.After(30*time.Second, errors.New("429 Too Many Requests"))
		}
		return "Ada", nil
	}, policy)
	fmt.Println(user, err)
	// Output:
	// GET /users/42 with token-a
	// GET /users/42 with token-b
	// Ada <nil>
}
