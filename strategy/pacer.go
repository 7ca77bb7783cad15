package strategy

import (
	"math"
	"sync"
	"time"
)

// Pacer is told when an operation failed or succeeded and answers how long to wait before the next one: the whole engine of
// Algorithm::Backoff (CPAN), for loops that do their own waiting. It is for one operation that is done again and again, such
// as polling, where a success is followed by a wait too. With the executor, throttle.Pace makes a Throttle of it; retries
// alone need only a Strategy.
//
//	pacer := &strategy.Pacer{Strategy: &strategy.LIMD{Min: time.Second}, MaxAttempts: 10}
//	for {
//		var wait time.Duration
//		if err := poll(); err == nil {
//			wait = pacer.Success(time.Now())
//		} else if w, ok := pacer.Failure(time.Now()); ok {
//			wait = w
//		} else {
//			return err
//		}
//		time.Sleep(wait)
//	}
//
// # The answer
//
// A failure is answered in this order:
//
//  1. MaxDuration is over: not ok. The failure is not counted and nothing changes.
//  2. It is counted; if that makes MaxAttempts failures in a row: not ok. Nothing else changes.
//  3. raw = what Strategy answers for that number of failures in a row; if that is not ok: not ok.
//  4. ConsiderActualDelay: raw += the answer before − the time since then.
//  5. JitterFactor: raw = uniform raw·(1−JitterFactor)..raw·(1+JitterFactor).
//  6. At most MaxDelay, at least 0, at least MinDelay: the minimum wins.
//  7. TimeoutShare: at most (1−TimeoutShare) of what is then left of MaxDuration, even if that is less than MinDelay.
//
// A success starts the count of failures, and with it the Strategy's curve, again; it does not start MaxDuration again. raw
// is the level of a LILD, LIMD, MILD or MIMD (or of another Learner with a method Level() time.Duration) after the success,
// and else DelayOnSuccess; then 4 to 7. It is answered after not ok too.
//
// A negative increment may lead a level below 0. The level kept is then 0, but raw is the negative number: only step 6 cuts
// it off, after step 4 has added what was waited too little.
//
// Every event counts, whenever its attempt began. The Strategy sees State.Number, Prev, Elapsed, Now and Rand; one that
// draws its delays itself also sees MaxDelay as its Limit, and so caps before it draws. For the four with a level, MinDelay
// and MaxDelay bound the level as well. A Starter is started anew for each run of failures, and a Learner is asked by Next
// and told by Failed and Succeed.
//
// Jitter comes before the cap, as in the original: at the cap nothing is left of it. Where callers must stay spread
// there, use FullJitter or EqualJitter in place of JitterFactor. Steps 4 and 5 do not feed back into the level, as they do
// in the original: see Compat010.
//
// # Coming from the original
//
//	Constant      Constant{Delay}
//	Exponential   Exponential{Base, Factor}; exponent_base below 1: a Func
//	Fibonacci     Fibonacci{First, Second}
//	LILD, LIMD    &LILD{Initial, IncrementOnFailure, IncrementOnSuccess}, &LIMD{…, MultipleOnSuccess}
//	MILD, MIMD    &MILD{Initial, MultipleOnFailure, IncrementOnSuccess}, &MIMD{…, MultipleOnSuccess}
//	min_delay, max_delay, jitter_factor, max_attempts, max_actual_duration, consider_actual_delay, delay_on_success:
//	              MinDelay, MaxDelay, JitterFactor, MaxAttempts, MaxDuration, ConsiderActualDelay, DelayOnSuccess
//
// Durations there are seconds. A zero that is real, such as max_delay 0, is written 1 ns. -1 is not ok here. Time that goes
// backwards is no error: it counts as no time. RetryTimeouts (CPAN) with its defaults, s being a second:
//
//	Pacer{
//		Strategy: Exponential{Base: 1414213562, Factor: math.Sqrt2}, ConsiderActualDelay: true, JitterFactor: 0.1,
//		MaxAttempts: 8, MaxDuration: 50 * s, TimeoutShare: 0.5, MinTimeout: 5 * s, TimeoutJitter: 0.1,
//	}
//
// # Use
//
// The zero Pacer is ready for use. The fields are set before the first use and not changed after it. Fields that Validate
// refuses are read as not set; no answer is negative, whatever the times are. A nil *Pacer answers 0, and not ok.
//
// It is safe for concurrent use, and must not be copied after the first use. The Strategy and Rand are called with the
// Pacer locked, and must not call it. Sources: Algorithm::Backoff 0.010 and RetryTimeouts 1.0.0 (CPAN).
type Pacer struct {
	// Strategy says how long to wait after a failure. Nil: Exponential{}.
	Strategy Strategy
	// DelayOnSuccess is the wait after a success, where Strategy has no level. 0: none, as far as MinDelay allows.
	DelayOnSuccess time.Duration
	// MinDelay is the shortest wait; it wins over MaxDelay. 0: none.
	MinDelay time.Duration
	// MaxDelay is the longest wait. 0: none. A cap of zero is written 1 ns.
	MaxDelay time.Duration
	// JitterFactor spreads waits by that part of them to both sides. 0: off. Above 1 the lower end is 0, drawn that much
	// more often.
	JitterFactor float64
	// MaxAttempts is how many failures in a row end it: 1 at once, 2 after one wait. 0: no limit.
	MaxAttempts int
	// MaxDuration is how long after the start failures get an answer. It is compared with the time passed and not with the
	// wait, so a wait may end after it. 0: no limit.
	MaxDuration time.Duration
	// ConsiderActualDelay takes time that was waited too long off the next wait, and adds what was waited too little.
	ConsiderActualDelay bool
	// Compat010 makes a LILD, LIMD, MILD or MIMD go on from the last answer, with jitter and step 4 in it, as version 0.010
	// does: an early poll then raises the level, a late one lowers it, jitter adds up, and with ConsiderActualDelay the
	// first answer is doubled. False: the level is kept by itself. Without jitter and ConsiderActualDelay there is no
	// difference. The level must then belong to this Pacer alone: steps of others in between are lost.
	Compat010 bool
	// TimeoutShare is the part of the time left that the next attempt may take: see Timeout. Without MaxDuration there is no
	// timeout. ConsiderActualDelay then measures from every event, one answered with not ok included, and for the first
	// event from the start: set Start, or call Reset, when the first attempt begins. 0: off; at most 1, which leaves no time
	// for waits.
	TimeoutShare float64
	// MinTimeout is the shortest Timeout, even beyond MaxDuration. 0: 1 ns.
	MinTimeout time.Duration
	// TimeoutJitter spreads timeouts as JitterFactor does waits. 0: off.
	TimeoutJitter float64
	// Start is when MaxDuration begins. The zero time: at the first event.
	Start time.Time
	// Rand draws from [0, 1). Nil: math/rand/v2.
	Rand func() float64

	mu       sync.Mutex
	begun    bool // start is set
	heard    bool // last is set
	start    time.Time
	last     time.Time     // of the last event that got a wait
	returned time.Duration // the answer to it
	timeout  time.Duration // 0: not computed yet

	run run
}

