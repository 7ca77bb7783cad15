package retry

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/seed-89b3229b/retry/throttle"
)

// WithResults sets hooks on the values that attempts return. The call must be a Do or a Poll with the same T. Default: none.
func WithResults[T any](r Results[T]) Option {
	return &resultsOption[T]{name: "WithResults", hooks: r}
}

// WithRetryResult retries successful attempts whose value reject turns down: they fail with ErrUnacceptable, conditions
// are not asked, and Do returns the last value beside the error. It is short for a Results.Classify, takes the place of a
// WithResults before it, and the call must be a Do or a Poll with the same T. Default: none.
func WithRetryResult[T any](reject func(T) bool) Option {
	o := &resultsOption[T]{name: "WithRetryResult", invalid: reject == nil}
	o.hooks.Classify = func(v T, err error) throttle.Outcome {
		if err == nil && reject(v) {
			return throttle.Outcome{Err: ErrUnacceptable, Decided: throttle.Yes}
		}
		return throttle.Outcome{Err: err}
	}
	return o
}

// WithFallback gives f the last word on every failing end, but for a *ConfigError and a context that is done. It gets the
// call's context and the error that the call would have returned; what it returns is what the caller gets. The call must be
// a Do or a Poll with the same T. Default: none.
func WithFallback[T any](f func(context.Context, error) (T, error)) Option {
	return &fallbackOption[T]{f}
}

// resultsOption and fallbackOption are generic, so the type switch of config.apply meets them as typedResults and
// typedFallback; the call that knows T asserts them back.
type (
	resultsOption[T any] struct {
		name    string
		hooks   Results[T]
		invalid bool
	}
	fallbackOption[T any] struct {
		f func(context.Context, error) (T, error)
	}
	typedOption interface {
		Option
		describe() (option string, result reflect.Type, ok bool)
	}
	typedResults interface {
		typedOption
		results()
	}
	typedFallback interface {
		typedOption
		fallback()
	}
)

func (*resultsOption[T]) option()    {}
func (*resultsOption[T]) results()   {}
func (*fallbackOption[T]) option()   {}
func (*fallbackOption[T]) fallback() {}

func (o *resultsOption[T]) describe() (string, reflect.Type, bool) {
	return o.name, reflect.TypeFor[T](), !o.invalid
}

func (o *fallbackOption[T]) describe() (string, reflect.Type, bool) {
	return "WithFallback", reflect.TypeFor[T](), o.f != nil
}

// hooksFor returns the typed hooks of a configuration for a call that returns T.
func hooksFor[T any](c *config) (r *Results[T], rescue func(context.Context, error) (T, error), err error) {
	if c.results != nil {
		o, ok := c.results.(*resultsOption[T])
		if !ok {
			return nil, nil, mismatch(c.results, callOf(reflect.TypeFor[T]()))
		}
		r = &o.hooks
	}
	if c.fallback != nil {
		o, ok := c.fallback.(*fallbackOption[T])
		if !ok {
			return nil, nil, mismatch(c.fallback, callOf(reflect.TypeFor[T]()))
		}
		rescue = o.f
	}
	return r, rescue, nil
}

// untyped says that a configuration has hooks for values, where there are none.
func (c *config) untyped(user string) error {
	if c.results != nil {
		return mismatch(c.results, user)
	}
	if c.fallback != nil {
		return mismatch(c.fallback, user)
	}
	return nil
}

// callOf says which call it is that returns a t.
func callOf(t reflect.Type) string {
	name := typeName(t)
	if internal, ok := strings.CutPrefix(name, "one of "); ok {
		return "a call of " + internal
	}
	return "a call that returns " + name
}

func mismatch(o typedOption, user string) error {
	option, result, _ := o.describe()
	return &ConfigError{Option: option, Value: result, Problem: fmt.Sprintf("is for results of type %v, and cannot serve %s", result, user)}
}
