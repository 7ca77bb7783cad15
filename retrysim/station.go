package retrysim

import "time"

// station is a Server at work.
type station interface {
	// draw takes from s what the server needs for an attempt: how long it works on it, as a rule.
	draw(w *world, s *stream) int64
	// arrive takes an attempt in.
	arrive(w *world, id int32)
	// finish is called when the time that the station planned for an attempt is over.
	finish(w *world, id int32)
	// wake is called when a fault begins or ends.
	wake(w *world)
	// line is how many attempts wait.
	line() int
}

// station makes the server that does the work, with what stands before it.
func (w *world) station(s Server) station {
	switch s := s.(type) {
	case Queue:
		return &queue{Queue: s, workers: s.Workers}
	case Slope:
		return &slope{Slope: s}
	case Row:
		return &row{}
	case Quota:
		return &quota{w.station(s.Server), s, float64(max(s.Burst, 1)), 0}
	case Layers:
		w.layers = s.Between
		return w.station(s.Server)
	}
	c, _ := s.(Chance)
	return &chance{Chance: c}
}

// reach brings an attempt to the server, or to the next service on the way to it.
func (w *world) reach(id int32) {
	a := &w.attempts[id]
	if int(a.layer) < w.layers {
		inner := w.place(int32(a.layer), id, a.layer+1, uint64(a.share*0x1p53), time.Time{})
		w.act(inner, w.calls[inner].flow.Next(w.ctx, clock(w.now)))
		return
	}
	if !a.wrote {
		a.reached = w.now
		w.enter()
	}
	t := &w.trouble
	switch {
	case t.blackhole:
		w.total.Lost++
		w.leave(id)
		w.drop(id)
	case a.share < t.fast:
		w.reject(id, ErrServer)
	default:
		if t.fast > 0 { // an even share again, of those that are left
			a.share = (a.share - t.fast) / (1 - t.fast)
		}
		w.server.arrive(w, id)
	}
}

// reject turns an attempt away.
func (w *world) reject(id int32, err error) {
	w.total.Rejected++
	w.reply(id, err)
}

// serve ends the work on an attempt: with success, or with the failure that a fault makes of it.
func (w *world) serve(id int32, err error) {
	a := &w.attempts[id]
	a.served = true
	w.total.Served++
	if a.share < w.trouble.slow {
		err = ErrServer
	}
	w.reply(id, err)
}

// reply sends the answer on its way.
func (w *world) reply(id int32, err error) {
	w.leave(id)
	a := &w.attempts[id]
	if w.trouble.blackhole {
		if a.served {
			w.countAnswer(true)
		}
		w.drop(id)
		return
	}
	a.err = err
	w.plan(later(w.now, a.back), answer, id, 0)
}

// respond sends the answer of a service that stands before the server.
func (w *world) respond(id int32, err error) {
	if err != nil {
		w.attempts[id].err = ErrServer
	}
	w.plan(later(w.now, w.attempts[id].back), answer, id, 0)
}
