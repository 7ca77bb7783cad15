package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/retryhttp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestOutput: three cuts, a 503 and a silence, and the file is whole.
func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, settings{}))
	failed := regexp.MustCompile(`attempt \d failed: .*`).FindAllString(out.String(), -1)
	for i := range failed {
		failed[i] = regexp.MustCompile(` \(GET .*`).ReplaceAllString(failed[i], "")
	}
	require.Equal(t, []string{
		"attempt 1 failed: unexpected EOF",
		"attempt 2 failed: unexpected EOF",
		"attempt 3 failed: 503 Service Unavailable",
		"attempt 4 failed: " + retryhttp.ErrStalled.Error(),
		"attempt 5 failed: unexpected EOF",
	}, failed)
	require.Contains(t, out.String(), "attempt 6: [####################] 4.0 MB of 4.0 MB\n")
	require.Regexp(t, `4\.0 MB in 6 attempts, SHA-256 [0-9a-f]{16}…\n$`, out.String())
}

// TestFails where the file is not what it should be, or there is none.
func TestFails(t *testing.T) {
	s, err := startServer()
	require.NoError(t, err)
	defer s.Close()
	name := filepath.Join(t.TempDir(), "file")
	var out strings.Builder
	err = run(t.Context(), &out, settings{s.address(), name, strings.Repeat("0", 64)})
	require.EqualError(t, err, "the checksum should be "+strings.Repeat("0", 64)+", not "+s.sum())
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, s.content, got)

	require.ErrorContains(t, run(t.Context(), &out, settings{url: s.address()}), "-o must name")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, &out, settings{s.address(), name, ""}), context.Canceled)
}

// TestVerify: the program fails where one of the things that it says does not hold.
func TestVerify(t *testing.T) {
	for _, test := range []struct {
		requests, rests int32
		sent            int64
		attempts        int
		fails           string
	}{
		{6, 5, 4_100_000, 6, ""},
		{5, 4, 4_000_000, 5, "6 requests at least"},
		{7, 6, 4_000_000, 6, "as many attempts as requests"},
		{6, 4, 4_000_000, 6, "each of the 6 requests but the first"},
		{6, 5, 9_000_000, 6, "should have been sent"},
	} {
		s := &server{content: make([]byte, 4_000_000)}
		s.requests.Store(test.requests)
		s.rests.Store(test.rests)
		s.sent.Store(test.sent)
		err := s.verify(test.attempts)
		if test.fails == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, test.fails)
		}
	}
}
