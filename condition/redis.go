package condition

import "strings"

// Redis returns a Condition for errors of a Redis server that pass. It is Unknown for any other error, and for redis.Nil.
// The error's text begins with
//
//	Retry      LOADING      the server is reading its data in
//	           READONLY     it is a replica, as after a failover; also out of a script
//	           MASTERDOWN   the replica has lost its master
//	           CLUSTERDOWN  part of the cluster is missing
//	           TRYAGAIN     the keys of the command are being moved
//	           NOREPLICAS   too few replicas are there to take a write
//	Throttled  ERR max number of clients
//
// Redis sends a text and nothing else. It is read in errors that have the method RedisError(), by which go-redis marks what
// came from the server; others are passed over, whatever they say. MOVED and ASK are the cluster client's business; OOM,
// NOAUTH, NOPERM, WRONGTYPE, EXECABORT and their like do not pass. The client's own ErrPoolTimeout is for Is, a lost
// connection for Network.
//
// go-redis repeats most of these by itself, three times more (MaxRetries), and within each of those it dials five times before
// it gives up on a server that is not there (DialerRetries). Attempts multiply: set MaxRetries to -1 and DialerRetries to 1.
//
// It allocates nothing, and is safe for concurrent use. Source: the errors of Redis 7, go-redis v9.
func Redis() Condition {
	return redis{}
}

// redisPassing is sorted.
var redisPassing = []string{"CLUSTERDOWN", "LOADING", "MASTERDOWN", "NOREPLICAS", "READONLY", "TRYAGAIN"}

type redis struct{}

func (redis) Check(err error) (answer Verdict) {
	find(err, func(err error) bool {
		if _, ok := err.(interface{ RedisError() }); ok {
			answer = redisVerdict(err.Error())
		}
		return answer != Unknown
	})
	return answer
}

func redisVerdict(text string) Verdict {
	kind, _, _ := strings.Cut(text, " ")
	switch {
	case among(redisPassing, kind):
		return Retry
	case strings.HasPrefix(text, "ERR max number of clients"):
		return Throttled
	case strings.Contains(text, " -READONLY You can't write against a read only replica"): // of a command that a script called
		return Retry
	}
	return Unknown
}
