package retryhttp

import (
	"net/http"
	"net/url"
	"slices"
)

// cookieURL is the URL that http.Client asks a Jar about.
func cookieURL(r *http.Request) *url.URL {
	if r.Host == "" || r.URL == nil || r.Host == r.URL.Host {
		return r.URL
	}
	u := *r.URL
	u.Host = r.Host
	return &u
}

// storeCookies hands the cookies of an answer to the Jar. http.Client does so with the last answer only.
func (f *flight) storeCookies() {
	if f.t.Jar == nil || f.response == nil {
		return
	}
	if cookies := f.response.Cookies(); len(cookies) > 0 {
		f.t.Jar.SetCookies(cookieURL(f.request), cookies)
	}
}

// sendCookies puts the Jar's cookies into the request of an attempt, in place of those of the same name, which http.Client
// had from the same Jar; also in place of one that the Jar had at the first attempt and has no more.
func (f *flight) sendCookies(r *http.Request) {
	jar := f.t.Jar.Cookies(cookieURL(r))
	if f.cookies == nil {
		f.cookies = jar
	}
	known := func(c *http.Cookie) bool {
		same := func(other *http.Cookie) bool { return other.Name == c.Name }
		return slices.ContainsFunc(jar, same) || slices.ContainsFunc(f.cookies, same)
	}
	others := slices.DeleteFunc(r.Cookies(), known)
	if len(others) == len(r.Cookies()) && len(jar) == 0 {
		return // also what is no cookie that can be read stays as it is
	}
	r.Header.Del("Cookie")
	for _, c := range append(others, jar...) {
		r.AddCookie(c)
	}
}
