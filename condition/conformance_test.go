package condition_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// conforming is a condition and what it should say: want about match, none about everything else.
type conforming struct {
	name       string
	c          condition.Condition
	match      error
	want, none condition.Verdict
	marker     bool // does not look inside the error of an inner call
}

func conformant() []conforming {
	hasMatch := func(err error) bool { return strings.Contains(err.Error(), "match") }
	match := errors.New("match")
	return []conforming{
		{name: "Func", c: condition.Func(func(err error) condition.Verdict {
			if hasMatch(err) {
				return throttled
			}
			return unknown
		}), match: match, want: throttled},
		{name: "If", c: condition.If(hasMatch), match: match, want: again},
		{name: "StopIf", c: condition.StopIf(hasMatch), match: match, want: stop},
		{name: "Any", c: condition.Any(condition.Is(errB), condition.Is(match)), match: match, want: again},
		{name: "Only", c: condition.Only(condition.Is(errB), condition.Is(match)), match: match, want: again, none: stop},
		{name: "All", c: condition.All(condition.Is(match), condition.If(hasMatch)), match: match, want: again},
		{name: "Not", c: condition.Not(condition.Is(match)), match: match, want: stop},
		{name: "Is", c: condition.Is(errB, match), match: match, want: again},
		{name: "As", c: condition.As[*fault](), match: &fault{}, want: again},
		{name: "As interface", c: condition.As[net.Error](), match: &fault{}, want: again},
		{name: "Match", c: condition.Match(func(f *fault) bool { return f.again }), match: &fault{again: true}, want: again},
		{name: "Code", c: condition.Code(func(err error) bool { return hasMatch(err) }, true), match: match, want: again},
		{name: "GRPC", c: condition.GRPC(), match: rpc(14), want: again},
		{name: "GRPC stop", c: condition.GRPC(), match: rpc(3), want: stop},
		{name: "Timeout", c: condition.Timeout(), match: context.DeadlineExceeded, want: again},
		{name: "Network", c: condition.Network(), match: io.ErrUnexpectedEOF, want: again},
		{name: "HTTPStatus", c: condition.HTTPStatus(503, 429), match: withStatus(429), want: throttled},
		{name: "NotSent", c: condition.NotSent(), match: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, want: again, marker: true},
		{name: "HTTPDefault", c: condition.HTTPDefault(), match: withStatus(503), want: again},
		{name: "HTTPDefault stop", c: condition.HTTPDefault(), match: withStatus(404), want: stop},
		{name: "ErrorCode", c: condition.ErrorCode("Busy", "SlowDown"), match: &apiError{"SlowDown"}, want: throttled},
		{name: "ErrorCode prefix", c: condition.ErrorCode("Busy.*"), match: oldAPI("Busy.Disk"), want: again},
		{name: "SQLState", c: condition.SQLState("40001", "55006"), match: &pgError{"55006"}, want: again},
		{name: "SQLSerialization", c: condition.SQLSerialization(), match: &pgError{"40P01"}, want: again},
		{name: "SQLConnection", c: condition.SQLConnection(), match: &pgError{"53300"}, want: throttled},
		{name: "MySQL", c: condition.MySQL(1213, 1205), match: &MySQLError{Number: 1205}, want: again},
		{name: "Redis", c: condition.Redis(), match: redisError("LOADING Redis is loading the dataset in memory"), want: again},
		{name: "MongoLabel", c: condition.MongoLabel("RetryableReadError", "RetryableWriteError"), match: labels{"RetryableWriteError"}, want: again},
		{name: "AWS", c: condition.AWS(), match: &apiError{"ThrottlingException"}, want: throttled},
		{name: "AWS stop", c: condition.AWS(), match: awsCanceled{context.Canceled}, want: stop},
		{name: "Alibaba", c: condition.Alibaba(), match: &daraError{code: ptr("Throttling.User"), status: ptr(400)}, want: throttled},
		{name: "Alibaba fields", c: condition.Alibaba(), match: &SDKError{StatusCode: ptr(503)}, want: again},
		{name: "RetryableHTTP", c: condition.RetryableHTTP(), match: withStatus(501), want: stop, none: again},
		{name: "Hopeless", c: condition.Hopeless(), match: sql.ErrNoRows, want: stop, marker: true},
	}
}

// typedNils are errors that hold nil pointers of types whose methods panic on those.
func typedNils() []error {
	return []error{(*fault)(nil), (*net.OpError)(nil), (*url.Error)(nil), (*net.DNSError)(nil), (*talker)(nil), (*MySQLError)(nil), (*SDKError)(nil)}
}

func TestConformance(t *testing.T) {
	for _, tt := range conformant() {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.c
			require.Equal(t, unknown, c.Check(nil), "nil")
			require.Equal(t, tt.none, c.Check(errA), "something else")

			for form, err := range wrapped(tt.match) {
				require.Equal(t, tt.want, c.Check(err), form)
			}
			if tt.marker {
				require.Equal(t, unknown, c.Check(opaque{tt.match}))
			} else {
				require.Equal(t, tt.want, c.Check(opaque{tt.match}))
			}

			for _, typedNil := range typedNils() {
				if tt.name != "Func" { // gets every error as it is
					require.Equal(t, tt.none, c.Check(typedNil), "%T", typedNil)
				}
				if tt.name == "Func" || tt.name == "If" || tt.name == "StopIf" || tt.name == "Code" || tt.name == "All" {
					continue // their functions would ask the error for its text
				}
				for form, err := range wrapped(typedNil) {
					require.Equal(t, tt.none, c.Check(err), "%s of %T", form, typedNil)
				}
				require.Equal(t, tt.want, c.Check(errors.Join(typedNil, tt.match)), "%T", typedNil)
			}

			require.NotPanics(t, func() {
				if tt.name != "Func" { // functions cannot be compared
					require.True(t, c == tt.c)
				}
			})
		})
	}
}

// wrapped returns err in the forms in which errors come.
func wrapped(err error) map[string]error {
	return map[string]error{
		"bare":         err,
		"%w":           fmt.Errorf("outer: %w", err),
		"%w twice":     fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", err)),
		"%w of two":    fmt.Errorf("%w, then %w", errA, err),
		"joined first": errors.Join(err, errA),
		"joined last":  errors.Join(errA, err),
		"joined deep":  errors.Join(errA, errors.Join(errA, fmt.Errorf("inner: %w", err))),
		"with nil":     joinWithNil{err},
	}
}

// joinWithNil unwraps to a list with nil in it, which no error should, and some do.
type joinWithNil struct{ err error }

func (joinWithNil) Error() string     { return "match with nil" }
func (j joinWithNil) Unwrap() []error { return []error{nil, j.err, nil} }

// TestConcurrentSafeConditions is for the race detector.
func TestConcurrentSafeConditions(t *testing.T) {
	for _, tt := range conformant() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 50 {
						if tt.c.Check(fmt.Errorf("outer: %w", tt.match)) != tt.want || tt.c.Check(errA) != tt.none || validate(tt.c) != nil {
							t.Error("a different answer")
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// sampleErrors are errors of every kind that this package knows, and of some it does not.
func sampleErrors() []error {
	errs := append(typedNils(), nil, errA, opaque{errA}, context.Canceled, errors.Join(typedNils()...))
	for _, tt := range conformant() {
		errs = append(errs, tt.match)
	}
	for _, err := range errs[:len(errs):len(errs)] {
		errs = append(errs, joinWithNil{err})
	}
	return errs
}
