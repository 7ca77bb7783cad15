package pool

import "github.com/seed-89b3229b/retry/throttle"

// TicketOf returns the ticket that an attempt with key would get, without taking the key.
func TicketOf[K comparable](p *Pool[K], key K) throttle.Ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byKey[key].spell
}
