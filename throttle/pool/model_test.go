package pool_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// modelPool is what a Pool is supposed to do, for one goroutine and times in nanoseconds after t0 that never go back. Every
// draw is 0.5. It looks at all keys whenever it wants to know something.
type modelPool struct {
	by                           pool.Selection
	base, most, maxTold, spread  int64
	keys                         []*modelKey
	named, next, uses, cooldowns int
}

type modelKey struct {
	key, index     int
	spell          int // which cool-down it last had
	failures       int
	proven         bool // shown to work since
	asleep, tried  bool
	foreseen       bool
	keeper         *modelWaiter
	end, free      int64 // while asleep
	window         int64
	uses, limited  int64
	used           int
	source         string
	removedForGood bool
}

// modelWaiter is a ticket: of one who waits, or of one who has a key.
type modelWaiter struct {
	key    *modelKey
	spell  int
	offset int64
	has    bool
}

func (m *modelPool) add(key int) {
	if !slices.ContainsFunc(m.keys, func(k *modelKey) bool { return k.key == key }) {
		m.keys = append(m.keys, &modelKey{key: key, index: m.named, proven: true, spell: -1})
		m.named++
	}
}

func (m *modelPool) remove(key int) {
	if i := slices.IndexFunc(m.keys, func(k *modelKey) bool { return k.key == key }); i >= 0 {
		m.keys[i].removedForGood = true
		m.keys = slices.Delete(m.keys, i, i+1)
		if i < m.next {
			m.next--
		}
	}
}

func (m *modelPool) wake(now int64) {
	for _, k := range m.keys {
		if k.asleep && k.free <= now {
			k.asleep, k.tried, k.keeper = false, false, nil
		}
	}
}

// inTurn returns the keys as the rotation meets them.
func (m *modelPool) inTurn() []*modelKey {
	at := min(m.next, len(m.keys))
	return slices.Concat(m.keys[at:], m.keys[:at])
}

func (m *modelPool) pick() (found *modelKey) {
	var free []*modelKey
	for _, k := range m.keys {
		if !k.asleep {
			free = append(free, k)
		}
	}
	switch {
	case len(free) == 0:
		return nil
	case m.by == pool.Random:
		return free[len(free)/2]
	case m.by == pool.LeastRecentlyUsed:
		return slices.MinFunc(free, func(a, b *modelKey) int { return a.used - b.used })
	}
	turn := m.inTurn()
	return turn[slices.IndexFunc(turn, func(k *modelKey) bool { return !k.asleep })]
}

// waitsFor returns the key whose release w has a place in.
func (m *modelPool) waitsFor(w *modelWaiter) *modelKey {
	if w.key == nil || w.has || w.key.removedForGood || w.key.spell != w.spell || !w.key.asleep {
		return nil
	}
	return w.key
}

func (m *modelPool) handBack(w *modelWaiter) {
	if k := m.waitsFor(w); k != nil && k.keeper == w {
		k.keeper, k.free = nil, k.end
	}
}

func (m *modelPool) earliest() *modelKey {
	return slices.MinFunc(m.keys, func(a, b *modelKey) int { return int(a.free - b.free) })
}

// admit returns how long w has to wait; 0: it has a key.
func (m *modelPool) admit(now int64, w *modelWaiter) int64 {
	m.wake(now)
	mine := m.waitsFor(w)
	var got *modelKey
	if mine != nil && mine.keeper == w && mine.end <= now {
		got = mine
	} else if got = m.pick(); got == nil && mine != nil && mine.end+w.offset <= now {
		got = mine
		turn := m.inTurn()
		if i := slices.IndexFunc(turn, func(k *modelKey) bool { return k.tried }); i >= 0 {
			got = turn[i]
		}
	}
	if got != nil {
		if got != mine {
			m.handBack(w)
		}
		m.take(now, got)
		*w = modelWaiter{key: got, spell: got.spell, has: true}
		return 0
	}
	if mine != nil && mine.end+w.offset > now {
		return mine.end + w.offset - now
	}
	k := m.earliest()
	*w = modelWaiter{key: k, spell: k.spell}
	if k.keeper == nil && !k.tried {
		k.keeper, k.free = w, k.end+k.window
	} else {
		from := max(now-k.end, 0)
		w.offset = from + (k.free-k.end-from)/2
	}
	return max(k.end+w.offset-now, 1)
}

