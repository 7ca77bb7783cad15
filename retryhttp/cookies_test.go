package retryhttp_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

func newJar(t *testing.T, cookies ...string) *cookiejar.Jar {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	for _, c := range cookies {
		parsed, err := http.ParseSetCookie(c)
		require.NoError(t, err)
		jar.SetCookies(&url.URL{Scheme: "http", Host: "example.com", Path: "/"}, []*http.Cookie{parsed})
	}
	return jar
}

// TestJar: the cookies of every answer are stored, and each attempt gets what is there by then, once. Source: RFC 6265,
// section 3: cookies are obeyed whatever the status of the answer is.
func TestJar(t *testing.T) {
	for _, tc := range []struct {
		name    string
		stored  []string
		header  string // of the request
		answers [][]string
		clients bool // the http.Client has the jar too
		want    []string
		left    string
	}{
		{name: "affinity", answers: [][]string{{"node=7"}, nil}, want: []string{"", "node=7"}, left: "node=7"},
		{name: "of the last answer too", answers: [][]string{{"node=7"}, {"node=8"}}, want: []string{"", "node=7"}, left: "node=8"},
		{name: "with the client's jar", clients: true, stored: []string{"user=a"}, answers: [][]string{{"node=7"}, nil},
			want: []string{"user=a", "user=a; node=7"}, left: "user=a; node=7"},
		{name: "changed", clients: true, stored: []string{"node=6"}, answers: [][]string{{"node=7"}, {"node=8"}, nil},
			want: []string{"node=6", "node=7", "node=8"}, left: "node=8"},
		{name: "deleted", clients: true, stored: []string{"node=6", "user=a"}, answers: [][]string{{"node=; Max-Age=0"}, nil},
			want: []string{"node=6; user=a", "user=a"}, left: "user=a"},
		{name: "the caller's own", header: "theme=dark", answers: [][]string{{"node=7"}, nil},
			want: []string{"theme=dark", "theme=dark; node=7"}, left: "node=7"},
		{name: "not the jar's to delete", header: "theme=dark", answers: [][]string{{"theme=; Max-Age=0"}, nil},
			want: []string{"theme=dark", "theme=dark"}},
		{name: "refused by the jar", header: "node=1", answers: [][]string{{"node=7; Domain=elsewhere.com"}, nil},
			want: []string{"node=1", "node=1"}},
		{name: "not for this path", answers: [][]string{{"node=7; Path=/other"}, nil}, want: []string{"", ""}},
		{name: "no cookies that can be read", header: "a b", answers: [][]string{nil, nil}, want: []string{"a b", "a b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
				assert.LessOrEqual(t, len(r.Header["Cookie"]), 1)
				got = append(got, r.Header.Get("Cookie"))
				code := 503
				if len(got) == len(tc.answers) {
					code = 200
				}
				response := answer(code, "")
				response.Header["Set-Cookie"] = tc.answers[len(got)-1]
				return response, nil
			}), atOnce)
			jar := newJar(t, tc.stored...)
			transport.Jar = jar
			client := &http.Client{Transport: transport}
			if tc.clients {
				client.Jar = jar
			}
			r := get(t)
			if tc.header != "" {
				r.Header.Set("Cookie", tc.header)
			}
			response, err := client.Do(r)
			require.NoError(t, err)
			assert.Equal(t, 200, response.StatusCode)
			assert.Equal(t, tc.want, got)
			if !tc.clients { // an http.Client with a Jar adds to the caller's fields
				assert.Equal(t, tc.header, r.Header.Get("Cookie"))
			}
			left := &http.Request{Header: http.Header{}}
			for _, c := range jar.Cookies(r.URL) {
				left.AddCookie(c)
			}
			assert.Equal(t, tc.left, left.Header.Get("Cookie"))
		})
	}
}

// TestJarGoesByTheHostField, as http.Client's does.
func TestJarGoesByTheHostField(t *testing.T) {
	n := 0
	transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		n++
		return answer(503, "", "Set-Cookie", "n="+strconv.Itoa(n)), nil
	}), atOnce, retry.WithMaxAttempts(2))
	jar := newJar(t)
	transport.Jar = jar
	r := get(t)
	r.Host = "virtual.example"
	_, err := transport.RoundTrip(r)
	require.NoError(t, err)
	assert.Empty(t, jar.Cookies(r.URL))
	assert.Len(t, jar.Cookies(&url.URL{Scheme: "http", Host: "virtual.example", Path: "/"}), 1)
}

// TestJarCannotBeANilPointer.
func TestJarCannotBeANilPointer(t *testing.T) {
	transport := &retryhttp.Transport{Jar: (*cookiejar.Jar)(nil)}
	var config *retry.ConfigError
	require.ErrorAs(t, transport.Validate(), &config)
	assert.Equal(t, "Transport.Jar", config.Option)
}
