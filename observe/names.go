package observe

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// This file holds every name that leaves the package. OpenTelemetry's semantic conventions have none for retries yet: the
// names are experimental, and may change in a minor version until there are.

// ScopeName is the name of the instrumentation scope of all spans and metrics.
const ScopeName = "github.com/seed-89b3229b/retry/observe"

// SchemaURL is the schema URL of the instrumentation scope: that of the conventions which define error.type and
// http.request.resend_count.
const SchemaURL = semconv.SchemaURL

// Keys of attributes on operation spans, attempt spans and metrics.
const (
	// KeyName is the policy's name (retry.WithName); absent where it has none.
	KeyName attribute.Key = "retry.name"
	// KeyOutcome is, of an operation, one of success, exhausted, deadline, aborted, canceled, throttled, budget, panic; of an
	// attempt, one of success, retry, give_up.
	KeyOutcome attribute.Key = "retry.outcome"
	// KeyErrorType is the kind of the failure, from a bounded set; absent on success.
	KeyErrorType = semconv.ErrorTypeKey
	// KeyDelaySource says who asked for a wait: policy, server, throttle.
	KeyDelaySource attribute.Key = "retry.delay.source"
)

// Keys of attributes on spans only.
const (
	// KeyMaxAttempts is the operation's limit of attempts (of retry.Poll and retry.Supervise, of failures in a row); absent
	// where there is none.
	KeyMaxAttempts attribute.Key = "retry.max_attempts"
	// KeyAttempts is how many attempts the operation made.
	KeyAttempts attribute.Key = "retry.attempts"
	// KeyAttempt is the attempt's number, from 1.
	KeyAttempt attribute.Key = "retry.attempt"
	// KeyReason is why the operation gave up, in words, such as "attempts exhausted"; absent on success, and where a
	// function of WithBeforeRetry ended the operation.
	KeyReason attribute.Key = "retry.reason"
	// KeyDelay is the planned wait after the attempt, in seconds.
	KeyDelay attribute.Key = "retry.delay"
	// KeyDelayTotal is the time that the operation spent in waits, in seconds.
	KeyDelayTotal attribute.Key = "retry.delay.total"
	// KeyDelayDeclined is the wait that was not taken, in seconds, where the operation gave up for its length.
	KeyDelayDeclined attribute.Key = "retry.delay.declined"
	// KeyHintDelay is the wait that a server asked for, in seconds, whether or not it was used.
	KeyHintDelay attribute.Key = "retry.hint.delay"
	// KeyHintSource is what carried that wish, such as "retry-after".
	KeyHintSource attribute.Key = "retry.hint.source"
	// KeyThrottleDelay is how long throttles held attempts of the operation back, in seconds, as planned.
	KeyThrottleDelay attribute.Key = "retry.throttle.delay"
	// KeyThrottleSource is what set the cool-down for which a throttle refused an attempt, such as "retry-after".
	KeyThrottleSource attribute.Key = "retry.throttle.source"
	// KeyThrottleLabel is the label of what a throttle gave the attempt, such as the index of a token; never the token.
	KeyThrottleLabel attribute.Key = "retry.throttle.label"
)

// Outcomes of attempts. Those of operations are the words of retry.Ending.
const (
	// OutcomeSuccess is an attempt that did not fail, even if another follows, as the looks of retry.Poll do.
	OutcomeSuccess = "success"
	// OutcomeRetry is an attempt that failed, with another one planned.
	OutcomeRetry = "retry"
	// OutcomeGiveUp is an attempt that failed, and was the last.
	OutcomeGiveUp = "give_up"
)

// Names of metrics.
const (
	// MetricOperationDuration is how long operations took, waits included, in seconds.
	MetricOperationDuration = "retry.operation.duration"
	// MetricOperationAttempts is how many attempts operations made: one, and one more for each failure that was retried. So it
	// is less than KeyAttempts of a retry.Poll.
	MetricOperationAttempts = "retry.operation.attempts"
	// MetricOperationActive is how many operations are under way (WithActiveOperations).
	MetricOperationActive = "retry.operation.active"
	// MetricAttemptDuration is how long attempts took, in seconds.
	MetricAttemptDuration = "retry.attempt.duration"
	// MetricDelayDuration is how long waits were planned to be, in seconds; without the policy's waits after attempts that did
	// not fail, as of retry.Poll.
	MetricDelayDuration = "retry.delay.duration"
	// MetricThrottleRejections is how many operations a throttle ended.
	MetricThrottleRejections = "retry.throttle.rejections"
)
