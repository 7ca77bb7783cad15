package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// gateway stands for the vendor's: a real HTTP server on the loopback interface that counts calls per account and per API
// of an account, and turns away what is too much.
type gateway struct {
	*httptest.Server
	say      func(format string, args ...any)
	accounts map[string]int           // calls that an account may make in a window
	apis     map[string]int           // calls of an API
	windows  map[string]time.Duration // lengths that differ from window

	mu     sync.Mutex
	quotas map[string]*quota
	served map[string]int // by account and API
	away   map[string]int
	wild   int // requests without the control's header
}

const window = 800 * time.Millisecond

func startGateway(say func(format string, args ...any)) *gateway {
	g := &gateway{
		say:      say,
		accounts: map[string]int{"LTAI-globex": 4},
		apis:     map[string]int{"DescribeInstances": 3, "ExportBills": 1},
		windows:  map[string]time.Duration{"ExportBills": 30 * time.Second},
		quotas:   map[string]*quota{},
		served:   map[string]int{},
		away:     map[string]int{},
	}
	g.Server = httptest.NewServer(g)
	return g
}

// ServeHTTP answers one call.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	account, api := r.Header.Get("x-acs-accesskey-id"), r.Header.Get("x-acs-action")
	if r.Header.Get("x-sdk-throttling-control") != "enable" {
		g.wild++
	}
	all, one := g.quota(account, g.accounts[account], window), g.quota(account+" "+api, g.apis[api], g.windows[api])
	all.renew(now)
	one.renew(now)
	if all.left == 0 || one.left == 0 {
		g.away[account+" "+api]++
		all.report(w.Header(), "X-RateLimit-User", now)
		one.report(w.Header(), "X-RateLimit-User-API", now)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"Code": "Throttling.User", "Message": "Request was denied due to user flow control."}`)
		g.say("         gateway: %s for %s: turned away", api, account)
		return
	}
	all.take(now)
	one.take(now)
	g.served[account+" "+api]++
	fmt.Fprint(w, `{}`)
	g.say("         gateway: %s for %s: served", api, account)
}

// count says how many requests of an account's API were served and how many turned away.
func (g *gateway) count(account, api string) (served, away int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.served[account+" "+api], g.away[account+" "+api]
}

// quota is a number of calls. Its window begins with the call that uses it up, so that the program does not depend on how
// fast it runs.
type quota struct {
	limit, left int // limit 0: none
	length      time.Duration
	ends        time.Time
}

func (g *gateway) quota(name string, limit int, length time.Duration) *quota {
	q := g.quotas[name]
	if q == nil {
		if limit == 0 {
			limit = 1000
		}
		if length == 0 {
			length = window
		}
		q = &quota{limit: limit, left: limit, length: length}
		g.quotas[name] = q
	}
	return q
}

func (q *quota) renew(now time.Time) {
	if q.left == 0 && !now.Before(q.ends) {
		q.left = q.limit
	}
}

func (q *quota) take(now time.Time) {
	if q.left--; q.left == 0 {
		q.ends = now.Add(q.length)
	}
}

// report writes the header field of a quota that is used up.
func (q *quota) report(h http.Header, field string, now time.Time) {
	if q.left == 0 {
		left := q.ends.Sub(now)
		h.Set(field, fmt.Sprintf("Limit:%d,Remain:0,Time:%d,TimeLeft:%d,Reset:%d",
			q.limit, q.length.Milliseconds(), left.Milliseconds(), q.ends.UnixMilli()))
	}
}
