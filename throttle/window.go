package throttle

import "time"

// windowSlots is how many slots a sliding window has. A slot is forgotten as a whole.
const windowSlots = 10

// slotAt numbers the slots of a window from its first moment, began: floor((now-began)/slot).
func slotAt(began, now time.Time, slot time.Duration) int64 {
	since := now.Sub(began)
	at := since / slot
	if since%slot < 0 {
		at--
	}
	return int64(at)
}

// passed says how many slots of a window that ends with the slot head are over in the slot at, and with which slot the window
// ends then. A clock that runs back within the window changes nothing, so that callers which read it at almost the same time do
// not disturb one another. One that is set back further starts the window anew: else nothing would be forgotten until the clock
// is where it was.
func passed(head, at int64) (slots int, end int64) {
	switch {
	case at > head:
		return int(min(uint64(at)-uint64(head), windowSlots)), at
	case uint64(head)-uint64(at) >= windowSlots:
		return windowSlots, at
	}
	return 0, head
}

// ring is where the slot with that number is kept.
func ring(slot int64) int { return int((slot%windowSlots + windowSlots) % windowSlots) }
