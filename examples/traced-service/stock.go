package main

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// work is how long the service takes to answer.
const work = 20 * time.Millisecond

// stock is the service that does not always answer: of each article it knows what to do, request by request.
type stock struct {
	requests atomic.Int32
	mu       sync.Mutex
	asked    map[string]int
}

// answer is a status, and the wait that it asks for.
type answer struct {
	status int
	wait   time.Duration
}

// script is what the requests for an article get, one after the other, and then again from the start.
var script = map[string][]answer{
	"lamp": {
		{status: http.StatusBadGateway},
		{status: http.StatusServiceUnavailable, wait: 150 * time.Millisecond}, // longer than the policy would wait
		{status: http.StatusOK},
	},
	"chair": {{status: http.StatusOK}},
	"piano": {{status: http.StatusServiceUnavailable}},
	"organ": {{status: http.StatusServiceUnavailable, wait: time.Hour}},
}

func (s *stock) handler(tracers *sdktrace.TracerProvider) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /stock/{name}", otelhttp.NewHandler(http.HandlerFunc(s.serve), "stock",
		otelhttp.WithTracerProvider(tracers), otelhttp.WithPropagators(propagator)))
	return mux
}

func (s *stock) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	time.Sleep(work)
	next := s.next(r.PathValue("name"))
	if next.wait > 0 {
		w.Header().Set("Retry-After-Ms", fmt.Sprint(next.wait.Milliseconds()))
	}
	w.WriteHeader(next.status)
	if next.status == http.StatusOK {
		fmt.Fprint(w, 3)
	}
}

// next is the answer to a request.
func (s *stock) next(name string) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := script[name]
	if len(answers) == 0 {
		return answer{status: http.StatusNotFound}
	}
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	number := s.asked[name]
	s.asked[name]++
	return answers[number%len(answers)]
}
