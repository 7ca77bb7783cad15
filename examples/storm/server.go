package main

import "time"

const (
	outageBegins = 10 * time.Second
	outageEnds   = 20 * time.Second
)

// rate is how many requests a second the server serves.
func rate(now time.Duration) int {
	if now >= outageBegins && now < outageEnds {
		return 500
	}
	return 1000
}

// server takes every request and serves them one after the other. It does not know which ones nobody waits for any more.
type server struct {
	free time.Duration // when it has served all that it took
}

// take returns when a request that arrives now will have been served.
func (s *server) take(now time.Duration) time.Duration {
	begins := max(now, s.free)
	s.free = begins + time.Second/time.Duration(rate(begins))
	return s.free
}
