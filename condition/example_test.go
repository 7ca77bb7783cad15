package condition_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"

	"github.com/seed-89b3229b/retry/condition"
)

func Example() {
	quota := errors.New("monthly quota used up")
	worth := condition.Any(
		condition.StopIf(func(err error) bool { return errors.Is(err, quota) }),
		condition.Only(condition.Network(), condition.Timeout(), condition.HTTPStatus(429, 503)),
	)
	for _, err := range []error{
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		withStatus(429),
		withStatus(404),
		fmt.Errorf("charge: %w", quota),
	} {
		fmt.Println(worth.Check(err))
	}
	// Output:
	// retry
	// throttled
	// stop
	// stop
}

func ExampleAny() {
	c := condition.Any(condition.HTTPStatus(503), condition.StopIf(func(error) bool { return true }))
	fmt.Println(c.Check(withStatus(503)), c.Check(withStatus(500)))
	// Output: retry stop
}

func ExampleOnly() {
	c := condition.Only(condition.Network(), condition.HTTPStatus(429, 503))
	fmt.Println(c.Check(io.ErrUnexpectedEOF), c.Check(withStatus(429)), c.Check(errors.New("name is taken")))
	// Output: retry throttled stop
}

func ExampleAll() {
	readOnly := condition.If(func(error) bool { return true })
	c := condition.All(readOnly, condition.Network())
	fmt.Println(c.Check(io.EOF), c.Check(withStatus(500)))
	// Output: retry unknown
}

func ExampleNot() {
	c := condition.Not(condition.Is(io.EOF)) // everything but the end of the stream
	fmt.Println(c.Check(io.EOF), c.Check(io.ErrUnexpectedEOF))
	// Output: stop unknown
}

func ExampleIf() {
	busy := func(err error) bool { return err.Error() == "busy" }
	c := condition.If(busy)
	fmt.Println(c.Check(errors.New("busy")), c.Check(errors.New("broken")), condition.Only(c).Check(errors.New("broken")))
	// Output: retry unknown stop
}

func ExampleStopIf() {
	c := condition.StopIf(func(err error) bool { return err.Error() == "broken" })
	fmt.Println(c.Check(errors.New("busy")), c.Check(errors.New("broken")))
	// Output: unknown stop
}

func ExampleIs() {
	deadlock := &numbered{1213} // such as a *mysql.MySQLError, whose Is method compares numbers
	c := condition.Is(deadlock, io.ErrUnexpectedEOF)
	fmt.Println(c.Check(fmt.Errorf("commit: %w", &numbered{1213})), c.Check(&numbered{1062}))
	// Output: retry unknown
}

func ExampleAs() {
	c := condition.As[*net.OpError]()
	fmt.Println(c.Check(&url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: syscall.ENETDOWN}}), c.Check(io.EOF))
	// Output: retry unknown
}

func ExampleMatch() {
	c := condition.Match(func(e *numbered) bool { return e.number >= 1200 })
	fmt.Println(c.Check(&numbered{1205}), c.Check(&numbered{1062}))
	// Output: retry unknown
}

func ExampleCode() {
	// With gRPC: condition.Code(status.Code, codes.Unavailable, codes.Aborted)
	c := condition.Code(rpcCodeOf, rpcUnavailable, rpcAborted)
	fmt.Println(c.Check(fmt.Errorf("get user: %w", &rpcError{rpcUnavailable})), c.Check(io.EOF))
	// Output: retry unknown
}

func ExampleTimeout() {
	fmt.Println(condition.Timeout().Check(context.DeadlineExceeded), condition.Timeout().Check(context.Canceled))
	// Output: retry unknown
}

func ExampleNetwork() {
	reset := &url.Error{Op: "Get", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}
	noHost := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}
	fmt.Println(condition.Network().Check(reset), condition.Network().Check(noHost))
	// Output: retry unknown
}

func ExampleHTTPStatus() {
	c := condition.HTTPStatus(429, 502, 503)
	fmt.Println(c.Check(withStatus(503)), c.Check(withStatus(429)), c.Check(withStatus(500)))
	// Output: retry throttled unknown
}

func ExampleHopeless() {
	_, err := url.Parse("http://[::1")
	fmt.Println(condition.Hopeless().Check(err), condition.Hopeless().Check(io.EOF))
	// Output: stop unknown
}

