package condition_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
)

// redisTexts are what a server answers.
var redisTexts = map[string]condition.Verdict{
	"LOADING Redis is loading the dataset in memory":                                                                 again,
	"READONLY You can't write against a read only replica.":                                                          again,
	"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.":                               again,
	"CLUSTERDOWN The cluster is down":                                                                                again,
	"CLUSTERDOWN Hash slot not served":                                                                               again,
	"TRYAGAIN Multiple keys request during rehashing of slot":                                                        again,
	"NOREPLICAS Not enough good replicas to write.":                                                                  again,
	"ERR max number of clients reached":                                                                              throttled,
	"ERR max number of clients + cluster connections reached":                                                        throttled,
	"ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write against a read only replica.": again,

	"":                          unknown,
	"redis: nil":                unknown,
	"ERR syntax error":          unknown,
	"ERR LOADING":               unknown,
	"LOADINGS":                  unknown,
	"loading the data":          unknown,
	"MOVED 3999 127.0.0.1:6381": unknown,
	"ASK 3999 127.0.0.1:6381":   unknown,
	"OOM command not allowed when used memory > 'maxmemory'.":           unknown,
	"NOAUTH Authentication required.":                                   unknown,
	"NOPERM this user has no permissions to run the 'get' command":      unknown,
	"WRONGTYPE Operation against a key holding the wrong kind of value": unknown,
	"EXECABORT Transaction discarded because of previous errors.":       unknown,
	"CROSSSLOT Keys in request don't hash to the same slot":             unknown,
	"NOSCRIPT No matching script. Please use EVAL.":                     unknown,
	"BUSY Redis is busy running a script.":                              unknown,
}

func TestRedis(t *testing.T) {
	for text, want := range redisTexts {
		require.Equal(t, want, condition.Redis().Check(redisError(text)), text)
		require.Equal(t, unknown, condition.Redis().Check(errors.New(text)), "no error of Redis: %s", text)
	}
	require.Equal(t, again, condition.Redis().Check(errors.Join(redisError("redis: nil"), redisError("TRYAGAIN x"))), "behind another")
}

// FuzzRedis compares with a second definition.
func FuzzRedis(tf *testing.F) {
	f := fuzzed.New(tf)
	for text := range redisTexts {
		f.Add(text)
	}
	f.Add("LOADING")
	f.Add("LOADING\n")
	f.Fuzz(func(t *testing.T, text string) {
		want := unknown
		for _, kind := range []string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS"} {
			if text == kind || strings.HasPrefix(text, kind+" ") {
				want = again
			}
		}
		if strings.HasPrefix(text, "ERR max number of clients") {
			want = throttled
		} else if strings.Contains(text, " -READONLY You can't write against a read only replica") {
			want = again
		}
		require.Equal(t, want, condition.Redis().Check(redisError(text)))
	})
}
