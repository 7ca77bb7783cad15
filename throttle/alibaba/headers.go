package alibaba

import "net/http"

// SetHeader sets the request header fields of the throttling control:
//
//	x-sdk-throttling-control: enable   unless Disabled
//	X-RateLimit-Mode: debug            if Debug: quota headers even where nothing was throttled
//
// The vendor's signatures cover neither, so it does not matter whether the request is signed before or after. Not every
// API sends quota headers. A nil h is left alone.
func (c Control) SetHeader(h http.Header) {
	if h == nil {
		return
	}
	if !c.Disabled {
		h.Set("x-sdk-throttling-control", "enable")
	}
	if c.Debug {
		h.Set("X-RateLimit-Mode", "debug")
	}
}

// SetRequest is SetHeader for r, whose Header it makes if there is none. A nil r is left alone.
func (c Control) SetRequest(r *http.Request) {
	if r == nil {
		return
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	c.SetHeader(r.Header)
}
