package throttle

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/release"
)

// Values of a Gate's zero fields.
const (
	DefaultMaxCooldown = 15 * time.Minute
	DefaultMaxKeys     = 100_000
	DefaultSpread      = release.Spread
)

// Gate remembers cool-downs: for each key, the time before which no attempt may start. Whoever is told to wait closes
// it for the keys concerned, and everybody who shares the Gate is held back, first attempts included. The zero Gate is
// ready for use; the fields are set before the first use and not changed after it. A Gate must not be copied. All
// methods are safe for concurrent use, and a nil *Gate holds nothing back.
//
// With the executor a Gate is used through For and By, which return a Throttle. Check, Wait, Block and Observe are for
// use without it. Time is always an argument (Wait takes it from the clock of its context), so a Gate works with any
// clock, as long as it is one and the same. Only differences count: where times carry a monotonic reading, as time.Now's
// do, setting the wall clock does not move a cool-down. Where they carry none, a clock that is set back makes those in
// force last longer by as much, unless they are cleared.
//
// # Release
//
// When a cool-down of length D ends, those it held back do not all start at once. The first to be told to wait goes at
// the deadline; each other one drew u from [0, 1) when it was told, and goes at the deadline + u·min(D/10, Spread).
// Whoever comes after the deadline and was not told to wait goes at once. The first one's place is free again when it
// gives up before its attempt; whoever is told to wait next takes it.
//
// # Cost
//
// Asking an open Gate takes no lock, writes no memory and does not allocate. There is no goroutine and no timer: an
// ended cool-down is dropped when its room is needed, so memory follows the number of keys that cool down at a time. Up
// to then it keeps the error that set it.
type Gate struct {
	// MaxCooldown caps every cool-down, whatever a server asks for. 0 or less: DefaultMaxCooldown.
	MaxCooldown time.Duration
	// MaxKeys limits how many keys are remembered. When a further one comes, those whose cool-downs are over are dropped
	// first. If that leaves more than 15/16 of MaxKeys (of a MaxKeys below 32: MaxKeys-1), the ones that end soonest are
	// forgotten too, down to that number. 0 or less: DefaultMaxKeys.
	MaxKeys int
	// Replace lets a new observation replace the key's cool-down, shorter or longer. False: it only ever extends it.
	Replace bool
	// Spread limits how far apart those who were held back are released. 0: DefaultSpread; negative: they are all
	// released at the deadline.
	Spread time.Duration
	// Rand draws the places in the spread from [0, 1). It must be safe for concurrent use. Nil: math/rand/v2.
	Rand func() float64

	keys keyring
}

// Validate returns a *ConfigError for a negative MaxCooldown or MaxKeys.
func (g *Gate) Validate() error {
	switch {
	case g == nil:
		return nil
	case g.MaxCooldown < 0:
		return &ConfigError{"Gate.MaxCooldown", g.MaxCooldown, notNegative}
	case g.MaxKeys < 0:
		return &ConfigError{"Gate.MaxKeys", g.MaxKeys, notNegative}
	}
	return nil
}

// Block starts a cool-down of d from now for each key: Observe of such a wait, with the Source "block".
func (g *Gate) Block(now time.Time, d time.Duration, keys ...Key) {
	g.Observe(now, Signal{Delay: d, HasDelay: true, Source: "block"}, nil, keys...)
}

// Observe starts a cool-down of s.Delay from now, at most MaxCooldown, for each key, and remembers s.Source and err (nil
// if there is none) for those it refuses. Without HasDelay nothing happens. A cool-down in force that ends later, or at
// the same time, stays as it is, unless Replace is set; a Delay of 0 or less then ends it.
func (g *Gate) Observe(now time.Time, s Signal, err error, keys ...Key) {
	g.observe(now, &s, err, keys)
}

// Set is Observe as if Replace were set: for what counts whatever was heard before. At no moment in between is a key open.
func (g *Gate) Set(now time.Time, s Signal, err error, keys ...Key) {
	g.record(now, &s, err, keys, true)
}

// Check returns nil if no key is cooling down at now, else the *Error of the cool-down that ends last. It only looks.
func (g *Gate) Check(now time.Time, keys ...Key) error {
	if refusal := g.explain(now, keys); refusal != nil {
		return refusal
	}
	return nil
}

// Clear ends the cool-downs of the keys. Those already told to wait for one are free to go when they ask again.
func (g *Gate) Clear(keys ...Key) {
	if g == nil {
		return
	}
	g.keys.mu.Lock()
	defer g.keys.mu.Unlock()
	for _, key := range keys {
		g.keys.drop(key)
	}
}

func (g *Gate) observe(now time.Time, s *Signal, err error, keys []Key) {
	g.record(now, s, err, keys, g != nil && g.Replace)
}

func (g *Gate) record(now time.Time, s *Signal, err error, keys []Key, replace bool) {
	if g == nil || !s.HasDelay {
		return
	}
	length := min(max(s.Delay, 0), orDefault(g.MaxCooldown, DefaultMaxCooldown))
	if length == 0 {
		if replace {
			g.Clear(keys...)
		}
		return
	}
	if errtree.IsNil(err) {
		err = nil
	}
	for _, key := range keys {
		if key != "" {
			g.start(&cooldown{key: key, from: now, length: length, window: g.window(length), source: s.Source, err: err}, replace)
		}
	}
}

// start puts c in force, unless its key is to be held back longer anyway, and not replace.
func (g *Gate) start(c *cooldown, replace bool) {
	g.keys.mu.Lock()
	defer g.keys.mu.Unlock()
	if old := g.keys.find(c.key); old != nil && !replace && old.remaining(c.from) >= c.length {
		return
	}
	g.keys.put(c.from, c, orDefault(g.MaxKeys, DefaultMaxKeys))
}

// window returns how long after the end of a cool-down those it held back are released.
func (g *Gate) window(length time.Duration) time.Duration { return release.Window(length, g.Spread) }