// run is a run of failures.
type run struct {
	failures int
	first    time.Time     // when the first of them was told
	prev     time.Duration // what the strategy answered last
	started  Strategy      // a Starter's memory
}

// Failure is told that an attempt failed at the given time, and returns how long to wait before the next. ok false: give up,
// with a delay of 0. The wait is not added to the time; who waits comes back with a later one.
func (p *Pacer) Failure(at time.Time) (delay time.Duration, ok bool) {
	if p == nil {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(at)
	if p.used(at) {
		if p.share() > 0 { // as RetryTimeouts does
			p.heard, p.last = true, at
		}
		return 0, false
	}
	return p.fail(at)
}

// used is steps 1 and 2: whether time or attempts are used up.
func (p *Pacer) used(at time.Time) bool {
	if p.MaxDuration > 0 && at.Sub(p.start) >= p.MaxDuration {
		return true
	}
	if p.run.failures < math.MaxInt {
		p.run.failures++
	}
	return p.MaxAttempts > 0 && p.run.failures >= p.MaxAttempts
}

// Success is told that an attempt succeeded at the given time, and returns how long to wait before the next.
func (p *Pacer) Success(at time.Time) time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(at)
	p.run = run{}
	return p.succeed(at)
}

// Timeout returns how long the next attempt may take, counted from the end of the wait. With left being MaxDuration minus
// the time from the start to the last event and minus the wait that it was answered with:
//
//	max(MinTimeout, uniform x·(1−TimeoutJitter)..x·(1+TimeoutJitter)), x = left·TimeoutShare
//
// So attempts get shorter as time runs out, and there is time for a next one. It is drawn once per event, and is not changed
// by a failure that was answered with not ok. 0: no timeout, because TimeoutShare or MaxDuration is not set.
func (p *Pacer) Timeout() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.MaxDuration <= 0 || p.share() == 0 {
		return 0
	}
	if p.timeout == 0 {
		p.timeout = p.portion(p.MaxDuration)
	}
	return p.timeout
}

// Reset makes the Pacer as new, started at the given time in place of Start; the zero time: at Start, or at the first event if
// that is not set. A Strategy with a method Reset is reset with it, its level too, also for others who share it.
func (p *Pacer) Reset(at time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun, p.heard, p.start = !at.IsZero(), false, at
	p.returned, p.timeout, p.run = 0, 0, run{}
	if s, ok := p.strategy().(interface{ Reset() }); ok {
		s.Reset()
	}
}

// begin starts the time, if nobody has yet.
func (p *Pacer) begin(at time.Time) {
	if p.begun {
		return
	}
	p.begun = true
	if p.start = p.Start; p.start.IsZero() {
		p.start = at
	}
}
