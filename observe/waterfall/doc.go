// Package waterfall draws finished traces as bars in a terminal: retries, their waits and the services behind them, without
// a server to send spans to.
//
//	waterfall := waterfall.New(os.Stdout)
//	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(waterfall))
//	defer tracers.Shutdown(context.Background())
//	observer := observe.New(observe.WithTracerProvider(tracers))
//	err := retry.Run(ctx, fetch, retry.WithName("fetch"), retry.WithObserver(observer))
//
// A failure and a success, with the wait between them as the gap between their bars:
//
//	fetch            ok  |================================================|    80ms  retry.attempts=2 retry.outcome=success
//	  fetch attempt  ERR |============                                    |    20ms  retry.attempt=1 retry.outcome=retry retry.delay=0.04
//	  fetch attempt  ok  |                                    ============|    20ms  retry.attempt=2 retry.outcome=success
//
// # Processor or exporter
//
// As a span processor, which is the better way, it sees spans start and end, and draws a trace when the last of its spans in
// this process has ended. Services of one process that have it in their tracer providers appear in one tree.
//
// As a span exporter (sdktrace.WithBatcher, sdktrace.WithSyncer) it draws a trace with the batch that holds its root. What
// comes later, and what has no root here, is drawn by Shutdown.
//
// It is a package of its own because the interfaces of both are the SDK's, which package observe does not import.
package waterfall
