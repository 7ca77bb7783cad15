package observe

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/grpccode"
)

// ErrorTypeLimit is how many values of error.type an Observer uses at most, those of the package included. What is met
// beyond is _OTHER.
const ErrorTypeLimit = 32

// errorType is a value of error.type, as its place in the list of those in use.
type errorType uint8

const (
	noError errorType = iota
	typeOther
	typeTimeout
	typeCanceled
	typeUnacceptable
	typeThrottled
	typePanic
)

// ownTypes are the texts of the constants. _OTHER is the conventions' word for what has none, and does not count.
var ownTypes = []string{"", "_OTHER", "timeout", "canceled", "unacceptable_result", "throttled", "panic"}

// errorTypes is the number of an Observer's errorType values.
const errorTypes = int(typeOther) + 1 + ErrorTypeLimit

// classifier finds the error.type of failures, and remembers those it has met.
type classifier struct {
	custom func(error) string
	byType cache[reflect.Type, errorType]
	mu     sync.Mutex
	texts  atomic.Pointer[[]string] // indexed by errorType
}

func newClassifier(custom func(error) string) *classifier {
	c := &classifier{custom: custom}
	c.byType.limit = ErrorTypeLimit
	own := slices.Clone(ownTypes)
	c.texts.Store(&own)
	return c
}

func (c *classifier) text(t errorType) string { return (*c.texts.Load())[t] }

// of classifies an attempt's failure: what WithErrorType says, an ErrorType method anywhere in the tree, the code of a gRPC
// status, an unacceptable result, a timeout, a cancellation, else the type below the wrappers that say nothing.
func (c *classifier) of(err error) (t errorType) {
	defer recovered(string(KeyErrorType), err, func() { t = typeOther })
	if c.custom != nil {
		if text := c.custom(err); text != "" {
			return c.intern(text)
		}
	}
	var text string
	var status uint32
	var coded, unacceptable, timeout, canceled bool
	errtree.Walk(err, func(err error) bool {
		if e, ok := err.(interface{ ErrorType() string }); ok {
			text = e.ErrorType()
		}
		if !coded {
			status, coded = grpccode.At(err)
		}
		timeout = timeout || errtree.TimedOut(err) || says(err, context.DeadlineExceeded)
		canceled = canceled || says(err, context.Canceled)
		unacceptable = unacceptable || err == retry.ErrUnacceptable
		return text == ""
	})
	switch {
	case text != "":
		return c.intern(text)
	case coded:
		return c.intern(grpccode.Name(status))
	case unacceptable:
		return typeUnacceptable
	case timeout:
		return typeTimeout
	case canceled:
		return typeCanceled
	}
	err = core(err)
	if inner, ok := err.(*retry.Error); ok && inner != nil { // a call within the attempt gave up
		if inner.Last == nil {
			return unattempted(inner.Reason)
		}
		return c.of(inner.Last)
	}
	return c.ofType(reflect.TypeOf(err))
}

// says reports whether err, by itself, is target.
func says(err, target error) bool {
	if err == target {
		return true
	}
	e, ok := err.(interface{ Is(error) bool })
	return ok && e.Is(target)
}

// unattempted is the error.type of a call that ended before its first attempt.
func unattempted(reason error) errorType {
	switch {
	case errors.Is(reason, retry.ErrRefused), errors.Is(reason, retry.ErrHintTooLong):
		return typeThrottled
	case errors.Is(reason, context.DeadlineExceeded), errors.Is(reason, retry.ErrMaxElapsed):
		return typeTimeout
	case errors.Is(reason, context.Canceled), errors.Is(reason, retry.ErrShutdown):
		return typeCanceled
	}
	return typeOther
}

var (
	errAny     = errors.New("any")
	wrapOne    = reflect.TypeOf(fmt.Errorf("%w", errAny))
	wrapMany   = reflect.TypeOf(fmt.Errorf("%w %w", errAny, errAny))
	wrapJoin   = reflect.TypeOf(errors.Join(errAny))
	modulePath = reflect.TypeFor[retry.Error]().PkgPath()
	ofModule   = []string{modulePath, modulePath + "/retryhttp", modulePath + "/retrysql"}
)

// core is the first error below those whose type says nothing: the wrappers of fmt and errors, the marks of retry and
// retrysql, and the failures of retryhttp.
func core(err error) error {
	for {
		t := reflect.TypeOf(err)
		if t != wrapOne && t != wrapMany && t != wrapJoin && (t == nil || t.Kind() != reflect.Pointer || !slices.Contains(ofModule, t.Elem().PkgPath())) {
			return err
		}
		var inner error
		switch e := err.(type) {
		case *retry.Error:
			return err
		case interface{ Unwrap() error }:
			inner = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				inner = all[0]
			}
		}
		if errtree.IsNil(inner) {
			return err
		}
		err = inner
	}
}

// ofType names a type as semconv.ErrorType does.
func (c *classifier) ofType(t reflect.Type) errorType {
	if known, ok := c.byType.get(t); ok {
		return known
	}
	if t == nil || len(*c.texts.Load()) == errorTypes {
		return typeOther
	}
	text := t.String()
	if t.PkgPath() != "" && t.Name() != "" {
		text = t.PkgPath() + "." + t.Name()
	}
	found := c.intern(text)
	if found != typeOther {
		found, _ = c.byType.add(t, found)
	}
	return found
}

// intern finds the place of a text in the list, and puts it there if there is room.
func (c *classifier) intern(text string) errorType {
	text = clean(text)
	if i := c.find(text); i > 0 {
		return errorType(i)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.find(text); i > 0 {
		return errorType(i)
	}
	texts := *c.texts.Load()
	if len(texts) == errorTypes {
		return typeOther
	}
	grown := append(texts, text) // past the end of what anybody else reads
	c.texts.Store(&grown)
	return errorType(len(texts))
}

func (c *classifier) find(text string) int { return slices.Index(*c.texts.Load(), text) }
