package condition_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

func TestHTTPDefault(t *testing.T) {
	named := map[int]condition.Verdict{
		429: throttled, 529: throttled,
		408: again, 421: again, 425: again, 500: again, 502: again, 503: again, 504: again,
		520: again, 521: again, 522: again, 523: again, 524: again,
		501: stop, 505: stop, 511: stop, 525: stop, 526: stop,
	}
	for status := -1; status <= 1000; status++ {
		want, ok := named[status]
		if !ok && status >= 400 && status < 500 {
			want = stop
		}
		require.Equal(t, want, condition.HTTPDefault().Check(withStatus(status)), status)
	}
	require.Equal(t, unknown, condition.HTTPDefault().Check(errA))
	require.Equal(t, stop, condition.HTTPDefault().Check(wrapping{404, withStatus(503)}), "the outermost")
}

// TestHTTPDefaultForbidden: 403 is a limit where a wait is named, and a no otherwise.
func TestHTTPDefaultForbidden(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"RetryAfter", told{403, time.Minute}, throttled},
		{"RetryAfter 0", told{403, 0}, stop},
		{"RetryAfter negative", told{403, -1}, stop},
		{"GetRetryAfter", &daraError{status: ptr(403), after: ptr(int64(1000))}, throttled},
		{"GetRetryAfter 0", &daraError{status: ptr(403), after: ptr(int64(0))}, stop},
		{"GetRetryAfter nil", &daraError{status: ptr(403)}, stop},
		{"told below", wrapping{403, told{0, time.Second}}, throttled},
		{"another code", told{404, time.Minute}, stop},
		{"told nothing", errors.Join(withStatus(403), (*talker)(nil)), stop},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, condition.HTTPDefault().Check(tt.err)) })
	}
}

// TestHTTPDefaultSaysWhen: 413 and 5xx are temporary where a wait is named (RFC 9110, sections 10.2.3 and 15.5.14).
func TestHTTPDefaultSaysWhen(t *testing.T) {
	for status, without := range map[int]condition.Verdict{
		413: stop, 500: again, 501: stop, 505: stop, 507: unknown, 509: unknown, 511: stop, 525: stop, 526: stop, 599: unknown,
	} {
		require.Equal(t, again, condition.HTTPDefault().Check(told{status, time.Minute}), status)
		require.Equal(t, without, condition.HTTPDefault().Check(told{status, 0}), status)
	}
	require.Equal(t, throttled, condition.HTTPDefault().Check(told{529, time.Minute}))
	for _, status := range []int{400, 404, 412, 414, 499} {
		require.Equal(t, stop, condition.HTTPDefault().Check(told{status, time.Minute}), status)
	}
	require.Equal(t, unknown, condition.HTTPDefault().Check(told{600, time.Minute}))
}
