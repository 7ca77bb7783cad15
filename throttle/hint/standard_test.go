package hint_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// response is a case of testdata/throttle_headers.json.
type response struct {
	Name, Vendor, Basis string
	Status              int
	Headers             map[string]lines
	Body                json.RawMessage
	Now                 time.Time
	Want                struct {
		DelayMS          *int64 `json:"delay_ms"`
		Source           *string
		ShouldRetry      *bool `json:"should_retry"`
		Limit, Remaining *int64
		Bucket           string
		Quotas           []struct {
			Name      string
			Remaining int64
			ResetMS   int64 `json:"reset_ms"`
			Limit     *int64
		}
	}
}

// lines are written as a text if there is one.
type lines []string

func (l *lines) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = lines{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

func (r *response) header() http.Header {
	h := http.Header{}
	for name, lines := range r.Headers {
		for _, line := range lines {
			h.Add(name, line)
		}
	}
	return h
}

func responses(t testing.TB) (list []response) {
	data, err := os.ReadFile("testdata/throttle_headers.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &list))
	require.Len(t, list, 83)
	return list
}

// TestStandardVectors: the response's header, and where that tells no wait, its body.
func TestStandardVectors(t *testing.T) {
	for _, v := range responses(t) {
		s, ok := hint.Standard().Parse(v.header(), v.Status, v.Now)
		require.Equal(t, !s.IsZero(), ok, v.Name)
		if len(v.Body) > 0 && !s.HasDelay {
			s, _ = hint.RetryInfo(v.Body)
		}
		requireWanted(t, v, s)
	}
}

func requireWanted(t *testing.T, v response, s throttle.Signal) {
	t.Helper()
	require.Equal(t, v.Want.DelayMS != nil, s.HasDelay, v.Name)
	if v.Want.DelayMS != nil {
		// Rounded up, and no more than a Duration holds.
		count := int64(s.Delay / ms)
		if s.Delay%ms > 0 {
			count++
		}
		require.Equal(t, *v.Want.DelayMS, min(count, int64(longest/ms)), v.Name)
	} else {
		require.Zero(t, s.Delay, v.Name)
	}
	source := ""
	if v.Want.Source != nil {
		source = *v.Want.Source
	}
	require.Equal(t, source, s.Source, v.Name)
	want := throttle.Undecided
	if v.Want.ShouldRetry != nil {
		want = map[bool]throttle.Tri{true: throttle.Yes, false: throttle.No}[*v.Want.ShouldRetry]
	}
	require.Equal(t, want, s.Retry, v.Name)

	pushedBack := s.Source == "grpc-retry-pushback-ms"
	require.Equal(t, pushedBack, s.RestartCurve, v.Name)
	switch {
	case pushedBack:
		require.Equal(t, throttle.Exact(), s.Rule, v.Name)
	case s.Source == "x-amz-retry-after":
		require.Equal(t, throttle.Clamp(5*sec), s.Rule, v.Name)
	default:
		require.Equal(t, throttle.Rule{}, s.Rule, v.Name)
	}

	if v.Want.Limit != nil {
		require.Equal(t, *v.Want.Limit, s.Quotas[0].Limit, v.Name)
	}
	if v.Want.Remaining != nil {
		require.Equal(t, *v.Want.Remaining, s.Quotas[0].Remaining, v.Name)
	}
	if v.Want.Bucket != "" {
		require.Equal(t, v.Want.Bucket, s.Quotas[0].Name, v.Name)
	}
	for i, q := range v.Want.Quotas {
		require.Equal(t, throttle.Quota{
			Name: q.Name, Limit: orElse(q.Limit, -1), Remaining: q.Remaining,
			Delay: time.Duration(q.ResetMS) * ms, HasDelay: true,
		}, s.Quotas[i], v.Name)
	}
}

// TestVendorVectors: what Standard makes of a vendor's response, the vendor's own Parser makes of it too.
func TestVendorVectors(t *testing.T) {
	vendors := map[string]hint.Parser{
		"github": hint.GitHub(), "gitlab": hint.GitLab(), "openai": hint.OpenAI(), "anthropic": hint.Anthropic(),
		"azure": hint.Azure(), "aws": hint.AWS(), "discord": hint.Discord(), "alibaba": hint.Alibaba(),
		"stripe": hint.Stripe(), "shopify": hint.Shopify(), "grpc": hint.GRPC(),
		"cloudflare": hint.IETF(), "persona": hint.IETF(),
	}
	seen := map[string]bool{}
	for _, v := range responses(t) {
		p, ok := vendors[v.Vendor]
		if !ok {
			continue
		}
		seen[v.Vendor] = true
		s, _ := p.Parse(v.header(), v.Status, v.Now)
		requireWanted(t, v, s)
		standard, _ := hint.Standard().Parse(v.header(), v.Status, v.Now)
		require.Equal(t, standard, s, v.Name)
	}
	require.Len(t, seen, len(vendors))
}
