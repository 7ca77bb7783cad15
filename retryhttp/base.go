package retryhttp

import (
	"net/http"
	"sync"
	"time"
)

// How a nil Base finds a connection of HTTP/2 that has gone silent. Source: the defaults of Kubernetes' client
// (HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS).
const (
	pingAfter = 30 * time.Second // without a frame from the server
	pingWaits = 15 * time.Second // for the answer; then the connection is closed
)

// standing is what nil Bases share.
var standing struct {
	sync.RWMutex
	of, with *http.Transport
}

// defaultBase is http.DefaultTransport with pings. What stands there is left as it is, since it is everybody's, and its copy is
// made when it is first asked for. What is not a *http.Transport cannot be copied, and is used itself.
func defaultBase() http.RoundTripper {
	of, ok := http.DefaultTransport.(*http.Transport)
	if !ok || of == nil {
		return http.DefaultTransport
	}
	standing.RLock()
	with, known := standing.with, standing.of == of
	standing.RUnlock()
	if known {
		return with
	}
	standing.Lock()
	defer standing.Unlock()
	if standing.of != of {
		standing.of, standing.with = of, withPings(of)
	}
	return standing.with
}

// withPings copies a transport. What it says about pings itself counts.
func withPings(of *http.Transport) *http.Transport {
	with := of.Clone()
	if with.HTTP2 == nil {
		with.HTTP2 = new(http.HTTP2Config)
	}
	if with.HTTP2.SendPingTimeout == 0 {
		with.HTTP2.SendPingTimeout = pingAfter
	}
	if with.HTTP2.PingTimeout == 0 {
		with.HTTP2.PingTimeout = pingWaits
	}
	return with
}