func (m *modelPool) take(now int64, k *modelKey) {
	m.uses++
	k.uses++
	k.used = m.uses
	m.next = slices.Index(m.keys, k) + 1
	if !k.tried && !k.proven && k.window > 0 {
		k.asleep, k.tried, k.keeper, k.end, k.free = true, true, nil, now, now+k.window
	}
}

func (m *modelPool) cool(now int64, k *modelKey, failures int, length int64, source string) {
	m.cooldowns++
	*k = modelKey{
		key: k.key, index: k.index, used: k.used, uses: k.uses, limited: k.limited,
		spell: m.cooldowns, failures: failures, asleep: true, end: now + length, free: now + length,
		window: min(length/10, m.spread), source: source,
	}
}

func (m *modelPool) done(now int64, w *modelWaiter, o throttle.Outcome) {
	defer func() { *w = modelWaiter{} }()
	m.wake(now)
	if !w.has {
		m.handBack(w)
		return
	}
	k := w.key
	if k.removedForGood {
		return
	}
	current := w.spell == k.spell
	toldWait := min(max(int64(o.Signal.Delay), 0), m.maxTold)
	switch o.Class {
	case throttle.Throttled:
		k.limited++
	case throttle.Success, throttle.Permanent:
	default:
		if o.Class == throttle.Skipped {
			k.uses--
		}
		if current && k.tried {
			k.asleep, k.tried = false, false
		}
		return
	}
	switch {
	case !current:
		if o.Signal.HasDelay && toldWait > 0 && (!k.asleep || now+toldWait > k.end) {
			m.cool(now, k, k.failures, toldWait, o.Signal.Source)
		}
	case o.Class == throttle.Throttled && o.Signal.HasDelay:
		m.cool(now, k, k.failures+1, toldWait, o.Signal.Source)
	case o.Class == throttle.Throttled:
		length := float64(m.base) * math.Pow(2, float64(k.failures))
		m.cool(now, k, k.failures+1, int64(min(length, float64(m.most))), o.Signal.Source)
	default:
		k.proven, k.asleep, k.tried, k.keeper = true, false, false, nil
		if o.Class == throttle.Success {
			k.failures = 0
		}
		if o.Signal.HasDelay && toldWait > 0 {
			m.cool(now, k, k.failures, toldWait, o.Signal.Source)
		}
	}
}

// blocked returns the key that is anybody's first, if none is free at that time.
func (m *modelPool) blocked(at int64) *modelKey {
	if len(m.keys) == 0 || slices.ContainsFunc(m.keys, func(k *modelKey) bool { return !k.asleep || k.free <= at }) {
		return nil
	}
	return m.earliest()
}

func (m *modelPool) ready(at int64) int64 {
	k := m.blocked(at)
	switch {
	case k == nil:
		return 0
	case k.end > at && k.keeper == nil && !k.foreseen:
		k.foreseen = true
		return k.end - at
	case k.keeper == nil && !k.tried:
		return k.end - at + k.window/2
	}
	from := max(at-k.end, 0)
	return max(k.end-at+from+(k.free-k.end-from)/2, 0)
}

func FuzzPool(tf *testing.F) {
	f := fuzzed.New(tf)
	// options, then four bytes for each step: what, which ticket, time passed, how
	f.Add([]byte{0x13, 0, 0, 0, 0, 3, 0, 1, 5, 0, 0, 1, 0, 3, 0, 1, 5, 0, 0, 1, 0, 0, 1, 0, 0, 5, 0, 0, 0, 0, 0, 200, 0, 4, 0, 0, 0})
	f.Add([]byte{0x05, 0, 0, 0, 0, 3, 0, 1, 5, 0, 1, 0, 0, 3, 1, 1, 5, 0, 2, 0, 0, 3, 2, 0, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 100, 0, 0, 1, 1, 0})
	f.Add([]byte{0x0a, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0, 1, 5, 3, 1, 1, 69, 6, 0, 0, 1, 7, 0, 0, 0, 0, 2, 0, 0, 5, 0, 30, 9})
	f.Add([]byte{0x10, 0, 0, 0, 0, 3, 0, 0, 69, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 4, 0, 0, 0, 0, 1, 255, 0, 0, 2, 0, 0, 0, 3, 2, 0, 3, 1, 0, 1, 2, 2, 9, 0})
	f.Add([]byte{0x20, 0, 0, 0, 0, 1, 1, 0, 0, 3, 0, 0, 5, 3, 1, 3, 85, 5, 0, 0, 3, 5, 0, 0, 3, 0, 2, 2, 0, 3, 2, 40, 8})
	f.Fuzz(playPool)
}

