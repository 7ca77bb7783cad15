package errtree

import (
	"context"
	"errors"
	"fmt"
)

// Ended returns an error that matches both the error and the cause of a context that is done.
func Ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
