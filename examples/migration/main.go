// Command migration is a program written for github.com/cenkalti/backoff/v4, before and after it moved to this module. The
// two differ in one line, the import.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	backoff "github.com/seed-89b3229b/retry/strategy/cenkalti"
)

var (
	errBusy    = errors.New("busy")
	errUnknown = errors.New("no such order")
)

// shop is a service that is busy for the first requests.
type shop struct{ busy int }

func (s *shop) order(id int) (string, error) {
	switch {
	case s.busy > 0:
		s.busy--
		return "", errBusy
	case id > 99:
		return "", errUnknown
	}
	return fmt.Sprintf("order %d", id), nil
}

// load asks the shop for an order, up to five times.
func load(ctx context.Context, s *shop, id int) (string, error) {
	policy := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(10*time.Millisecond),
		backoff.WithMultiplier(2),
		backoff.WithRandomizationFactor(0),
		backoff.WithMaxElapsedTime(time.Minute),
	)
	return backoff.RetryNotifyWithData(func() (string, error) {
		order, err := s.order(id)
		if errors.Is(err, errUnknown) {
			return "", backoff.Permanent(err)
		}
		return order, err
	}, backoff.WithContext(backoff.WithMaxRetries(policy, 4), ctx), func(err error, wait time.Duration) {
		fmt.Printf("  %v, again in %v\n", err, wait)
	})
}

func main() {
	ctx := context.Background()

	fmt.Println("two failures, then an order:")
	order, err := load(ctx, &shop{busy: 2}, 7)
	fmt.Printf("  %q %v\n", order, err)

	fmt.Println("an order that is not there:")
	order, err = load(ctx, &shop{busy: 1}, 100)
	fmt.Printf("  %q %v\n", order, err)

	fmt.Println("five failures:")
	order, err = load(ctx, &shop{busy: 9}, 7)
	fmt.Printf("  %q %v %v\n", order, err, err == errBusy)

	fmt.Println("a context that is cancelled before an hour's wait:")
	ctx, cancel := context.WithCancel(ctx)
	err = backoff.RetryNotify(func() error {
		return errBusy
	}, backoff.WithContext(backoff.NewConstantBackOff(time.Hour), ctx), func(error, time.Duration) { cancel() })
	fmt.Println(" ", err, err == context.Canceled)

	fmt.Println("a loop over ticks:")
	attempts := 0
	ticker := backoff.NewTicker(backoff.NewConstantBackOff(5 * time.Millisecond))
	for range ticker.C {
		if attempts++; attempts == 3 {
			ticker.Stop()
			break
		}
	}
	fmt.Println(" ", attempts, "attempts")
}
