package retrysim

import "math"

// instant is what stations have in common that keep no line.
type instant struct{}

func (instant) draw(*world, *stream) int64 { return 0 }
func (instant) finish(*world, int32)       {}
func (instant) wake(*world)                {}
func (instant) line() int                  { return 0 }

// slope is a Slope at work.
type slope struct {
	instant
	Slope
}

func (s *slope) arrive(w *world, id int32) {
	w.peakQueue = max(w.peakQueue, w.present)
	work := (float64(s.Base) + float64(float64(w.present)*float64(s.PerInFlight))) * w.trouble.times
	w.plan(later(w.now, int64(nanoseconds(work))), finish, id, 0)
}

func (s *slope) finish(w *world, id int32) { w.serve(id, nil) }

// chance is a Chance at work.
type chance struct {
	instant
	Chance
}

func (c *chance) arrive(w *world, id int32) {
	a := &w.attempts[id]
	if a.share < c.P {
		w.serve(id, ErrServer)
		return
	}
	if c.P > 0 { // an even share again, for the faults
		a.share = (a.share - c.P) / (1 - c.P)
	}
	w.serve(id, nil)
}

// row is a Row at work.
type row struct {
	instant
	version int
}

// draw takes the two trips between read and write.
func (*row) draw(w *world, s *stream) int64 {
	return later(w.scenario.Network.draw(s), w.scenario.Network.draw(s))
}

func (r *row) arrive(w *world, id int32) {
	a := &w.attempts[id]
	switch {
	case !a.wrote:
		a.wrote, a.version = true, r.version
		w.plan(later(w.now, a.service), request, id, 0)
	case w.gone(id): // who has given up does not write
		w.total.Dropped++
		w.leave(id)
		w.drop(id)
	case a.version != r.version:
		w.serve(id, ErrServer)
	default:
		w.serve(id, nil)
		if a.err == nil {
			r.version++
		}
	}
}

// quota is a Quota at work: a bucket of tokens before another station.
type quota struct {
	station
	Quota
	tokens float64
	filled int64 // when they were counted
}

func (q *quota) arrive(w *world, id int32) {
	if w.attempts[id].wrote { // a Row's write was let through with its read
		q.station.arrive(w, id)
		return
	}
	q.tokens = min(mulAdd(seconds(w.now-q.filled), q.Rate, q.tokens), float64(max(q.Burst, 1)))
	q.filled = w.now
	if q.tokens >= 1 {
		q.tokens--
		q.station.arrive(w, id)
		return
	}
	wait := (1 - q.tokens) / q.Rate
	switch q.RetryAfter {
	case TellSeconds:
		w.attempts[id].told = int64(nanoseconds(math.Ceil(wait) * 1e9))
	case TellWrong:
		w.attempts[id].told = int64(nanoseconds(wait / 2 * 1e9))
	}
	w.reject(id, ErrThrottled)
}
