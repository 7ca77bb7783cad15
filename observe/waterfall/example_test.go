package waterfall_test

import (
	"context"
	"errors"
	"os"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/observe/waterfall"
)

// A call that fails at its only attempt. (How long it took is not shown, because an example must be the same each time.)
func Example() {
	drawing := waterfall.New(edited{os.Stdout})
	drawing.Width = 12
	drawing.Show = func(a attribute.KeyValue) bool { return a.Key == observe.KeyOutcome }
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(drawing))

	observer := observe.New(observe.WithTracerProvider(tracers))
	_ = retry.Run(context.Background(), func(context.Context) error { return errors.New("connection refused") },
		retry.WithName("fetch"), retry.WithMaxAttempts(1), retry.WithObserver(observer))
	// Output:
	// fetch            ERR  retry.outcome=exhausted "connection refused (retry \"fetch\": gave up after 1 attempt:…"
	//   fetch attempt  ERR  retry.outcome=give_up "connection refused"
}
