package retryhttp

import "net/http"

// Attempts returns how many attempts it took to get a response: 1 if its request was sent once, or was not sent by a
// Transport; 0 for nil. The Transport nearest to the caller counts, and only for the last request of a chain of redirects.
// Within the function of Fetch it is the number of the attempt that is running. What net/http repeats by itself is part of
// one attempt. Safe for concurrent use.
func Attempts(r *http.Response) int {
	if r == nil {
		return 0
	}
	if r.Request != nil {
		if f, ok := r.Request.Context().(*flight); ok && f.counted == r.Request {
			return f.number
		}
	}
	return 1
}

// count notes in a response that is returned how many attempts it took, if that is not one. A response's Request is all that
// others, such as http.Client's Timeout, leave alone.
func (f *flight) count() {
	_, again := f.request.Context().(*flight) // a response's Request that was sent anew
	if f.number > 1 || again || f.fetch != nil {
		f.counted = f.request.WithContext(f)
		f.response.Request = f.counted
	}
}
