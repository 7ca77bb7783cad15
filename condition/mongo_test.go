package condition_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// anyLabel claims every label.
type anyLabel struct{}

func (anyLabel) Error() string             { return "every label" }
func (anyLabel) HasErrorLabel(string) bool { return true }

func TestMongoLabel(t *testing.T) {
	c := condition.MongoLabel("TransientTransactionError", "RetryableError")
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"first", labels{"TransientTransactionError"}, again},
		{"second of two", labels{"NetworkError", "RetryableError"}, again},
		{"overloaded", labels{"RetryableError", "SystemOverloadedError"}, throttled},
		{"overloaded, and that is all", labels{"SystemOverloadedError"}, unknown},
		{"not listed", labels{"RetryableWriteError"}, unknown},
		{"none", labels{}, unknown},
		{"other case", labels{"retryableerror"}, unknown},
		{"no labels", errA, unknown},
		{"in a text", errors.New("TransientTransactionError"), unknown},
		{"behind another", errors.Join(labels{"SystemOverloadedError"}, labels{"RetryableError"}), again},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, c.Check(tt.err)) })
	}
	require.Equal(t, throttled, condition.MongoLabel("SystemOverloadedError").Check(labels{"SystemOverloadedError"}), "listed")
}

func TestMongoLabelInvalid(t *testing.T) {
	requireConfigError(t, condition.MongoLabel(), "MongoLabel", "condition: MongoLabel: needs at least one label")
	requireConfigError(t, condition.MongoLabel("a", ""), "MongoLabel[1]", `condition: MongoLabel[1] = "": must not be empty`)
	require.Equal(t, unknown, condition.MongoLabel().Check(anyLabel{}))
	require.Equal(t, unknown, condition.MongoLabel("").Check(anyLabel{}))
	require.Equal(t, throttled, condition.MongoLabel("", "a").Check(anyLabel{}))

	list := []string{"a"}
	c := condition.MongoLabel(list...)
	list[0] = "b"
	require.Equal(t, again, c.Check(labels{"a"}), "has a copy")
}
