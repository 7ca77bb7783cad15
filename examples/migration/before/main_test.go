package main

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example() {
	main()
	// Output:
	// two failures, then an order:
	//   busy, again in 10ms
	//   busy, again in 20ms
	//   "order 7" <nil>
	// an order that is not there:
	//   busy, again in 10ms
	//   "" no such order
	// five failures:
	//   busy, again in 10ms
	//   busy, again in 20ms
	//   busy, again in 40ms
	//   busy, again in 80ms
	//   "" busy true
	// a context that is cancelled before an hour's wait:
	//   context canceled true
	// a loop over ticks:
	//   3 attempts
}
