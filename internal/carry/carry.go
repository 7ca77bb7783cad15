// Package carry holds what a context hands down to the calls below it: one key, one look-up.
package carry

import (
	"context"

	"github.com/seed-89b3229b/retry/internal/clock"
)

// Values is everything that is handed down. The zero Values is what an ordinary context carries.
type Values struct {
	Clock   clock.Clock
	NoRetry bool
	// Attempt facts, present if Number is not 0.
	Number, Max int
	Name        string
}

type key struct{}

type carrier struct {
	context.Context
	values Values
}

func (c *carrier) Value(k any) any {
	if k == (key{}) {
		return c
	}
	return c.Context.Value(k)
}

// From returns what ctx carries; a nil ctx carries nothing.
func From(ctx context.Context) Values {
	if ctx == nil {
		return Values{}
	}
	if c, ok := ctx.Value(key{}).(*carrier); ok {
		return c.values
	}
	return Values{}
}

// With returns a context that carries v in place of what ctx carried. A nil ctx panics.
func With(ctx context.Context, v Values) context.Context {
	if ctx == nil {
		panic("retry: nil Context")
	}
	return &carrier{ctx, v}
}
