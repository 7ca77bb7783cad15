package retry

import (
	"context"

	"github.com/seed-89b3229b/retry/throttle"
)

// Do calls fn until it succeeds or there is a reason to stop, and waits in between. (Run is for a fn without a value.) fn
// must be safe to repeat, and should heed the context it gets. Without options it makes up to 5 attempts with the default
// policy.
//
// A nil error of fn is success. A failure that is not worth another attempt (Permanent, or a condition says so) comes back
// as fn returned it. Any other end is an *Error, through which errors.Is and errors.As reach both fn's last error and the
// reason. With an error, Do returns the value of the last attempt unless it was thrown away (Results), never one of an
// earlier attempt. A context that is done ends the call before the next attempt: fn is not called at all if it was done
// before. Panics of fn pass through.
//
// Options that cannot be used are a *ConfigError, and fn is not called. A nil ctx panics. Do is safe for concurrent use.
func Do[T any](ctx context.Context, fn func(context.Context) (T, error), opts ...Option) (T, error) {
	p := &defaultPolicy
	if len(opts) == 1 {
		if given, ok := opts[0].(*Policy); ok && given != nil {
			p, opts = given, nil
		}
	}
	if len(opts) > 0 || fn == nil {
		return do(ctx, fn, opts)
	}
	if p.config.busy || ctx == nil || ctx.Err() != nil {
		return doMore(ctx, fn, &p.config, *new(T), nil, nil)
	}
	v, err := fn(ctx) // the first attempt: nothing to ask or tell before it, nor after a success
	if err == nil {
		return v, nil
	}
	return doMore(ctx, fn, &p.config, v, err, nil)
}

// do is Do with options of its own.
func do[T any](ctx context.Context, fn func(context.Context) (T, error), opts []Option) (v T, err error) {
	if fn == nil {
		return v, invalid("fn", nil, "must not be nil")
	}
	var c config
	if err := c.merge(opts); err != nil {
		return v, err
	}
	if c.busy || ctx == nil || ctx.Err() != nil {
		return doMore(ctx, fn, &c, v, nil, nil)
	}
	if v, err = fn(ctx); err == nil {
		return v, nil
	}
	return doMore(ctx, fn, &c, v, err, nil)
}

// doMore runs the driver. If err is not nil, the first attempt was made and returned v and err. next says what follows an
// attempt that has not failed.
func doMore[T any](ctx context.Context, fn func(context.Context) (T, error), c *config, v T, err error, next func() sequel) (T, error) {
	w := work{sequel: next, try: func(ctx context.Context) error {
		var err error
		v, err = fn(ctx)
		return err
	}}
	hooks, rescue, err2 := hooksFor[T](c)
	if err2 != nil {
		return v, err2
	}
	if hooks != nil {
		if hooks.Classify != nil {
			w.classify = func(err error) throttle.Outcome { return hooks.Classify(v, err) }
		}
		if hooks.Discard != nil || hooks.Keep != nil { // either way v does not outlive an attempt that is repeated
			w.discard = func() {
				if hooks.Discard != nil {
					hooks.Discard(v)
				}
				v = *new(T)
			}
		}
		if hooks.Keep != nil {
			w.keep = func(release context.CancelFunc) { v = hooks.Keep(v, release) }
		}
	}
	if rescue != nil {
		w.rescue = func(ctx context.Context, err error) error {
			v, err = rescue(ctx, err)
			return err
		}
	}
	err = drive(ctx, c, &w, err)
	return v, err
}

// Run is Do for operations without a value.
func Run(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	p := &defaultPolicy
	if len(opts) == 1 {
		if given, ok := opts[0].(*Policy); ok && given != nil {
			p, opts = given, nil
		}
	}
	if len(opts) > 0 || fn == nil {
		return run(ctx, fn, opts)
	}
	if p.config.busy || ctx == nil || ctx.Err() != nil {
		return runMore(ctx, fn, &p.config)
	}
	err := fn(ctx)
	if err == nil {
		return nil
	}
	return drive(ctx, &p.config, &work{try: fn}, err)
}

// run is Run with options of its own.
func run(ctx context.Context, fn func(context.Context) error, opts []Option) error {
	if fn == nil {
		return invalid("fn", nil, "must not be nil")
	}
	var c config
	if err := c.merge(opts); err != nil {
		return err
	}
	if c.busy || ctx == nil || ctx.Err() != nil {
		return runMore(ctx, fn, &c)
	}
	err := fn(ctx)
	if err == nil {
		return nil
	}
	return drive(ctx, &c, &work{try: fn}, err)
}

// runMore runs the driver from the first attempt on.
func runMore(ctx context.Context, fn func(context.Context) error, c *config) error {
	if err := c.untyped("Run, which has no result"); err != nil {
		return err
	}
	return drive(ctx, c, &work{try: fn}, nil)
}
