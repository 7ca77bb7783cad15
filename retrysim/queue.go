package retrysim

import "math"

// queue is a Queue at work.
type queue struct {
	Queue
	workers int // that work at present
	busy    int
	waiting []int32
	head    int
}

func (q *queue) draw(_ *world, s *stream) int64 { return q.Service.draw(s) }

func (q *queue) line() int { return len(q.waiting) - q.head }

func (q *queue) arrive(w *world, id int32) {
	if q.busy < q.workers {
		q.start(w, id)
		return
	}
	if q.Limit > 0 && q.line() >= q.Limit {
		w.reject(id, ErrRejected)
		return
	}
	q.waiting = append(q.waiting, id)
	w.peakQueue = max(w.peakQueue, q.line())
}

func (q *queue) start(w *world, id int32) {
	q.occupy(w, 1)
	service := w.attempts[id].service
	if t := w.trouble.times; t != 1 {
		service = int64(nanoseconds(float64(service) * t))
	}
	w.plan(later(w.now, service), finish, id, 0)
}

func (q *queue) finish(w *world, id int32) {
	q.occupy(w, -1)
	w.serve(id, nil)
	q.wake(w)
}

// wake gives idle workers something to do. Those that a fault takes away finish what they work on first.
func (q *queue) wake(w *world) {
	q.workers = int(math.Round(float64(q.Workers) * w.trouble.share))
	for q.busy < q.workers && q.line() > 0 {
		id := q.take()
		if q.DropExpired && w.gone(id) {
			w.total.Dropped++
			w.leave(id)
			w.drop(id)
			continue
		}
		q.start(w, id)
	}
}

func (q *queue) take() (id int32) {
	if q.LIFO {
		last := len(q.waiting) - 1
		id, q.waiting = q.waiting[last], q.waiting[:last]
		return id
	}
	id = q.waiting[q.head]
	q.head++
	if q.head == len(q.waiting) {
		q.waiting, q.head = q.waiting[:0], 0
	} else if q.head >= 1024 && 2*q.head >= len(q.waiting) {
		q.waiting, q.head = q.waiting[:copy(q.waiting, q.waiting[q.head:])], 0
	}
	return id
}

// occupy counts workers that begin or end work, and how long they were busy.
func (q *queue) occupy(w *world, workers int) {
	w.busy.to(w.now, q.busy)
	q.busy += workers
}
