// Command hello is the program on the README's first page.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-89b3229b/retry"
)

func main() {
	calls := 0
	word, err := retry.Do(context.Background(), func(ctx context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", errors.New("connection reset")
		}
		return "hello", nil
	})
	fmt.Println(word, err, "after", calls, "calls")
}
