package throttle_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle"
)

// modelGate is what a Gate is supposed to do, for one goroutine and times in nanoseconds after t0. Every draw is 0.5.
type modelGate struct {
	replace     bool
	maxKeys     int
	maxCooldown int64
	spread      int64
	cools       map[throttle.Key]*modelCool
}

type modelCool struct {
	key                throttle.Key
	end, length, extra int64
	led, known         bool
}

type modelTicket struct {
	cool  *modelCool
	extra int64
	first bool
}

func (m *modelGate) block(now, d int64, keys []throttle.Key, replace bool) {
	d = min(d, m.maxCooldown)
	for _, key := range keys {
		old := m.cools[key]
		switch {
		case key == "":
			continue
		case d <= 0:
			if replace {
				delete(m.cools, key)
			}
			continue
		case old != nil && !replace && old.end >= now+d:
			continue
		}
		if old == nil && len(m.cools) >= m.maxKeys {
			m.makeRoom(now)
		}
		m.cools[key] = &modelCool{key: key, end: now + d, length: d, extra: min(d/10, m.spread)}
	}
}

func (m *modelGate) makeRoom(now int64) {
	maps.DeleteFunc(m.cools, func(_ throttle.Key, c *modelCool) bool { return c.end+c.extra <= now })
	byEnd := slices.SortedFunc(maps.Values(m.cools), func(a, b *modelCool) int {
		return cmp.Or(cmp.Compare(b.end, a.end), cmp.Compare(a.key, b.key))
	})
	for i, c := range byEnd {
		if i >= m.maxKeys-1 {
			delete(m.cools, c.key)
		}
	}
}

func (m *modelGate) last(now int64, keys []throttle.Key) (last *modelCool) {
	for _, key := range keys {
		if c := m.cools[key]; c != nil && c.end > now && (last == nil || c.end > last.end) {
			last = c
		}
	}
	return last
}

func (m *modelGate) admit(now int64, p *modelTicket, keys []throttle.Key) int64 {
	last := m.last(now, keys)
	if last == nil {
		if p.cool == nil || m.cools[p.cool.key] != p.cool {
			return 0
		}
		return max(p.cool.end+p.extra-now, 0)
	}
	if p.cool != last {
		p.giveUp()
		*p = modelTicket{cool: last, first: !last.led}
		if !p.first {
			p.extra = last.extra / 2
		}
		last.led = true
	}
	return last.end + p.extra - now
}

func (p *modelTicket) giveUp() {
	if p.first {
		p.first, p.cool.led = false, false
	}
}

func FuzzGate(tf *testing.F) {
	f := fuzzed.New(tf)
	// options, then four bytes for each step: what, which keys, time passed, length
	f.Add([]byte{0x00, 0, 1, 0, 30, 1, 1, 10, 0, 1, 1, 10, 0, 2, 1, 10, 0, 3, 1, 20, 1})
	f.Add([]byte{0x01, 0, 3, 0, 30, 1, 1, 0, 0, 0, 3, 5, 1, 1, 1, 1, 0, 1, 2, 1, 0, 0, 1, 1, 0, 2, 1, 1, 1})
	f.Add([]byte{0x02, 0, 7, 0, 9, 0, 24, 1, 9, 0, 6, 1, 90, 1, 3, 1, 1, 1, 9, 1, 1, 4, 4, 4, 4, 5, 5, 5, 5})
	f.Add([]byte{0x07, 0, 1, 0, 200, 0, 2, 0, 200, 0, 4, 0, 200, 0, 8, 0, 200, 0, 16, 0, 201, 1, 31, 0, 0, 2, 31, 255, 9})
	f.Add([]byte{0x0c, 3, 9, 0, 100, 1, 9, 0, 0, 1, 9, 0, 0, 1, 9, 100, 0, 1, 9, 1, 0, 1, 9, 4, 0, 4, 9, 0, 0})
	f.Add([]byte{0x06, 0, 3, 0, 90, 1, 1, 0, 0, 64, 1, 1, 30, 1, 1, 1, 0, 17, 1, 0, 0, 64, 2, 0, 5, 5, 3, 0, 9, 1, 1, 24, 0})
	f.Add([]byte("B0100%1\x00 %1\x01 ")) // the end of a cool-down is foreseen twice
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 {
			return
		}
		options, program := program[0], program[1:min(len(program), 2000)]
		m := &modelGate{
			replace:     options&1 != 0,
			maxKeys:     int(options>>1&3) + 1,
			maxCooldown: int64(150 * ms),
			spread:      []int64{int64(sec), 0, 1, int64(5 * ms)}[options>>3&3],
			cools:       map[throttle.Key]*modelCool{},
		}
		g := &throttle.Gate{Replace: m.replace, MaxKeys: m.maxKeys, MaxCooldown: 150 * ms, Rand: always(0.5)}
		g.Spread = []time.Duration{0, -1, 1, 5 * ms}[options>>3&3]

		names := []throttle.Key{"a", "b", "c", "d", ""}
		var now int64
		var tickets [4]throttle.Ticket
		var models [4]modelTicket
		for ; len(program) >= 4; program = program[4:] {
			op, which, passed, length := program[0], program[1], program[2], program[3]
			var keys []throttle.Key
			for i, name := range names {
				if which>>i&1 != 0 {
					keys = append(keys, name)
				}
			}
			now += int64(time.Duration(passed) * ms)
			at, d := t0.Add(time.Duration(now)), time.Duration(length)*ms-5*ms
			th, slot := g.For(keys...), op>>4&3
			switch op & 15 % 6 {
			case 0:
				if op&64 != 0 {
					g.Set(at, throttle.Signal{Delay: d, HasDelay: true}, nil, keys...)
				} else {
					g.Block(at, d, keys...)
				}
				m.block(now, int64(d), keys, m.replace || op&64 != 0)
			case 1, 2:
				ticket, wait, err := th.Admit(t.Context(), at, tickets[slot])
				require.NoError(t, err)
				require.Equal(t, time.Duration(m.admit(now, &models[slot], keys)), wait)
				tickets[slot] = ticket
			case 3:
				o := told(d)
				if length%2 == 1 {
					o = throttle.Outcome{Class: throttle.Skipped}
					models[slot].giveUp()
				} else {
					m.block(now, int64(d), keys, m.replace)
				}
				th.Done(t.Context(), at, tickets[slot], o)
				tickets[slot], models[slot] = nil, modelTicket{}
			case 4:
				g.Clear(keys...)
				for _, key := range keys {
					delete(m.cools, key)
				}
			case 5:
				at, now := at.Add(time.Duration(length)*ms), now+int64(time.Duration(length)*ms)
				last := m.last(now, keys)
				if last == nil {
					require.NoError(t, g.Check(at, keys...))
					ready(t, th, at, 0)
					continue
				}
				require.Equal(t, &throttle.Error{
					Key: last.key, Until: t0.Add(time.Duration(last.end)), Remaining: time.Duration(last.end - now),
				}, stripped(g.Check(at, keys...)))
				want := last.end - now
				if last.led || last.known { // only the first to foresee the end goes at it
					want += last.extra / 2
				}
				last.known = last.known || !last.led
				ready(t, th, at, time.Duration(want))
			}
			require.Equal(t, len(m.cools), g.Remembered())
		}
	})
}

// stripped leaves out what the model does not keep.
func stripped(err error) error {
	if e, ok := err.(*throttle.Error); ok {
		e.Source, e.Err = "", nil
	}
	return err
}
