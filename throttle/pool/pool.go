package pool

import (
	"container/heap"
	"errors"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// Values of a Pool's zero fields.
const (
	DefaultBase = time.Second
	DefaultMax  = 32 * time.Second
)

// ErrNoKeys is the answer of a Pool without keys.
var ErrNoKeys = errors.New("pool: no keys")

// Pool hands out keys, such as API tokens, accounts or proxies, for a server that limits each of them by itself. A key that is
// limited cools down, and attempts are made with the others meanwhile; only when all of them cool down is there a wait.
// New makes one; the zero Pool has no keys yet. The fields are set before the first use and not changed after it. A Pool
// must not be copied. All methods are safe for concurrent use, and a nil *Pool has no keys.
//
// Keys are compared as those of a map are: of a K that is an interface they must be comparable, and what does not equal
// itself, such as NaN, cannot be removed.
//
// With the executor a Pool is the Throttle itself. Key finds in the attempt's context which key is its own, so every attempt
// takes a new one. The call ignores told waits, because the Pool obeys them for the key they are meant for:
//
//	retry.Do(ctx, func(ctx context.Context) (*User, error) { return api.User(ctx, tokens.Key(ctx), id) },
//		retry.WithThrottle(tokens), retry.WithHint(throttle.Ignore()),
//		retry.WithStrategy(strategy.ByThrottled{Normal: strategy.FullJitter{Base: 200 * time.Millisecond}, Throttled: strategy.Constant{}}))
//
// Acquire and AcquireWait are for use without it. Time is always an argument (AcquireWait takes it from the clock of its
// context), and a clock that is set back is to it what it is to a Gate. An attempt with a key is over when Done was told how
// it ended.
//
// # Cool-downs
//
// What an outcome means for its key follows from its Class:
//
//	Throttled             the key cools down
//	Success               the key works: its count of failures in a row is 0 again
//	Permanent             the key works; the count stays
//	any other             says nothing about the key
//
// With n failures in a row, the one told included, a cool-down takes min(Base·2^(n−1), Max). A wait that the server told
// (Signal.Delay) is taken in its place, shorter or longer, up to MaxCooldown. A burst counts once: an attempt that began
// before the key's last cool-down did neither adds to the count nor resets it; if it was told a wait that ends later, that
// only lengthens the cool-down. A success that was told a wait, because it used up what was left, starts a cool-down that
// does not count as a failure.
//
// # Release
//
// When a cool-down of length D ends, the key is taken again in its turn, whether others are free or not, but by one attempt
// only: all others keep off until that has shown that the key works (Success, Permanent), at most for min(D/10, Spread). If it
// ends without a word on the key, another one tries.
//
// Who finds no key is told to wait. The first one waits for the cool-down that ends first; each further one for the next end
// that nobody waits for, or for u·min(D/10, Spread) after an end that somebody waits for, u drawn from [0, 1), whichever
// promises a key of its own sooner. Who comes back takes any key that is free then; who has waited for such a place and finds
// none shares one that is being tried. The place of one who gives up is free for another.
//
// # Cost
//
// Admit and Done take a lock, and do not allocate but for an attempt that has to wait and for a cool-down. To find a key
// takes the same time whether others cool down or not, but for a step per 64 keys (RoundRobin, Random) or the logarithm of
// their number (LeastRecentlyUsed); a cool-down costs the logarithm. There is no goroutine and no timer. The error that set
// a key's last cool-down is kept up to the next. Keys appear in no error, label or text of the Pool.
type Pool[K comparable] struct {
	// Base is the first cool-down of a row. 0: DefaultBase; negative: only told waits cool a key down.
	Base time.Duration
	// Max caps the cool-downs that no server told. 0 or less: DefaultMax.
	Max time.Duration
	// MaxCooldown caps the others, whatever a server asks for. 0 or less: throttle.DefaultMaxCooldown.
	MaxCooldown time.Duration
	// Selection says which of several free keys is taken.
	Selection Selection
	// Jitter changes the cool-downs that no server told, such as strategy.Equal or strategy.Proportional(0.1), so that
	// processes that share the keys do not return together. limit is Max, r drawn from [0, 1); what it answers is brought into
	// 0..Max. It must not call the Pool. Nil: none.
	Jitter func(delay, limit time.Duration, r float64) time.Duration
	// Spread limits how long one attempt has a key for itself after its cool-down. 0: throttle.DefaultSpread; negative: not at all.
	Spread time.Duration
	// Rand draws from [0, 1) for Random, Jitter and the places in the release. It must not call the Pool, and is called by one
	// goroutine at a time. Nil: math/rand/v2.
	Rand func() float64
	// Classify may change the outcome of an attempt for the Pool alone, such as to Class Throttled and a Signal of ten minutes
	// for a token that was turned away for good. It must be safe for concurrent use. Nil: outcomes are taken as they are.
	Classify func(o throttle.Outcome) throttle.Outcome

	mu      sync.Mutex
	byKey   map[K]*slot[K]
	slots   []*slot[K] // in the order of rotation
	known   int        // slots that have been seen by what follows; Add may come before Selection is set
	named   int        // indexes given away
	next    int        // where the rotation goes on
	ready   bitset     // slots with a key to take
	trying  bitset     // slots with an attempt that finds out whether the key works again
	resting byFree[K]  // slots that are not ready
	idle    byUse[K]   // those that are; for LeastRecentlyUsed only
	epoch   time.Time  // what the times of resting count from
	uses    uint64
}

// New returns a Pool of the keys, each once, in this order.
func New[K comparable](keys ...K) *Pool[K] {
	p := new(Pool[K])
	p.Add(keys...)
	return p
}

// Validate returns a *ConfigError for a negative Max or MaxCooldown, and for a Selection that there is not, which is read as
// RoundRobin where it was not validated.
func (p *Pool[K]) Validate() error {
	switch {
	case p == nil:
		return nil
	case p.Max < 0:
		return &throttle.ConfigError{Field: "Pool.Max", Value: p.Max, Problem: "must not be negative"}
	case p.MaxCooldown < 0:
		return &throttle.ConfigError{Field: "Pool.MaxCooldown", Value: p.MaxCooldown, Problem: "must not be negative"}
	case p.Selection > LeastRecentlyUsed:
		return &throttle.ConfigError{Field: "Pool.Selection", Value: uint8(p.Selection), Problem: noSuchSelection}
	}
	return nil
}

// meet takes up the slots that were added.
func (p *Pool[K]) meet() {
	for ; p.known < len(p.slots); p.known++ {
		p.setReady(p.slots[p.known])
	}
}

func (p *Pool[K]) setReady(s *slot[K]) {
	p.ready.set(s.at)
	if p.Selection == LeastRecentlyUsed {
		heap.Push(&p.idle, s)
	}
}
