package cenkalti

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/cenkalti/backoff/v4"
)

// contextOf returns the context in a policy: that of WithContext, also below WithMaxRetries.
func contextOf(b BackOff) context.Context {
	for b != nil {
		if c, ok := b.(BackOffContext); ok {
			if ctx := c.Context(); ctx != nil {
				return ctx
			}
			break
		}
		b = limited(b)
	}
	return context.Background()
}

var limitType = reflect.TypeOf(backoff.WithMaxRetries(nil, 0))

// limited returns the policy inside a WithMaxRetries; nil if b is something else. v4 looks for the context there, and whoever
// takes v4's place must too, or its waits could not be interrupted; but v4 keeps the policy in a field that it alone can
// read. Type and field are checked by name and type, not by place.
func limited(b BackOff) BackOff {
	if reflect.TypeOf(b) != limitType {
		return nil
	}
	field := reflect.ValueOf(b).Elem().FieldByName("delegate")
	if !field.IsValid() || field.Type() != reflect.TypeFor[BackOff]() {
		return nil
	}
	return *(*BackOff)(unsafe.Pointer(field.UnsafeAddr()))
}
