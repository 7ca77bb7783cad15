package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// A token that is limited rests, and the others go on.
func ExamplePool() {
	tokens := pool.New("token-a", "token-b", "token-c")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	for i := range 5 {
		lease, err := tokens.Acquire(now)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(lease.Key())
		outcome := throttle.Outcome{} // success
		if i == 1 {
			outcome = throttle.Outcome{Err: errors.New("429 Too Many Requests"), Class: throttle.Throttled}
		}
		lease.Done(now, outcome)
	}
	for _, s := range tokens.Stats(now) {
		fmt.Printf("token %d: %d uses, %d failures in a row\n", s.Index, s.Uses, s.Failures)
	}
	// Output:
	// token-a
	// token-b
	// token-c
	// token-a
	// token-c
	// token 0: 2 uses, 0 failures in a row
	// token 1: 1 uses, 1 failures in a row
	// token 2: 2 uses, 0 failures in a row
}

// This is what the executor does with a Pool: each attempt has a key of its own in its context.
func ExamplePool_Key() {
	tokens := pool.New("token-a", "token-b")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	call := func(ctx context.Context) error {
		fmt.Println("with", tokens.Key(ctx))
		return errors.New("429 Too Many Requests")
	}

	for range 3 {
		ticket, wait, err := tokens.Admit(context.Background(), now, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if wait > 0 {
			fmt.Println("wait", wait)
			return
		}
		err = call(tokens.Attach(context.Background(), ticket))
		tokens.Done(context.Background(), now, ticket, throttle.Outcome{
			Err: err, Class: throttle.Throttled, Signal: throttle.Signal{Delay: 30 * time.Second, HasDelay: true, Source: "retry-after"},
		})
	}
	// Output:
	// with token-a
	// with token-b
	// wait 30s
}

// If there is no key to take, the error says until when.
func ExamplePool_Acquire() {
	tokens := pool.New("token-a")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	lease, _ := tokens.Acquire(now)
	lease.Done(now, throttle.Outcome{Err: errors.New("429 Too Many Requests"), Class: throttle.Throttled})
	_, err := tokens.Acquire(now)
	refusal, _ := errors.AsType[*throttle.Error](err)
	fmt.Println(err)
	fmt.Println("again at", refusal.Until.Format(time.TimeOnly))
	// Output:
	// throttle: "pool" is cooling down for 1s: 429 Too Many Requests
	// again at 12:00:01
}

// A wait that cannot end in time is not begun.
func ExamplePool_AcquireWait() {
	tokens := pool.New("token-a")
	lease, _ := tokens.AcquireWait(context.Background())
	lease.Done(time.Now(), throttle.Outcome{Class: throttle.Success, Signal: throttle.Signal{Delay: time.Minute, HasDelay: true}}) // used up

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := tokens.AcquireWait(ctx)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), ctx.Err())
	// Output: true <nil>
}

// A token that was turned away for good should not come back after a second.
func ExamplePool_classify() {
	errForbidden := errors.New("403 Forbidden")
	tokens := pool.New("token-a", "token-b")
	tokens.Classify = func(o throttle.Outcome) throttle.Outcome {
		if errors.Is(o.Err, errForbidden) {
			o.Class = throttle.Throttled
			o.Signal = throttle.Signal{Delay: 10 * time.Minute, HasDelay: true, Source: "forbidden"}
		}
		return o
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	lease, _ := tokens.Acquire(now)
	lease.Done(now, throttle.Outcome{Err: errForbidden})
	for _, s := range tokens.Stats(now) {
		fmt.Println(s.Index, !s.Until.IsZero())
	}
	// Output:
	// 0 true
	// 1 false
}

// os.LookupEnv in the place of the map is the usual argument.
func ExampleFromEnv() {
	environment := map[string]string{
		"PIXIVFE_TOKEN":                  "123456_abc,654321_def",
		"PIXIVFE_TOKEN_LOAD_BALANCING":   "least-recently-used",
		"PIXIVFE_TOKEN_MAX_BACKOFF_TIME": "64000ms",
	}
	tokens, attempts, err := pool.FromEnv("PIXIVFE_", func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	})
	fmt.Println(tokens, attempts, err)
	fmt.Println(tokens.Selection, tokens.Base, tokens.Max)

	environment["PIXIVFE_TOKEN_LOAD_BALANCING"] = "fair"
	_, _, err = pool.FromEnv("PIXIVFE_", func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	})
	fmt.Println(err)
	// Output:
	// pool of 2 keys 6 <nil>
	// least-recently-used 1s 1m4s
	// throttle: PIXIVFE_TOKEN_LOAD_BALANCING = "fair": must be round-robin, random or least-recently-used
}
