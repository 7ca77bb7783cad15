package condition_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
)

// reader hands out a fuzzer's bytes, and zeros after their end.
type reader []byte

func (r *reader) next() byte {
	if len(*r) == 0 {
		return 0
	}
	b := (*r)[0]
	*r = (*r)[1:]
	return b
}

// tree builds a condition from bytes, and beside it what it should answer, by a second definition.
func tree(r *reader, depth int) (condition.Condition, condition.Verdict) {
	op := r.next() % 10
	if depth == 0 {
		op %= 6
	}
	switch op {
	case 0, 1, 2, 3:
		return says(op), condition.Verdict(op)
	case 4:
		return nil, unknown
	case 5:
		return says(200), unknown
	case 6:
		c, v := tree(r, depth-1)
		return condition.Not(c), map[condition.Verdict]condition.Verdict{stop: again, again: stop, throttled: stop}[v]
	}
	var (
		list    []condition.Condition
		answers []condition.Verdict
	)
	for range r.next() % 4 {
		c, v := tree(r, depth-1)
		list, answers = append(list, c), append(answers, v)
	}
	if op == 7 {
		return condition.All(list...), modelAll(answers)
	}
	decided := slices.DeleteFunc(answers, func(v condition.Verdict) bool { return v == unknown })
	first := unknown
	if len(decided) > 0 {
		first = decided[0]
	}
	if op == 8 {
		return condition.Any(list...), first
	}
	if first == unknown {
		first = stop
	}
	return condition.Only(list...), first
}

func modelAll(answers []condition.Verdict) condition.Verdict {
	switch has := func(v condition.Verdict) bool { return slices.Contains(answers, v) }; {
	case has(stop):
		return stop
	case has(unknown) || len(answers) == 0:
		return unknown
	case has(throttled):
		return throttled
	}
	return again
}

// FuzzCombinators compares trees of conditions with the model, and checks the laws that the documentation promises.
func FuzzCombinators(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, seed := range []string{"", "\x02", "\x06\x03", "\x07\x02\x02\x03", "\x08\x03\x00\x04\x02", "\x09\x02\x00\x06\x02", "\x07\x00", "\x09\x03\x08\x02\x01\x02\x07\x01\x05\x06\x06\x03"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := reader(data)
		a, wantA := tree(&r, 5)
		b, wantB := tree(&r, 5)
		check := func(c condition.Condition) condition.Verdict { return c.Check(errA) }
		anyA := condition.Any(a) // reads a nil a

		require.Equal(t, wantA, check(anyA))
		require.Equal(t, wantA, check(condition.All(a)))
		require.Equal(t, wantB, check(condition.Any(b)))
		require.Equal(t, unknown, anyA.Check(nil))

		require.Equal(t, check(condition.All(a, b)), check(condition.All(b, a)), "All knows no order")
		require.Equal(t, wantA, check(condition.All(a, a)))
		require.Equal(t, wantA, check(condition.Any(a, a)))
		require.Equal(t, check(condition.Any(a, b)), check(condition.Any(anyA, condition.Any(b))), "Any is flat")
		require.Equal(t, check(condition.Only(a, b)), check(condition.Any(a, condition.Only(b))))
		require.Equal(t, check(condition.Only(a)), check(condition.Only(condition.Only(a), b)), "behind Only nothing is asked")
		require.NotEqual(t, unknown, check(condition.Only(a)))

		twice := check(condition.Not(condition.Not(a)))
		if wantA == throttled {
			require.Equal(t, again, twice)
		} else {
			require.Equal(t, wantA, twice)
		}
		if wantA == unknown {
			require.Equal(t, wantB, check(condition.Any(a, b)))
			require.NotContains(t, []condition.Verdict{again, throttled}, check(condition.All(a, b)))
		} else {
			require.Equal(t, wantA, check(condition.Any(a, b)))
		}
		if err := validate(condition.Any(a, b)); err != nil {
			_, ok := errors.AsType[*condition.ConfigError](err)
			require.True(t, ok)
		}
	})
}

// failure builds an error from bytes; whole is false if there is a typed nil in it.
func failure(r *reader, depth int) (err error, whole bool) {
	leaves := []error{
		errA, errB, io.EOF, io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded, sql.ErrNoRows,
		syscall.ECONNRESET, syscall.ENOSYS, withStatus(429), withPointer{}, &numbered{1}, listed{"a"}, holder{[]int{1}}, slow(true), later{true},
		&net.DNSError{IsNotFound: true}, &net.DNSError{IsTemporary: true}, chameleon{}, chameleon{&fault{again: true}}, late{io.EOF},
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, driver.ErrBadConn, unsent{safe: true}, unsent{}, late{syscall.ECONNREFUSED},
		&pgError{"40001"}, &pgError{"53300"}, &pgError{""}, &MySQLError{Number: 1213}, &MySQLError{}, redisError("LOADING x"), redisError("OOM x"),
		labels{"RetryableWriteError"}, labels{"RetryableWriteError", "SystemOverloadedError"}, labels{}, anyLabel{}, &talker{}, &talker{true},
		&apiError{"SlowDown"}, &apiError{"Denied"}, oldAPI("SlowDown"), withCode(429, "Denied"), withCode(429, ""), awsRetryable(true), awsRetryable(false),
		awsConnection{}, awsCanceled{context.Canceled}, awsCanceled{context.DeadlineExceeded}, &daraError{}, &daraError{code: ptr("Throttling")},
		&SDKError{}, &SDKError{Code: ptr("SlowDown"), StatusCode: ptr(503)}, told{403, 1}, told{403, 0},
	}
	op := int(r.next())
	if depth == 0 || op%4 == 0 {
		return leaves[op/4%len(leaves)], true
	}
	nils := typedNils()
	switch op / 4 % 10 {
	case 0:
		return nils[int(r.next())%len(nils)], false
	case 1:
		other, ok := failure(r, depth-1)
		err, whole = failure(r, depth-1)
		return errors.Join(other, err), ok && whole
	}
	err, whole = failure(r, depth-1)
	switch op / 4 % 10 {
	case 2:
		return &url.Error{Op: "Get", Err: err}, whole
	case 3:
		return &net.OpError{Op: "read", Err: err}, whole
	case 4:
		return os.NewSyscallError("read", err), whole
	case 5:
		return &fs.PathError{Op: "read", Err: err}, whole
	case 6:
		return joinWithNil{err}, whole
	case 7:
		return &fault{again: op%8 < 4, err: err}, whole
	case 8:
		return opaque{err}, whole
	}
	return fmt.Errorf("outer: %w", err), whole
}

