package alibaba_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ms      = time.Millisecond
	sec     = time.Second
	longest = time.Duration(math.MaxInt64)

	user    = "X-RateLimit-User"
	userAPI = "X-RateLimit-User-API"

	accessKey = "LTAI5tExampleAccessKeyID"
)

// t0 has no monotonic reading, as times of a virtual clock.
var t0 = time.Date(2023, 11, 14, 22, 13, 19, 0, time.UTC)

// describe is the control of one API, with a gate of its own.
func describe() alibaba.Control {
	return alibaba.Control{
		Gate: new(throttle.Gate), Account: accessKey,
		Product: "Ecs", Version: "2014-05-26", Action: "DescribeInstances", Region: "cn-hangzhou",
	}
}

// sibling is the control of another API of the same account.
func sibling(c alibaba.Control) alibaba.Control {
	c.Action = "CreateSnapshot"
	return c
}

// answer is a response with the given status and pairs of header names and values.
func answer(status int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h}
}

// failed is the error of such a response at t.
func failed(t time.Time, status int, header ...string) *alibaba.Error {
	return alibaba.ErrorFrom(answer(status, header...), "", "", t)
}

// left is how long a key of the control cools down from now.
func left(g *throttle.Gate, now time.Time, key throttle.Key) time.Duration {
	if e, ok := errors.AsType[*throttle.Error](g.Check(now, key)); ok {
		return e.Remaining
	}
	return 0
}

// lefts is left for both keys.
func lefts(c alibaba.Control, now time.Time) (account, api time.Duration) {
	a, b := c.Keys()
	return left(c.Gate, now, a), left(c.Gate, now, b)
}

// script is an operation that gives the answers in turn, and 200 from then on. A nil answer is a broken connection. It is
// to be run in a bubble.
type script struct {
	control alibaba.Control
	answers []*http.Response
	at      []time.Duration // when it was called, from the start
	header  http.Header     // of the last request
	start   time.Time
}

func play(c alibaba.Control, answers ...*http.Response) *script {
	return &script{control: c, answers: answers, start: time.Now()}
}

func (s *script) call(context.Context) error {
	s.at = append(s.at, time.Since(s.start))
	s.header = http.Header{}
	s.control.SetHeader(s.header)
	if len(s.answers) == 0 {
		return nil
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	if next == nil {
		return io.ErrUnexpectedEOF
	}
	return alibaba.ErrorFrom(next, "", "", time.Now())
}

// run makes a call of the script with the control's options, and those given.
func (s *script) run(t *testing.T, opts ...retry.Option) error {
	return retry.Run(t.Context(), s.call, append(s.control.Options(), opts...)...)
}

// drawn pins all draws.
func drawn(u float64) retry.Option { return retry.WithRand(func() float64 { return u }) }

// belowOne is the largest number that can be drawn.
var belowOne = math.Nextafter(1, 0)

// refusal is the throttle's error in err.
func refusal(t *testing.T, err error) *throttle.Error {
	t.Helper()
	e, ok := errors.AsType[*throttle.Error](err)
	require.True(t, ok, "%v", err)
	return e
}