// TestPoolAtRandom plays long programs: states that need a history are rare among short ones.
func TestPoolAtRandom(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		program := []byte{byte(r.Uint32())}
		for range 300 {
			program = append(program, byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()>>uint(24+r.IntN(8))), byte(r.Uint32()))
		}
		playPool(t, program)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func playPool(t *testing.T, program []byte) {
	if len(program) == 0 {
		return
	}
	options, program := program[0], program[1:min(len(program), 2000)]
	spread := options >> 5 & 3
	m := &modelPool{
		by: pool.Selection(options & 3 % 3), base: int64(20 * ms), most: int64(100 * ms), maxTold: int64(150 * ms),
		spread: []int64{int64(sec), 0, 1, int64(5 * ms)}[spread],
	}
	p := pool.New[int]()
	p.Selection, p.Base, p.Max, p.MaxCooldown = m.by, 20*ms, 100*ms, 150*ms
	p.Spread, p.Rand = []time.Duration{0, -1, 1, 5 * ms}[spread], always(0.5)
	for key := range int(options >> 2 & 7) {
		p.Add(key)
		m.add(key)
	}
	now := int64(0)
	tickets, waiters := make([]throttle.Ticket, 8), make([]modelWaiter, 8)
	for ; len(program) >= 4; program = program[4:] {
		op, who, passed, how := program[0], program[1]&7, program[2], program[3]
		now += int64(time.Duration(passed) * ms)
		at := t0.Add(time.Duration(now))
		switch op & 7 {
		case 0, 1, 2:
			if waiters[who].has {
				continue // it has one already
			}
			ticket, wait, err := p.Admit(t.Context(), at, tickets[who])
			if len(m.keys) == 0 {
				require.Equal(t, pool.ErrNoKeys, err)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, time.Duration(m.admit(now, &waiters[who])), wait)
			tickets[who] = ticket
			if wait == 0 {
				require.Equal(t, waiters[who].key.key, p.Key(p.Attach(t.Context(), ticket)))
			}
		case 3, 4:
			o := throttle.Outcome{Class: throttle.Class(how % 10)}
			if how&64 != 0 {
				o.Signal = throttle.Signal{Delay: time.Duration(how)*time.Duration(who)*ms - 10*ms, HasDelay: true, Source: "test"}
			}
			p.Done(t.Context(), at, tickets[who], o)
			m.done(now, &waiters[who], o)
			tickets[who] = nil
		case 5:
			then := now + int64(time.Duration(how)*ms)
			at := t0.Add(time.Duration(then))
			refusal := p.Explain(t.Context(), at)
			if k := m.blocked(then); k == nil {
				require.Nil(t, refusal)
			} else {
				until := k.end
				if until <= then {
					until = k.free
				}
				require.Equal(t, &throttle.Error{Key: "pool", Until: t0.Add(time.Duration(until)), Remaining: time.Duration(until - then), Source: k.source}, refusal)
			}
			require.Equal(t, time.Duration(m.ready(then)), p.Ready(t.Context(), at))
		case 6:
			if how&8 == 0 {
				p.Add(int(how & 7))
				m.add(int(how & 7))
			} else {
				p.Remove(int(how & 7))
				m.remove(int(how & 7))
			}
		case 7:
			lease, err := p.Acquire(at)
			m.wake(now)
			k := m.pick()
			if k == nil {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err)
			m.take(now, k)
			w := modelWaiter{key: k, spell: k.spell, has: true}
			require.Equal(t, k.key, lease.Key())
			require.Equal(t, k.index, lease.Index())
			o := throttle.Outcome{Class: throttle.Class(1 + how%8)}
			lease.Done(at, o)
			m.done(now, &w, o)
			lease.Done(at, throttle.Outcome{Class: throttle.Throttled})
		}
		stats := p.Stats(at)
		require.Len(t, stats, len(m.keys))
		for i, k := range m.keys {
			want := pool.KeyStats{Index: k.index, Uses: k.uses, Limited: k.limited, Failures: k.failures}
			if k.asleep && k.end > now {
				want.Until = t0.Add(time.Duration(k.end))
			}
			if stats[i] != want {
				require.Equal(t, want, stats[i])
			}
		}
	}
}
