package alibaba_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
)

const (
	short  = "Limit:10,Remain:0,Time:60000,TimeLeft:400"
	half   = "Limit:10,Remain:0,Time:60000,TimeLeft:700"
	minute = "Limit:10,Remain:0,Time:60000,TimeLeft:30000"
)

// played is what a scenario came to.
type played struct {
	s      *script
	err    error
	cached time.Duration // of the API, after the call
}

// asOriginal requires what the original did. Its measured waits are those of a real clock.
func (p *played) asOriginal(t *testing.T, v scenarioVector) {
	require.Len(t, p.s.at, v.Calls)
	if v.Result == "response:200" {
		require.NoError(t, p.err)
	}
	require.Equal(t, v.Header, p.s.header.Get("x-sdk-throttling-control"))
	require.Equal(t, millis(v.Cached), p.cached)
}

// TestVectorsOfScenarios: whole calls. Where the outcome is not the original's, the test of the defect it shows is named.
func TestVectorsOfScenarios(t *testing.T) {
	want := map[string]func(*testing.T, scenarioVector){
		"no policy: 503 is not retried": func(t *testing.T, v scenarioVector) {
			c := describe()
			c.Disabled, c.MaxAttempts = true, 1
			p := scenario(t, play(c, answer(503)))
			p.asOriginal(t, v)
			require.Equal(t, 503, status(t, p.err))
		},
		"io error then 200": func(t *testing.T, v scenarioVector) {
			for draw, wait := range map[float64]time.Duration{0: 100 * ms, belowOne: 200 * ms} {
				p := scenario(t, play(describe(), nil), drawn(draw))
				p.asOriginal(t, v)
				require.Equal(t, wait, p.s.at[1])
			}
		},
		"429 throttled 400ms then 200": func(t *testing.T, v scenarioVector) {
			p := scenario(t, play(describe(), answer(429, userAPI, short)))
			p.asOriginal(t, v)
			require.Equal(t, []time.Duration{0, 500 * ms}, p.s.at)
		},
		"400 throttled 400ms: not retried but cached": func(t *testing.T, v scenarioVector) { // see TestDefect10
			c := describe()
			c.ConditionsDecide = true
			p := scenario(t, play(c, answer(400, userAPI, short)))
			p.asOriginal(t, v)
			require.Equal(t, 400, status(t, p.err))
		},
		"next call while cached 30s: blocked without a request": func(t *testing.T, v scenarioVector) {
			c := describe()
			c.MaxDelay = 20 * sec
			c.Observe(time.Now(), failed(time.Now(), 429, userAPI, minute).Signal, failed(time.Now(), 429))
			p := scenario(t, play(c))
			v.Header = "" // no request
			p.asOriginal(t, v)
			require.ErrorIs(t, p.err, retry.ErrHintTooLong)
			require.Equal(t, 30100*ms, refusal(t, p.err).Remaining)
			require.Equal(t, 429, status(t, p.err), "what set it is known")
		},
		"call 500ms into an 800ms cool-down waits the full 800ms again": func(t *testing.T, v scenarioVector) { // see TestDefect01
			c := describe()
			c.Observe(time.Now(), failed(time.Now(), 429, userAPI, half).Signal, nil)
			time.Sleep(500 * ms)
			p := scenario(t, play(c))
			p.asOriginal(t, v)
			require.Equal(t, 300*ms, p.s.at[0])
		},
		"policy without throttling control is still blocked by the cache": func(t *testing.T, v scenarioVector) { // see TestDefect02
			c := describe()
			c.Observe(time.Now(), failed(time.Now(), 429, userAPI, half).Signal, nil)
			c.Disabled = true
			p := scenario(t, play(c))
			require.Equal(t, 800*ms, p.cached, "still there, and nobody looked")
			p.cached = 0
			p.asOriginal(t, v)
			require.Zero(t, p.s.at[0])
		},
		"503 response then io error forever: stale 503 response returned, error lost": func(t *testing.T, v scenarioVector) { // see TestDefect03
			c := describe()
			c.MaxAttempts, c.Disabled = 2, true
			p := scenario(t, play(c, answer(503), nil))
			p.asOriginal(t, v)
			require.ErrorIs(t, p.err, io.ErrUnexpectedEOF)
		},
		"user-dimension throttle is cached under the API key only": func(t *testing.T, v scenarioVector) { // see TestDefect05
			c := describe()
			c.MaxDelay = 20 * sec
			p := scenario(t, play(c, answer(429, user, minute)))
			require.Zero(t, p.cached)
			p.cached, _ = lefts(c, time.Now())
			p.asOriginal(t, v)
			require.Equal(t, 429, status(t, p.err))
		},
		"request policy wins over client policy": func(t *testing.T, v scenarioVector) {
			p := scenario(t, play(describe(), answer(503)), retry.WithMaxAttempts(2))
			p.asOriginal(t, v)
			p = scenario(t, play(describe(), answer(503)), retry.WithMaxAttempts(1))
			require.Equal(t, 503, status(t, p.err))
			require.Len(t, p.s.at, 1)
		},
		"malformed Remain on 429": func(t *testing.T, v scenarioVector) { // see TestDefect12
			p := scenario(t, play(describe(), answer(429, userAPI, "Remain:x,TimeLeft:1")), drawn(0))
			require.NoError(t, p.err)
			require.Equal(t, []time.Duration{0, 100 * ms}, p.s.at)
			require.Equal(t, v.Header, p.s.header.Get("x-sdk-throttling-control"))
			require.Equal(t, millis(v.Cached), p.cached)
		},
		"stale throttle header after io error: waits again on the old header": func(t *testing.T, v scenarioVector) { // see TestDefect03
			p := scenario(t, play(describe(), answer(429, userAPI, short), nil), drawn(0))
			p.asOriginal(t, v)
			require.Equal(t, []time.Duration{0, 500 * ms, 700 * ms}, p.s.at, "200 ms by the curve")
		},
	}
	for _, v := range vectors(t).Scenarios {
		require.Contains(t, want, v.Name)
		t.Run(v.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { want[v.Name](t, v) })
		})
	}
}

// scenario runs the script.
func scenario(t *testing.T, s *script, opts ...retry.Option) *played {
	s.start = time.Now()
	p := &played{s: s, err: s.run(t, opts...)}
	_, p.cached = lefts(s.control, time.Now())
	return p
}

// status is that of the answer in err.
func status(t *testing.T, err error) int {
	t.Helper()
	var e interface {
		error
		HTTPStatusCode() int
	}
	require.True(t, errors.As(err, &e), "%v", err)
	return e.HTTPStatusCode()
}
