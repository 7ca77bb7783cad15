package condition_test

import "time"

// The shapes in which drivers tell what happened, as their packages have them.
type (
	pgError    struct{ code string } // pgconn.PgError, pq.Error
	apiError   struct{ code string } // smithy.APIError
	oldAPI     string                // awserr.Error
	tencent    string                // tencentcloud's errors
	redisError string                // proto.RedisError
	labels     []string              // mongo.CommandError
	unsent     struct {              // pgconn's errors
		safe bool
		err  error
	}
	daraError struct { // darabonba-openapi's ClientError
		code   *string
		status *int
		after  *int64
	}
	told struct { // an error that names a wait
		status int
		after  time.Duration
	}
	// MySQLError is go-sql-driver/mysql's type.
	MySQLError struct {
		Number   uint16
		SQLState [5]byte
		Message  string
	}
	// SDKError is tea.SDKError.
	SDKError struct {
		Code       *string
		StatusCode *int
		Message    *string
	}
	// GenericAPIError has the name of smithy-go's type, but is none.
	GenericAPIError struct{ apiError }
)

func (e *pgError) Error() string    { return "match SQLSTATE " + e.code }
func (e *pgError) SQLState() string { return e.code }

func (e *apiError) Error() string     { return "match code " + e.code }
func (e *apiError) ErrorCode() string { return e.code }

func (e oldAPI) Error() string { return "match code " + string(e) }
func (e oldAPI) Code() string  { return string(e) }

func (e tencent) Error() string   { return "match code " + string(e) }
func (e tencent) GetCode() string { return string(e) }

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

func (labels) Error() string { return "match labels" }
func (l labels) HasErrorLabel(label string) bool {
	for _, one := range l {
		if one == label {
			return true
		}
	}
	return false
}

func (unsent) Error() string       { return "match unsent" }
func (e unsent) SafeToRetry() bool { return e.safe }
func (e unsent) Unwrap() error     { return e.err }

func (*daraError) Error() string           { return "match dara" }
func (e *daraError) GetCode() *string      { return e.code }
func (e *daraError) GetStatusCode() *int   { return e.status }
func (e *daraError) GetRetryAfter() *int64 { return e.after }

func (told) Error() string               { return "match told" }
func (e told) StatusCode() int           { return e.status }
func (e told) RetryAfter() time.Duration { return e.after }

func (e *MySQLError) Error() string { return "match " + e.Message }

func (e *SDKError) Error() string { return "match SDKError" }

// talker has every method that a condition asks for, and all of them dereference, so that a nil one panics.
type talker struct{ is bool }

func (t *talker) Error() string             { return map[bool]string{true: "yes", false: "no"}[t.is] }
func (t *talker) Unwrap() error             { _ = t.is; return nil }
func (t *talker) Is(error) bool             { return t.is && false }
func (t *talker) Timeout() bool             { return t.is }
func (t *talker) Temporary() bool           { return t.is }
func (t *talker) SafeToRetry() bool         { return t.is }
func (t *talker) SQLState() string          { _ = t.is; return "40001" }
func (t *talker) ErrorCode() string         { _ = t.is; return "Throttling" }
func (t *talker) Code() string              { _ = t.is; return "Throttling" }
func (t *talker) GetCode() *string          { _ = t.is; return nil }
func (t *talker) HTTPStatusCode() int       { _ = t.is; return 503 }
func (t *talker) GetStatusCode() *int       { _ = t.is; return nil }
func (t *talker) RetryAfter() time.Duration { _ = t.is; return 1 }
func (t *talker) HasErrorLabel(string) bool { return t.is }
func (t *talker) RedisError()               { _ = t.is }
func (t *talker) CanceledError() bool       { return t.is }
func (t *talker) RetryableError() bool      { return t.is }
func (t *talker) ConnectionError() bool     { return t.is }

// The AWS SDK's errors each say one thing.
type (
	awsCanceled   struct{ err error }
	awsRetryable  bool
	awsConnection struct{ err error }
)

func (awsCanceled) Error() string       { return "match canceled" }
func (awsCanceled) CanceledError() bool { return true }
func (e awsCanceled) Unwrap() error     { return e.err }

func (awsRetryable) Error() string          { return "match retryable" }
func (e awsRetryable) RetryableError() bool { return bool(e) }

func (awsConnection) Error() string         { return "match connection" }
func (awsConnection) ConnectionError() bool { return true }
func (e awsConnection) Unwrap() error       { return e.err }

func ptr[T any](v T) *T { return &v }
