package condition_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// numbered matches by number, as go-sql-driver/mysql's error does.
type numbered struct{ number int }

func (n *numbered) Error() string { return fmt.Sprintf("error %d", n.number) }
func (n *numbered) Is(target error) bool {
	other, ok := target.(*numbered)
	return ok && other.number == n.number
}

// listed cannot be compared; comparing two of them panics.
type listed []string

func (listed) Error() string { return "listed" }

// holder can be compared as long as what it holds can.
type holder struct{ held any }

func (holder) Error() string { return "holder" }

func TestIs(t *testing.T) {
	c := condition.Is(errA, &numbered{1213}, &numbered{1205})
	for err, want := range map[error]condition.Verdict{
		errA:                                  again,
		errB:                                  unknown,
		errors.New("a"):                       unknown,
		&numbered{1213}:                       again,
		fmt.Errorf("tx: %w", &numbered{1205}): again,
		&numbered{1062}:                       unknown,
	} {
		require.Equal(t, want, c.Check(err), err)
	}
}

// TestIsWithIncomparable: errors.Is compares only what can be compared, and so does Is.
func TestIsWithIncomparable(t *testing.T) {
	require.Equal(t, unknown, condition.Is(listed{"a"}).Check(listed{"a"}))
	require.Equal(t, unknown, condition.Is(errA).Check(listed{"a"}))
	require.Equal(t, unknown, condition.Is(holder{[]int{1}}).Check(holder{[]int{1}}))
	require.Equal(t, unknown, condition.Is(holder{1}).Check(holder{[]int{1}}))
	require.Equal(t, again, condition.Is(holder{1}).Check(holder{1}))
}
