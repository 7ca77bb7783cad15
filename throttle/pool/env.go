package pool

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/quote"
	"github.com/seed-89b3229b/retry/throttle"
)

// FromEnv makes a Pool from the variables that PixivFE has for its tokens, under any prefix: with "PIXIVFE_" those are
//
//	PIXIVFE_TOKEN                   the keys, separated by commas; there must be one
//	PIXIVFE_TOKEN_LOAD_BALANCING    Selection: round-robin, random or least-recently-used; default round-robin
//	PIXIVFE_TOKEN_MAX_RETRIES       whole number from 0; default 5
//	PIXIVFE_TOKEN_BASE_TIMEOUT      Base, such as 1000ms; default 1s; 0: none but told cool-downs
//	PIXIVFE_TOKEN_MAX_BACKOFF_TIME  Max, such as 32000ms; default 32s; 0: none but told cool-downs
//
// and PIXIVFE_MAX_RETRIES, PIXIVFE_BASE_TIMEOUT, PIXIVFE_MAX_BACKOFF_TIME, the former names, where those are not set. Spaces
// around values are cut off; empty values are not set, and empty keys left out. Durations are as time.ParseDuration reads
// them. attempts is what retry.WithMaxAttempts takes, one more than the retries.
//
// lookup answers for a variable, as os.LookupEnv does. All values that cannot be used are reported together, each as a
// *ConfigError with the variable's name and value, except that the keys are never told.
func FromEnv(prefix string, lookup func(name string) (value string, ok bool)) (pool *Pool[string], attempts int, err error) {
	env := variables{prefix: prefix, lookup: lookup}
	pool = new(Pool[string])
	if name, text := env.get("TOKEN"); text != "" {
		for key := range strings.SplitSeq(text, ",") {
			if key = strings.TrimSpace(key); key != "" {
				pool.Add(key)
			}
		}
		if pool.Len() == 0 {
			env.bad(name, "hidden", "must name a key")
		}
	} else {
		env.bad(name, "unset", "must name a key")
	}
	if name, text := env.get("TOKEN_LOAD_BALANCING"); text != "" && pool.Selection.UnmarshalText([]byte(text)) != nil {
		env.bad(name, quote.Quote(text), noSuchSelection)
	}
	retries := 5
	if name, text := env.get("TOKEN_MAX_RETRIES", "MAX_RETRIES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= math.MaxInt32 { // so that one more is an int everywhere
			env.bad(name, quote.Quote(text), "must be a whole number from 0 to 2147483646")
		} else {
			retries = n
		}
	}
	pool.Base = env.duration(DefaultBase, "TOKEN_BASE_TIMEOUT", "BASE_TIMEOUT")
	pool.Max = env.duration(DefaultMax, "TOKEN_MAX_BACKOFF_TIME", "MAX_BACKOFF_TIME")
	if pool.Base == 0 || pool.Max == 0 {
		pool.Base, pool.Max = -1, 0
	}
	switch len(env.problems) {
	case 0:
		return pool, retries + 1, nil
	case 1:
		return nil, 0, env.problems[0]
	}
	return nil, 0, errors.Join(env.problems...)
}

type variables struct {
	prefix   string
	lookup   func(string) (string, bool)
	problems []error
}

// get returns the value of the first of the variables that is set, and its name; "" if none is, and the first name.
func (e *variables) get(names ...string) (name, value string) {
	for _, name := range names {
		if e.lookup == nil {
			break
		}
		if value, ok := e.lookup(e.prefix + name); ok && strings.TrimSpace(value) != "" {
			return e.prefix + name, strings.TrimSpace(value)
		}
	}
	return e.prefix + names[0], ""
}

func (e *variables) duration(unset time.Duration, names ...string) time.Duration {
	name, text := e.get(names...)
	if text == "" {
		return unset
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		e.bad(name, quote.Quote(text), "must be a duration with a unit, such as 1000ms or 32s")
	case d < 0:
		e.bad(name, d, "must not be negative")
	}
	return d
}

func (e *variables) bad(name string, value any, problem string) {
	e.problems = append(e.problems, &throttle.ConfigError{Field: name, Value: value, Problem: problem})
}
