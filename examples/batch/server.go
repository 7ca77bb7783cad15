package main

import (
	"encoding/json"
	"net"
	"net/http"
	"sync"
)

// turn is what the server does with a request.
type turn struct {
	takes  int  // so many items, the rest is unprocessed
	status int  // not 0: nothing, and this answer
	breaks bool // it takes what it takes, and then the connection breaks
}

// turns are played request by request; from then on there is room for all.
var turns = []turn{
	{takes: 10}, {status: 503}, {takes: 0}, {takes: 5}, {takes: 3, breaks: true}, {takes: batchSize}, // the first 25 items
	{takes: batchSize}, {takes: batchSize}, {takes: batchSize}, {takes: batchSize}, // the second 25, with the busy one
	{takes: batchSize}, // the rest
}

// busy is an item that there is never room for, as where one key gets all the traffic.
const busy = "item-42"

// server is a real HTTP server on the loopback interface, with a table of items by their id.
type server struct {
	http.Server
	listener net.Listener

	mu    sync.Mutex
	turns []turn
	sizes []int          // of the batches that came
	table map[string]int // prices
	puts  int            // items that were written, those counted again that were there
}

func startServer() (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: listener, turns: turns, table: map[string]int{}}
	s.Handler = s
	go s.Serve(listener) // until Close
	return s, nil
}

func (s *server) address() string { return "http://" + s.listener.Addr().String() + "/items" }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var items []item
	if err := json.NewDecoder(r.Body).Decode(&items); err != nil || len(items) > batchSize {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	t := turn{takes: batchSize}
	if len(s.turns) > 0 {
		t, s.turns = s.turns[0], s.turns[1:]
	}
	s.sizes = append(s.sizes, len(items))
	a := s.put(items, t.takes)
	s.mu.Unlock()

	switch {
	case t.status != 0:
		w.WriteHeader(t.status)
	case t.breaks:
		panic(http.ErrAbortHandler) // without an answer
	default:
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(a)
	}
}

// put writes the first items, room of them. Those that cannot be written take no room.
func (s *server) put(items []item, room int) answer {
	a := answer{Rejected: map[string]string{}}
	for _, i := range items {
		switch {
		case i.Price < 0:
			a.Rejected[i.ID] = "the price is below 0"
		case room == 0 || i.ID == busy:
			a.Unprocessed = append(a.Unprocessed, i.ID)
		default:
			room--
			s.puts++
			s.table[i.ID] = i.Price
		}
	}
	return a
}
