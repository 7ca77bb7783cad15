// Package observe makes retries visible to OpenTelemetry: a span for every call, one for every attempt, and metrics.
//
//	var observer = observe.New() // one per process; the global providers
//
//	var policy = retry.MustNew(retry.WithName("orders"), retry.WithObserver(observer))
//
//	func load(ctx context.Context, id int) (*Order, error) {
//		return retry.Do(ctx, func(ctx context.Context) (*Order, error) {
//			return api.Order(ctx, id) // spans made with this ctx are children of the attempt's
//		}, policy)
//	}
//
// # What is seen
//
// The operation's span, named as the policy, lasts as long as the call. Below it stand the attempts' spans, and the gaps
// between those are the waits. A failed attempt is an error even if it is retried; the operation is one only if
// its caller gets an error. So of a call that recovered, the operation is clean, and the failures are below it.
//
// The metrics count the same: operations and attempts by their outcome, and waits by who asked for them. Names of policies
// and kinds of errors are the only values that are not from a closed set, and both are bounded (NameLimit, ErrorTypeLimit).
// Attempt numbers, keys, tokens, arguments and results are on no metric; the last four on no span either. The text of an
// error is on spans, as the description of their status: WithStatusDescription redacts it.
//
// An attempt that did not fail, and that another follows, is a success: a look of retry.Poll that is not done, a run of
// retry.Supervise that ended without an error. It is no retry: the attempts that are measured for an operation are one, and
// one more for each failure that was retried, and the pace of such work is not measured as a delay.
//
// A retry.Flow is seen as any other call is, with metrics by the times that it is given; its spans take the tracer's time, and
// Flow.Context makes the operation's spans children of the attempt's.
//
// There are no span events and no links. Log lines are those of retry.WithLogger; they carry the context of the attempt, so
// that a handler which looks for the span finds it.
//
// # Names
//
// Every name is a constant of this package, and experimental, because the semantic conventions have none for retries yet.
//
//	span        name              attributes at its start          and at its end
//	operation   {name}            retry.name, retry.max_attempts   retry.outcome, retry.attempts, retry.reason, retry.delay.total,
//	                                                               retry.delay.declined, retry.throttle.delay, retry.throttle.source,
//	                                                               error.type
//	attempt     {name} attempt    retry.name, retry.attempt        retry.outcome, retry.delay, retry.delay.source, retry.hint.delay,
//	                                                               retry.hint.source, retry.throttle.label, error.type
//
//	metric                        unit          attributes besides retry.name
//	retry.operation.duration      s             retry.outcome, error.type
//	retry.operation.attempts      {attempt}     retry.outcome, error.type
//	retry.operation.active        {operation}   none; only with WithActiveOperations
//	retry.attempt.duration        s             retry.outcome, error.type
//	retry.delay.duration          s             retry.delay.source
//	retry.throttle.rejections     {operation}   none
//
// retry.outcome is, of an operation, success, exhausted, deadline, aborted, canceled, throttled, budget or panic; of an
// attempt success, retry or give_up. Where a fallback turned a failure into a success, retry.outcome is what would have been
// without it, and there is no error.type.
//
// error.type is, of the attempt's failure (of the last attempt's, for an operation): what WithErrorType says; what a method
// ErrorType() string in the error's tree says (the status, of an answer to retryhttp); the name of the code, such as
// UNAVAILABLE, of an error with a gRPC status; unacceptable_result; timeout; canceled; or the type of the error below the wrappers of fmt and errors, as semconv.ErrorType writes it. An operation that ended before
// its first attempt has throttled, timeout or canceled. A panic is panic. What is beyond the limit is _OTHER, and so is an error
// that panics when it is asked.
//
// All texts are valid UTF-8, as exporters must have it, and of 1024 bytes at most, besides the … where they were cut.
//
// # What it costs
//
// Allocations of a call that succeeds at once, and of one with three attempts; go test ./observe -run TestAllocations holds
// them, go test ./observe -bench Observe measures the time.
//
//	no observer, or providers of the noop packages       0    0
//	global providers without an SDK                      3    3
//	metrics only                                         0    0
//	metrics, and a trace that is not sampled             3    3
//	metrics, and a trace that is sampled                14   30
//	the same with WithAttemptSpans(OnRetry)              7   33
//	the same with WithAttemptSpans(Never)                7    9
//
// # Which options
//
// Many calls, most of which succeed at once: WithAttemptSpans(OnRetry).
//
// Attempts that make requests which nothing else traces: WithAttemptSpanStartOptions(trace.WithSpanKind(trace.SpanKindClient)).
//
// HTTP requests traced by otelhttp: put Transport inside, and each request says which resend it is.
//
// Errors that should be told apart: WithErrorType, or a method ErrorType() string on them. Those of HTTP (retryhttp) and gRPC
// are told apart by their code as they are.
//
// Errors whose text must not leave the process: WithStatusDescription.
//
// Calls that last for days, such as supervised ones: an Observer of their own with WithoutTraces, as a span is seen only when
// it has ended; and with WithActiveOperations, as operations are measured then too. Their attempts and waits are measured
// while they run.
//
// Traces in a terminal, without a server: package observe/waterfall.
//
// A sampler decides at the start of a trace, when nobody knows yet that there will be a retry: to keep the traces with
// retries, sample at the tail, by retry.attempts of 2 or more, or by the status.
package observe
