// Package condition says whether a failure is worth another attempt.
//
// A [Condition] looks at an error and answers with one of four verdicts: [Retry], [Stop], [Throttled] (a retry, and the
// server asked for less) or [Unknown]. Unknown is what makes conditions combine: each one speaks about the failures it
// knows and leaves the rest to the next. In a list the first that is decided wins; what all leave open is retried, unless
// [Hopeless] says that waiting cannot change it. Where the rest is to be stopped instead, put the list into [Only].
//
//	worth := condition.Any(
//		condition.StopIf(isQuotaExceeded), // precedence is order
//		condition.Only(
//			condition.Network(),                                     // refused, reset, cut short
//			condition.Timeout(),                                     // attempts and connections
//			condition.HTTPStatus(429, 502, 503),                     // errors that carry a status
//			condition.GRPC(),                                        // gRPC, by the usual codes
//			condition.Code(connect.CodeOf, connect.CodeUnavailable), // Connect
//			condition.Is(driver.ErrBadConn),                         // by value
//			condition.Match(func(e *Fault) bool { return e.Again }), // by type
//		),
//	)
//	err := retry.Run(ctx, call, retry.WithCondition(worth))
//
// # Which one
//
//   - One function that knows the answer both ways: no condition, but the policy's WithRetryIf.
//   - A function that knows some failures: [If] for those to retry, [StopIf] for those to stop.
//   - A sentinel error: [Is]. A type: [As]. A field of a type: [Match]. A code behind a function: [Code].
//   - The network, time, HTTP: [Network], [Timeout], [HTTPStatus], and [HTTPDefault] for a usual answer to each status.
//   - An operation that must not run twice: [NotSent].
//   - PostgreSQL and its kin: [SQLSerialization] around a transaction, [SQLConnection] around anything that may be repeated,
//     [SQLState] for other codes. MySQL: [MySQL]. MongoDB: [MongoLabel].
//     SQLite: [Match] on its code.
//   - Redis: [Redis]. gRPC: [GRPC], and [Code] for other codes and for Connect.
//   - Cloud SDKs: [AWS], [Alibaba], [ErrorCode] for the codes of those and others.
//   - Coming from go-retryablehttp: [RetryableHTTP].
//   - "These and nothing else": [Only]. "This unless that": [Any], with the exception first. "Both": [All]. "Everything
//     but": [Not].
//   - Anything else: [Func], or a type of your own with a Check method.
//
// Whether the operation may be repeated at all is asked by NotSent only: for all others it must be safe to run twice. Many
// drivers and SDKs retry by themselves, and attempts multiply; the comments say where to turn that off.
//
// # How drivers are recognized
//
// This package imports no driver. It asks for methods that their errors have, for exported fields of a type of a certain
// name where there is no method, and reads texts only where a server sends nothing else:
//
//	SafeToRetry() bool                                NotSent                          pgx
//	SQLState() string                                 SQLState and its sets            pgx, lib/pq
//	HTTPStatusCode, StatusCode, HTTPCode() int        HTTPStatus, HTTPDefault, AWS     smithy-go, gax, many others
//	GetStatusCode() *int                              HTTPStatus, HTTPDefault, Alibaba darabonba-openapi
//	ErrorCode, Code, GetCode() string                 ErrorCode, AWS                   smithy-go, many others
//	GetCode() *string                                 ErrorCode, Alibaba               dara
//	RetryableError, CanceledError, ConnectionError    AWS                              aws-sdk-go-v2, smithy-go
//	HasErrorLabel(string) bool                        MongoLabel                       mongo-driver
//	RedisError(), then the text's beginning           Redis                            go-redis
//	GRPCStatus, whose result has Code                 GRPC, Hopeless                   google.golang.org/grpc
//	field Number of a MySQLError                      MySQL                            go-sql-driver/mysql
//	fields Code and StatusCode of an SDKError         ErrorCode, HTTPStatus, Alibaba   alibabacloud-go/tea
//
// An error type of one's own that has one of these methods is recognized too.
//
// # What holds for all
//
// Conditions are immutable and safe for concurrent use, as long as the functions given to them are. Check answers Unknown
// for a nil error, and sees an error however it is wrapped: in the tree of Unwrap methods of both forms, the error of an
// inner retried call included (except by Hopeless and NotSent). A typed nil in the tree (an error that holds a nil pointer)
// is passed over. Conditions are built without an error result; what was built from something unusable answers Unknown
// there, and its Validate method returns a [*ConfigError], which the policy that it is given to reports before the operation
// runs.
package condition
