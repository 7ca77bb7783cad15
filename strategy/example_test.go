package strategy_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry/strategy"
)

func ExampleExponential() {
	s := strategy.Exponential{Base: 50 * time.Millisecond, Max: time.Second}
	fmt.Println(strategy.Delays(s, 6, nil))
	// Output: [50ms 100ms 200ms 400ms 800ms 1s]
}

func ExampleFibonacci() {
	fmt.Println(strategy.Delays(strategy.Fibonacci{First: 50 * time.Millisecond}, 6, nil))
	// Output: [50ms 50ms 100ms 150ms 250ms 400ms]
}

func ExampleLinear() {
	s := strategy.Linear{Initial: time.Second, Increment: 500 * time.Millisecond, Max: 3 * time.Second}
	fmt.Println(strategy.Delays(s, 6, nil))
	// Output: [1s 1.5s 2s 2.5s 3s 3s]
}

func ExampleSequence() {
	s := strategy.Sequence{Delays: []time.Duration{0, time.Second, time.Minute}}
	fmt.Println(strategy.Delays(s, 5, nil))
	s.Repeat = true
	fmt.Println(strategy.Delays(s, 5, nil))
	// Output:
	// [0s 1s 1m0s]
	// [0s 1s 1m0s 1m0s 1m0s]
}

func ExampleFullJitter() {
	middle := func() float64 { return 0.5 }
	fmt.Println(strategy.Delays(strategy.FullJitter{Base: 200 * time.Millisecond, Max: time.Second}, 5, middle))
	// Output: [100ms 200ms 400ms 500ms 500ms]
}

func ExampleDecorrelated() {
	middle := func() float64 { return 0.5 }
	fmt.Println(strategy.Delays(strategy.Decorrelated{Base: 200 * time.Millisecond, Max: time.Second, Capped: true}, 5, middle))
	// Output: [400ms 600ms 600ms 600ms 600ms]
}

func ExampleByThrottled() {
	s := strategy.ByThrottled{
		Normal:    strategy.Exponential{Base: 50 * time.Millisecond},
		Throttled: strategy.Exponential{Base: time.Second, Max: 20 * time.Second},
	}
	for _, throttled := range []bool{false, true} {
		delay, _ := s.Next(strategy.State{Number: 3, Throttled: throttled})
		fmt.Println(delay)
	}
	// Output:
	// 200ms
	// 4s
}

func ExampleFunc() {
	errLocked := errors.New("locked")
	s := strategy.Func(func(s strategy.State) (time.Duration, bool) {
		if errors.Is(s.Err, errLocked) {
			return 10 * time.Millisecond, true
		}
		return strategy.Exponential{}.Next(s)
	})
	fmt.Println(s.Next(strategy.State{Number: 4, Err: errLocked}))
	fmt.Println(s.Next(strategy.State{Number: 4}))
	// Output:
	// 10ms true
	// 800ms true
}

func ExampleParse() {
	s, err := strategy.Parse("fulljitter(base=200ms, max=20s)")
	fmt.Println(s, err)
	_, err = strategy.Parse("fulljitter(base=-1s)")
	fmt.Println(err)
	// Output:
	// fulljitter(base=200ms, max=20s) <nil>
	// strategy: FullJitter.Base = -1s: must not be negative
}

func ExampleDelays() {
	for i, wait := range strategy.Delays(strategy.Exponential{}, 4, nil) {
		fmt.Printf("after failure %d: %v\n", i+1, wait)
	}
	// Output:
	// after failure 1: 100ms
	// after failure 2: 200ms
	// after failure 3: 400ms
	// after failure 4: 800ms
}

func ExampleProportional() {
	quarter := strategy.Proportional(0.25)
	for _, r := range []float64{0, 0.5, 0.999999999999} {
		fmt.Println(quarter(800*time.Millisecond, time.Minute, r).Round(time.Millisecond))
	}
	// Output:
	// 600ms
	// 800ms
	// 1s
}
