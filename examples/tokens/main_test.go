package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantOutput = `100 pages in 35.1s. In each second a token served so many, was turned away (x), cooled down or was not needed (.):

token  0s        10s       20s       30s     served  turned away  in a row  cools down for
    0  11211221x......11121212x.......2112.      30            2         0  -
    1  111x............211x...........211x.      12            3         1  11.2s
    2  11112212x.x.x...11121221xx.x....2111      29            6         0  -
    3  111121221x......12112212x......1121.      29            2         0  -
    4  .x..................................       0            1         1  9m25.9s

waits: 7, 12.3s in all
`

func lookupIn(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := values[name]; return value, ok }
}

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, lookupIn(nil)))
	require.Equal(t, wantOutput, out.String())
	for token := range strings.SplitSeq(defaults["TOKENS_TOKEN"], ", ") {
		require.NotContains(t, out.String(), token)
	}
}

// Whatever the selection, and however many tokens there are, every page is served and no token comes back early.
func TestSettings(t *testing.T) {
	for _, settings := range []map[string]string{
		{"TOKENS_TOKEN_LOAD_BALANCING": "random"},
		{"TOKENS_TOKEN_LOAD_BALANCING": "least-recently-used"},
		{"TOKENS_TOKEN": "a", "TOKENS_TOKEN_MAX_RETRIES": "1"},
		{"TOKENS_TOKEN": "a,b,c,d,e,f,g,h,i,j,k,l"},
	} {
		require.NoError(t, run(t.Context(), io.Discard, lookupIn(settings)))
	}
	require.ErrorContains(t, run(t.Context(), io.Discard, lookupIn(map[string]string{"TOKENS_TOKEN_LOAD_BALANCING": "fair"})), `TOKENS_TOKEN_LOAD_BALANCING = "fair"`)
	require.ErrorContains(t, run(t.Context(), io.Discard, lookupIn(map[string]string{"TOKENS_TOKEN_MAX_RETRIES": "0"})), "page 4: 403 Forbidden")
}

// The program fails where one of the things that it says does not hold.
func TestVerify(t *testing.T) {
	ok, no, away := http.StatusOK, http.StatusForbidden, http.StatusTooManyRequests
	for breaks, log := range map[string][]visit{
		"":                           {{0, 4, "/0", no}, {0, 0, "/0", away}, {0, 1, "/0", ok}, {0, 0, "/1", ok}},
		"2 pages should":             {{0, 1, "/0", ok}},
		"/0 should have been served": {{0, 1, "/0", ok}, {0, 1, "/0", ok}, {0, 1, "/1", ok}},
		"without a token":            {{0, 1, "/0", ok}, {0, -1, "/1", http.StatusUnauthorized}, {0, 1, "/1", ok}},
		"token 4 should have been":   {{0, 4, "/0", no}, {0, 1, "/0", ok}, {0, 4, "/1", no}, {0, 1, "/1", ok}},
	} {
		s := &server{log: log}
		if err := s.verify(2); breaks == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, breaks)
		}
	}
	s := &server{accounts: map[string]*account{"a": {index: 7, early: 2}}}
	require.ErrorContains(t, s.verify(0), "token 7 came back early 2 times")
}

func TestAccount(t *testing.T) {
	now := retrytest.NewClock().Now()
	a := account{limit: 2}
	ask := func(at time.Duration, want int, told time.Duration) {
		t.Helper()
		status, wait := a.admit(now.Add(at))
		require.Equal(t, want, status)
		require.Equal(t, told, wait)
	}
	ask(0, 200, 0)
	ask(time.Second, 200, 0)
	ask(1500*time.Millisecond, 429, 14*time.Second)
	require.Zero(t, a.early)
	ask(2*time.Second, 429, 13*time.Second)
	require.Equal(t, 1, a.early)
	ask(15*time.Second, 200, 0)
	a.silent = true
	ask(15*time.Second, 200, 0)
	ask(15*time.Second, 429, 0)
	a.revoked = true
	ask(time.Hour, 403, 0)
}
