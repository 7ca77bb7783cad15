package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
	"github.com/seed-89b3229b/retry/throttle/hint"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// everything is all that was recorded, as text.
func (r *telemetry) everything(t *testing.T) string {
	return r.tree(t) + r.metrics(t)
}

// No key, no token, no argument and no result is in telemetry, whichever throttle knows it and however its refusal is wrapped.
func TestNoSecrets(t *testing.T) {
	const secret = "s3cr3t"
	type secretKey struct{}
	fail := func(err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return secret, err }
	}
	limited := &carrier{throttle.Signal{Delay: 5 * time.Minute, HasDelay: true, Source: "retry-after"}}
	hint := retry.WithMaxHint(time.Minute)
	for name, call := range map[string]func(ctx context.Context, observed retry.Option) error{
		"argument and result": func(ctx context.Context, observed retry.Option) error {
			ctx = context.WithValue(ctx, secretKey{}, secret)
			_, err := retry.Do(ctx, fail(errRefused), policy, observed)
			return err
		},
		"rejected result": func(ctx context.Context, observed retry.Option) error {
			_, err := retry.Do(ctx, fail(nil), policy, observed, retry.WithRetryResult(func(string) bool { return true }))
			return err
		},
		"kept result": func(ctx context.Context, observed retry.Option) error {
			_, err := retry.Do(ctx, fail(errRefused), policy, observed, retry.WithResults(retry.Results[string]{
				Keep: func(v string, release context.CancelFunc) string { release(); return v },
			}))
			return err
		},
		"gate": func(ctx context.Context, observed retry.Option) error {
			gate := new(throttle.Gate)
			_, err := retry.Do(ctx, fail(limited), policy, observed, hint, retry.WithThrottle(gate.For(secret)))
			require.ErrorIs(t, err, retry.ErrHintTooLong)
			_, err = retry.Do(ctx, fail(nil), policy, observed, hint, retry.WithThrottle(gate.For(secret)))
			return err
		},
		"gate that an attempt asks": func(ctx context.Context, observed retry.Option) error {
			gate := new(throttle.Gate)
			gate.Block(time.Now(), time.Minute, secret)
			_, err := retry.Do(ctx, func(context.Context) (string, error) {
				return "", fmt.Errorf("check: %w", errors.Join(errInvalid, gate.Check(time.Now(), secret)))
			}, policy, observed, hint)
			return err
		},
		"pool": func(ctx context.Context, observed retry.Option) error {
			tokens := pool.New(secret+"1", secret+"2")
			_, err := retry.Do(ctx, fail(limited), policy, observed, hint, retry.WithThrottle(tokens), retry.WithHint(throttle.Ignore()))
			return err
		},
		"alibaba": func(ctx context.Context, observed retry.Option) error {
			control := alibaba.Control{Gate: new(throttle.Gate), Account: secret, Action: "DescribeInstances"}
			for range 2 {
				_, err := retry.Do(ctx, func(context.Context) (string, error) {
					resp := &http.Response{StatusCode: 429, Header: http.Header{}}
					resp.Header.Set("X-RateLimit-User", "Limit:100,Remain:0,TimeLeft:9000000")
					return "", alibaba.ErrorFrom(resp, "Throttling.User", "", time.Now())
				}, retry.MustNew(append(control.Options(), observed)...))
				require.ErrorIs(t, err, retry.ErrHintTooLong)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, spans := range []observe.AttemptSpans{observe.Always, observe.OnRetry, observe.Never} {
					r := record(observe.WithAttemptSpans(spans), observe.WithActiveOperations())
					_ = call(t.Context(), retry.WithObserver(r.observer))
					assert.NotContains(t, r.everything(t), secret)
					assert.NotEmpty(t, r.spans.Ended())
				}
			})
		})
	}
}

// What a server writes into its headers can delay, and names nothing in telemetry.
func TestHeadersNameNothing(t *testing.T) {
	const evil = "3v1l"
	h := http.Header{}
	h.Set("Retry-After", "2")
	h.Set("RateLimit-Policy", `"`+evil+`";q=100;w=60;pk=:3v1l:`)
	h.Set("RateLimit", `"`+evil+`";r=0;t=2`)
	h.Set("X-RateLimit-Resource", evil)
	h.Set("X-RateLimit-Bucket", evil)
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("X-RateLimit-Reset", "2")
	h.Set("X-RateLimit-"+evil, "0")
	h.Set("X-RateLimit-User", evil+",Limit:1,Remain:0,TimeLeft:2000")
	for _, parser := range []hint.Parser{hint.Standard(), hint.GitHub(), hint.Alibaba()} {
		signal, ok := parser.Parse(h, http.StatusTooManyRequests, time.Now())
		require.True(t, ok)
		synctest.Test(t, func(t *testing.T) {
			r := record()
			_, err := retry.Do(t.Context(), lasting(&carrier{signal}), policy, retry.WithObserver(r.observer))
			require.NoError(t, err)
			text := r.everything(t)
			assert.NotContains(t, text, evil)
			assert.Contains(t, text, `retry.delay.source="server"`)
		})
	}
}

// WithStatusDescription is all that it takes: without descriptions no text of an error is anywhere.
func TestRedacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, sc := range scenarios {
			if sc.name == "panic" || sc.name == "panic-between" { // they have no text
				continue
			}
			r := record(append(sc.options, observe.WithStatusDescription(func(error) string { return "" }))...)
			err := sc.call(t.Context(), retry.WithObserver(r.observer))
			text := r.everything(t)
			for _, words := range []string{"connection refused", "no such order", "no new token", "closed for today", "nothing cached", "429 Too"} {
				assert.NotContains(t, text, words, "%s: %v", sc.name, err)
			}
		}
	})
}

// A logger has the same texts as the spans, but for keys, and a handler may redact them by their names.
func TestLogLinesAreRedactable(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "error" || a.Key == string(observe.KeyReason) {
			return slog.Attr{}
		}
		return a
	}}))
	gate := new(throttle.Gate)
	gate.Block(time.Now(), time.Hour, "s3cr3t")
	_ = retry.Run(t.Context(), func(context.Context) error { return errors.New("s3cr3t") }, policy, retry.WithMaxDelay(1), retry.WithLogger(logger))
	_ = retry.Run(t.Context(), func(context.Context) error { return nil }, policy, retry.WithThrottle(gate.For("s3cr3t")), retry.WithLogger(logger))
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	require.Len(t, lines, 5)
	for _, line := range lines {
		require.True(t, json.Valid(line))
		assert.NotContains(t, string(line), "s3cr3t")
	}
}
