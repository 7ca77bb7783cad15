package alibaba_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// A call is turned away because the account's quota is used up. It waits, and so does a call of another API.
func ExampleControl() {
	describe := alibaba.Control{
		Gate: new(throttle.Gate), Account: "LTAI5tExample",
		Product: "Ecs", Version: "2014-05-26", Action: "DescribeInstances", Region: "cn-hangzhou",
	}
	create := describe
	create.Action = "CreateSnapshot"

	clk := retrytest.NewClock() // waits take no time in an example
	calls := 0
	send := func(context.Context) error {
		if calls++; calls > 1 {
			return nil
		}
		resp := &http.Response{StatusCode: 429, Header: http.Header{}}
		resp.Header.Set("X-RateLimit-User", "Limit:100,Remain:0,Time:60000,TimeLeft:2000")
		return alibaba.ErrorFrom(resp, "Throttling.User", "", clk.Now())
	}
	err := retry.Run(context.Background(), send, append(describe.Options(), retry.WithClock(clk))...)
	fmt.Println(clk.Elapsed(), err)

	account, _ := create.Keys()
	describe.Gate.Block(clk.Now(), 5*time.Second, account)
	err = retry.Run(context.Background(), send, append(create.Options(), retry.WithClock(clk))...)
	fmt.Println(clk.Elapsed(), err)
	// Output:
	// 2.1s <nil>
	// 7.1s <nil>
}

// A wait that is too long ends the call at once. Later calls end before their first attempt.
func ExampleControl_Options() {
	control := alibaba.Control{Gate: new(throttle.Gate), Account: "LTAI5tExample", Action: "ExportBills", MaxDelay: 10 * time.Second}
	policy := retry.MustNew(control.Options()...)

	clk := retrytest.NewClock()
	for range 2 {
		err := retry.Run(context.Background(), func(context.Context) error {
			resp := &http.Response{StatusCode: 400, Header: http.Header{}}
			resp.Header.Set("X-RateLimit-User-API", "Limit:1,Remain:0,TimeLeft:30000")
			return alibaba.ErrorFrom(resp, "Throttling", "", clk.Now())
		}, policy, retry.WithClock(clk))

		gaveUp, _ := errors.AsType[*retry.Error](err)
		refusal, _ := errors.AsType[*throttle.Error](err)
		fmt.Println(gaveUp.Attempts, errors.Is(err, retry.ErrHintTooLong), refusal.Remaining, refusal.Err)
	}
	// Output:
	// 1 true 30.1s alibaba: 400 Throttling
	// 0 true 30.1s alibaba: 400 Throttling
}

// Without the executor: wait for both keys before a call, and tell what was heard after it.
func ExampleControl_Observe() {
	control := alibaba.Control{Gate: new(throttle.Gate), Account: "LTAI5tExample", Action: "DescribeInstances"}
	account, api := control.Keys()

	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := http.Header{}
	h.Set("X-RateLimit-User-API", "Limit:100,Remain:0,TimeLeft:2000")
	signal, _ := hint.Alibaba().Parse(h, 200, now)
	control.Observe(now, signal, nil)

	fmt.Println(control.Gate.Check(now, account))
	var refusal *throttle.Error
	fmt.Println(errors.As(control.Gate.Check(now, account, api), &refusal), refusal.Remaining)
	// Output:
	// <nil>
	// true 2.1s
}
