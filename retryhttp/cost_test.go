package retryhttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/throttle"
)

// stub answers at once, from memory.
type stub struct{ response http.Response }

func newStub(code int) *stub {
	return &stub{http.Response{StatusCode: code, Header: http.Header{}}}
}

func (s *stub) RoundTrip(*http.Request) (*http.Response, error) {
	s.response.Body = http.NoBody
	return &s.response, nil
}

// costCases are the transports whose cost over the bare one is promised, with the allocations that they may make.
var costCases = []struct {
	name      string
	transport func() *retryhttp.Transport
	allocs    float64
}{
	{"default", func() *retryhttp.Transport { return retryhttp.NewTransport(nil) }, 4},
	{"gate", func() *retryhttp.Transport {
		t := retryhttp.NewTransport(nil)
		t.Gate = new(throttle.Gate)
		return t
	}, 4},
	{"attempt timeout", func() *retryhttp.Transport {
		return retryhttp.NewTransport(nil, retry.WithAttemptTimeout(time.Minute))
	}, 10},
	{"attempt timeout and gate", func() *retryhttp.Transport {
		t := retryhttp.NewTransport(nil, retry.WithAttemptTimeout(time.Minute))
		t.Gate = new(throttle.Gate)
		return t
	}, 10},
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	request, err := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	require.NoError(t, err)
	for _, tc := range costCases {
		transport := tc.transport()
		transport.Base = newStub(http.StatusOK)
		assert.LessOrEqual(t, testing.AllocsPerRun(200, func() {
			response, _ := transport.RoundTrip(request)
			_ = response.Body.Close()
		}), tc.allocs, tc.name)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	request, err := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	require.NoError(b, err)
	for _, tc := range costCases {
		b.Run(tc.name, func(b *testing.B) {
			transport := tc.transport()
			transport.Base = newStub(http.StatusOK)
			b.ReportAllocs()
			for b.Loop() {
				response, _ := transport.RoundTrip(request)
				_ = response.Body.Close()
			}
		})
	}
}
