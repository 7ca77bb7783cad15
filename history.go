package retry

import "slices"

// history keeps the first limit/2 failures of a call, and the last of the rest in a ring.
type history struct {
	first, ring []error
	oldest      int // in ring, once it is full
	dropped     int
}

func (h *history) add(err error, limit int) *history {
	if h == nil {
		h = new(history)
	}
	switch firsts := limit / 2; {
	case len(h.first) < firsts:
		h.first = append(h.first, err)
	case len(h.ring) < limit-firsts:
		h.ring = append(h.ring, err)
	default:
		h.ring[h.oldest] = err
		h.oldest = (h.oldest + 1) % len(h.ring)
		h.dropped++
	}
	return h
}

// errors returns what was kept, in order.
func (h *history) errors() []error {
	return slices.Concat(h.first, h.ring[h.oldest:], h.ring[:h.oldest])
}
