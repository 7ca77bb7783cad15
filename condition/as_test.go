package condition_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// chameleon turns into a fault through its As method.
type chameleon struct{ as *fault }

func (chameleon) Error() string { return "chameleon" }
func (c chameleon) As(target any) bool {
	f, ok := target.(**fault)
	if ok {
		*f = c.as
	}
	return ok
}

func TestAs(t *testing.T) {
	require.Equal(t, again, condition.As[*fault]().Check(fmt.Errorf("outer: %w", &fault{})))
	require.Equal(t, unknown, condition.As[*fault]().Check(errA))
	require.Equal(t, again, condition.As[listed]().Check(listed{}))
	require.Equal(t, again, condition.As[interface {
		error
		Temporary() bool
	}]().Check(errors.Join(errA, &fault{})))
	require.Equal(t, again, condition.As[error]().Check(errA), "every error is an error")

	require.Equal(t, again, condition.As[*fault]().Check(chameleon{&fault{}}))
	require.Equal(t, unknown, condition.As[*numbered]().Check(chameleon{&fault{}}))
	require.Equal(t, unknown, condition.As[*fault]().Check(chameleon{}), "a nil pointer is not a fault")
}

func TestMatch(t *testing.T) {
	c := condition.Match(func(f *fault) bool { return f.again })
	for _, tt := range []struct {
		err  error
		want condition.Verdict
	}{
		{&fault{again: true}, again},
		{&fault{}, unknown},
		{errA, unknown},
		{fmt.Errorf("outer: %w", &fault{again: true}), again},
		{chameleon{&fault{again: true}}, again},
		{chameleon{}, unknown},
		// As errors.As: the outermost and the first, whatever is behind it.
		{&fault{again: false, err: &fault{again: true}}, unknown},
		{&fault{again: true, err: &fault{again: false}}, again},
		{errors.Join(errA, &fault{again: true}, &fault{again: false}), again},
		{errors.Join(&fault{again: false}, &fault{again: true}), unknown},
		{errors.Join((*fault)(nil), &fault{again: true}), again},
	} {
		require.Equal(t, tt.want, c.Check(tt.err), "%#v", tt.err)
	}
}