func ExampleConfigError() {
	c := condition.Only(condition.Network(), condition.HTTPStatus(429, 5030))
	err := c.(interface{ Validate() error }).Validate() // as a policy does
	fmt.Println(err)

	config, _ := errors.AsType[*condition.ConfigError](err)
	fmt.Println(config.Field)
	// Output:
	// condition: Only[1].HTTPStatus[1] = 5030: must be from 100 to 999
	// Only[1].HTTPStatus[1]
}

func ExampleNotSent() {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	c := condition.Only(condition.NotSent()) // a payment must not be made twice
	fmt.Println(c.Check(refused), c.Check(reset), c.Check(errors.Join(refused, reset)))
	// Output: retry stop stop
}

func ExampleHTTPDefault() {
	c := condition.Any(condition.HTTPStatus(409), condition.HTTPDefault()) // an API that answers 409 for a moment
	fmt.Println(c.Check(withStatus(429)), c.Check(withStatus(502)), c.Check(withStatus(409)), c.Check(withStatus(404)))
	// Output: throttled retry retry stop
}

func ExampleErrorCode() {
	c := condition.ErrorCode("Throttling", "Throttling.*", "InternalError")
	fmt.Println(c.Check(&apiError{"Throttling.User"}), c.Check(&apiError{"InternalError"}), c.Check(&apiError{"Forbidden"}))
	// Output: throttled retry unknown
}

func ExampleSQLSerialization() {
	transaction := condition.Only(condition.SQLSerialization(), condition.MySQL(1205, 1213))
	fmt.Println(transaction.Check(fmt.Errorf("commit: %w", &pgError{"40001"})), transaction.Check(&pgError{"23505"}))
	// Output: retry stop
}

func ExampleSQLConnection() {
	c := condition.Any(condition.SQLConnection(), condition.Network())
	fmt.Println(c.Check(&pgError{"57P01"}), c.Check(&pgError{"53300"}), c.Check(io.EOF), c.Check(&pgError{"42601"}))
	// Output: retry throttled retry unknown
}

func ExampleSQLState() {
	c := condition.SQLState("55006") // the database that is to be dropped is in use
	fmt.Println(c.Check(&pgError{"55006"}), c.Check(&pgError{"3D000"}))
	// Output: retry unknown
}

func ExampleMySQL() {
	deadlock, busy := &MySQLError{Number: 1213}, &MySQLError{Number: 1040}
	fmt.Println(condition.MySQL().Check(deadlock), condition.MySQL().Check(busy), condition.MySQL(1205).Check(deadlock))
	// Output: retry throttled unknown
}

func ExampleRedis() {
	c := condition.Redis()
	fmt.Println(c.Check(redisError("LOADING Redis is loading the dataset in memory")), c.Check(redisError("OOM command not allowed")))
	// Output: retry unknown
}

func ExampleMongoLabel() {
	c := condition.MongoLabel("TransientTransactionError")
	fmt.Println(c.Check(labels{"TransientTransactionError"}), c.Check(labels{"RetryableWriteError"}))
	// Output: retry unknown
}

func ExampleAWS() {
	c := condition.Only(condition.AWS())
	fmt.Println(c.Check(&apiError{"SlowDown"}), c.Check(withStatus(503)), c.Check(&apiError{"AccessDenied"}))
	// Output: throttled retry stop
}

func ExampleAlibaba() {
	c := condition.Only(condition.Alibaba())
	fmt.Println(c.Check(&SDKError{Code: ptr("Throttling.User")}), c.Check(&SDKError{StatusCode: ptr(503)}), c.Check(&SDKError{StatusCode: ptr(404)}))
	// Output: throttled retry stop
}

func ExampleRetryableHTTP() {
	c := condition.RetryableHTTP()
	scheme := &url.Error{Op: "Get", URL: "ftp://127.0.0.1", Err: errors.New("unsupported protocol scheme \"ftp\"")}
	fmt.Println(c.Check(withStatus(429)), c.Check(withStatus(500)), c.Check(withStatus(501)), c.Check(scheme), c.Check(io.EOF))
	// Output: throttled retry stop stop retry
}
