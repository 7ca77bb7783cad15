package retryhttp

import (
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
)

// maxPath is how many bytes of a path are written.
const maxPath = 256

// LogAttrs returns what the log lines of a call say of the request and its answer, under the names of OpenTelemetry:
// http.request.method, server.address, server.port if the URL has one, url.path, and http.response.status_code if there was
// an answer; and retry.not_repeated if NotRepeated says why. A path is cut after 256 bytes. What may be secret is left out: query, user information, header fields. A nil
// Failure, and one without a request, have none.
func (f *Failure) LogAttrs() []slog.Attr {
	if f == nil || f.Request == nil || f.Request.URL == nil {
		return nil
	}
	u := f.Request.URL
	attrs := make([]slog.Attr, 0, 6)
	attrs = append(attrs, slog.String("http.request.method", f.method()), slog.String("server.address", u.Hostname()))
	if port, err := strconv.Atoi(u.Port()); err == nil {
		attrs = append(attrs, slog.Int("server.port", port))
	}
	if path := pathOf(u); path != "" {
		attrs = append(attrs, slog.String("url.path", path))
	}
	if status := f.HTTPStatusCode(); status != 0 {
		attrs = append(attrs, slog.Int("http.response.status_code", status))
	}
	if f.veto != "" {
		attrs = append(attrs, slog.String("retry.not_repeated", f.veto))
	}
	return attrs
}

func (f *Failure) method() string {
	if f.Request.Method == "" {
		return http.MethodGet
	}
	return f.Request.Method
}

// pathOf is a URL's path, escaped and so of ASCII only, for a line to be read. An opaque URL has none: what it has in its place
// may hold a password.
func pathOf(u *url.URL) string {
	path := u.EscapedPath()
	if len(path) > maxPath {
		path = path[:maxPath] + "…"
	}
	return path
}
