package drivertest_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/seed-89b3229b/retry/condition"
)

// redisServer answers GET with an error that says its key, and is otherwise content, or of too old a kind to know.
func redisServer(t *testing.T) string {
	return listen(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			command, err := readCommand(in)
			if err != nil {
				return
			}
			answer := "+OK"
			switch strings.ToUpper(command[0]) {
			case "GET":
				answer = "-" + command[1]
			case "HELLO", "CLIENT":
				answer = "-ERR unknown command"
			}
			if _, err := io.WriteString(conn, answer+"\r\n"); err != nil {
				return
			}
		}
	})
}

// readCommand reads one command in Redis's protocol: *count, then for each part $length and the part.
func readCommand(in *bufio.Reader) (parts []string, err error) {
	number := func() (int, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	count, err := number()
	for range count {
		length, err := number()
		if err != nil {
			return nil, err
		}
		part := make([]byte, length+2)
		if _, err := io.ReadFull(in, part); err != nil {
			return nil, err
		}
		parts = append(parts, string(part[:length]))
	}
	return parts, err
}

// quiet is a logger for go-redis, which reports a failed dial by itself.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func TestConditionsOfRedis(t *testing.T) {
	redis.SetLogger(quiet{})
	client := func(addr string) *redis.Client {
		c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, MaxRetries: -1, DisableIdentity: true, DialerRetries: 1})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	c := client(redisServer(t))
	says := func(text string) error { return c.Get(context.Background(), text).Err() }
	cases := []judged{
		{"no key", condition.Redis(), redis.Nil, condition.Unknown},
		{"full", condition.Redis(), says("ERR max number of clients reached"), condition.Throttled},
		{"pool", condition.Redis(), redis.ErrPoolTimeout, condition.Unknown},
		{"pool, by value", condition.Is(redis.ErrPoolTimeout), redis.ErrPoolTimeout, condition.Retry},
		{"refused", condition.NotSent(), client(closedPort(t)).Get(context.Background(), "k").Err(), condition.Retry},
	}
	for _, text := range []string{
		"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
		"MASTERDOWN Link with MASTER is down", "CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys request during rehashing",
		"NOREPLICAS Not enough good replicas to write.",
		"ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write against a read only replica.",
	} {
		err := says(text)
		require.EqualError(t, err, text)
		cases = append(cases, judged{text, condition.Redis(), err, condition.Retry})
	}
	for _, text := range []string{
		"OOM command not allowed when used memory > 'maxmemory'.", "NOAUTH Authentication required.", "NOPERM no permissions",
		"EXECABORT Transaction discarded", "WRONGTYPE Operation against a key", "MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381",
		"CROSSSLOT Keys in request don't hash to the same slot", "ERR syntax error",
	} {
		cases = append(cases, judged{text, condition.Redis(), says(text), condition.Unknown})
	}
	run(t, cases)
}

func TestConditionsOfMongo(t *testing.T) {
	transient := condition.MongoLabel("TransientTransactionError")
	write := condition.MongoLabel("RetryableWriteError")
	overloaded := condition.MongoLabel("RetryableError")
	run(t, []judged{
		{"command", transient, mongo.CommandError{Code: 112, Labels: []string{"TransientTransactionError"}}, condition.Retry},
		{"command, pointer", transient, &mongo.CommandError{Code: 112, Labels: []string{"TransientTransactionError"}}, condition.Retry},
		{"command, other label", transient, mongo.CommandError{Labels: []string{"RetryableWriteError"}}, condition.Unknown},
		{"write", write, mongo.WriteException{Labels: []string{"RetryableWriteError"}}, condition.Retry},
		{"write, no label", write, mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 11000}}}, condition.Unknown},
		{"bulk", write, mongo.BulkWriteException{Labels: []string{"RetryableWriteError"}}, condition.Retry},
		{"overloaded", overloaded, mongo.CommandError{Labels: []string{"SystemOverloadedError", "RetryableError"}}, condition.Throttled},
		{"below a command's", transient, mongo.CommandError{Wrapped: mongo.CommandError{Labels: []string{"TransientTransactionError"}}}, condition.Retry},
		{"no documents", write, mongo.ErrNoDocuments, condition.Unknown},
	})
}