// nodes are err and all below it, except typed nils and what is below those.
func nodes(err error) (all []error) {
	if err == nil || reflect.ValueOf(err).Kind() == reflect.Pointer && reflect.ValueOf(err).IsNil() {
		return nil
	}
	all = append(all, err)
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		all = append(all, nodes(x.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			all = append(all, nodes(e)...)
		}
	}
	return all
}

// driverModel is what some conditions should answer, by a second definition: the first of the listed things wins.
func driverModel(err error) map[condition.Condition]condition.Verdict {
	answers := map[condition.Condition]condition.Verdict{}
	decide := func(c condition.Condition, verdict func(error) condition.Verdict) {
		answers[c] = unknown
		for _, e := range nodes(err) {
			if v := verdict(e); v != unknown {
				answers[c] = v
				return
			}
		}
	}
	decide(condition.SQLState("40001", "53300"), func(e error) condition.Verdict {
		if s, ok := e.(interface{ SQLState() string }); ok {
			return map[string]condition.Verdict{"40001": again, "53300": throttled}[s.SQLState()]
		}
		return unknown
	})
	decide(condition.MySQL(1213), func(e error) condition.Verdict {
		if m, ok := e.(*MySQLError); ok && m.Number == 1213 {
			return again
		}
		return unknown
	})
	decide(condition.Redis(), func(e error) condition.Verdict {
		if e == redisError("LOADING x") {
			return again
		}
		return unknown
	})
	decide(condition.MongoLabel("RetryableWriteError"), func(e error) condition.Verdict {
		l, ok := e.(interface{ HasErrorLabel(string) bool })
		switch {
		case !ok || !l.HasErrorLabel("RetryableWriteError"):
			return unknown
		case l.HasErrorLabel("SystemOverloadedError"):
			return throttled
		}
		return again
	})
	return answers
}

// FuzzErrors asks every condition that calls no function of its own about trees of errors.
func FuzzErrors(tf *testing.F) {
	f := fuzzed.New(tf)
	for i := range 64 {
		b := byte(i)
		f.Add([]byte{b * 4, b})
		f.Add([]byte{4*b + 1, 5, b * 4, 4*b + 2, b})
	}
	targets := []error{errB, io.EOF, &numbered{1}, context.Canceled}
	conditions := []condition.Condition{
		condition.Is(targets...), condition.As[*fault](), condition.As[net.Error](), condition.Match(func(f *fault) bool { return f.again }),
		condition.Timeout(), condition.Network(), condition.HTTPStatus(429, 503), condition.Hopeless(), condition.NotSent(),
		condition.HTTPDefault(), condition.ErrorCode("SlowDown", "Throttling*"), condition.SQLState("40001"), condition.SQLSerialization(),
		condition.SQLConnection(), condition.MySQL(), condition.Redis(), condition.MongoLabel("RetryableWriteError"), condition.AWS(), condition.Alibaba(),
	}
	conditions = append(conditions, condition.Only(conditions...), condition.All(conditions...), condition.Not(condition.Any(conditions...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := reader(data)
		err, whole := failure(&r, 6)
		for _, c := range conditions {
			v := c.Check(err)
			require.Equal(t, v, c.Check(err))
			require.Equal(t, v, c.Check(&wrapping{err: err}), "wrapping changes nothing")
			require.Equal(t, v, c.Check(errors.Join(nil, err, errA)), "nor does joining with what says nothing")
		}
		require.Equal(t, unknown, condition.Hopeless().Check(opaque{err}))
		require.Equal(t, unknown, condition.NotSent().Check(opaque{err}))
		for _, later := range []error{opaque{errA}, syscall.ECONNRESET, context.Canceled, withStatus(500), unsent{}} {
			require.Equal(t, unknown, condition.NotSent().Check(errors.Join(err, later)), "one of them may have been sent")
		}
		require.Equal(t, err == nil, condition.RetryableHTTP().Check(err) == unknown)
		for c, v := range driverModel(err) {
			require.Equal(t, v, c.Check(err))
		}
		if !whole {
			return // the standard library would panic
		}
		require.Equal(t, slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) }), conditions[0].Check(err) == again)
		if f, ok := errors.AsType[*fault](err); ok && f != nil {
			require.Equal(t, again, conditions[1].Check(err))
			require.Equal(t, f.again, conditions[3].Check(err) == again)
		}
		_, ok := errors.AsType[net.Error](err)
		require.Equal(t, ok, conditions[2].Check(err) == again)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
			require.Equal(t, again, condition.Timeout().Check(err))
		}
		for _, target := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET} {
			if errors.Is(err, target) {
				require.Equal(t, again, condition.Network().Check(err))
			}
		}
	})
}
