package condition_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

func TestMySQL(t *testing.T) {
	for _, tt := range []struct {
		name    string
		numbers []int
		err     error
		want    condition.Verdict
	}{
		{"deadlock", nil, &MySQLError{Number: 1213}, again},
		{"lock wait", nil, &MySQLError{Number: 1205}, again},
		{"too many connections", nil, &MySQLError{Number: 1040}, throttled},
		{"too many of the user", nil, &MySQLError{Number: 1203}, throttled},
		{"duplicate", nil, &MySQLError{Number: 1062}, unknown},
		{"a limit per hour is not in the set", nil, &MySQLError{Number: 1226}, unknown},
		{"none", nil, &MySQLError{}, unknown},
		{"no MySQLError", nil, &numbered{1213}, unknown},
		{"in a text", nil, errors.New("Error 1213 (40001): Deadlock found"), unknown},

		{"listed", []int{1062, 1226}, &MySQLError{Number: 1062}, again},
		{"listed, limit", []int{1062, 1226}, &MySQLError{Number: 1226}, throttled},
		{"not listed", []int{1062, 1226}, &MySQLError{Number: 1213}, unknown},
		{"0 matches nothing", []int{0}, &MySQLError{}, unknown},
		{"largest", []int{65535}, &MySQLError{Number: 65535}, again},
		{"behind another", []int{1213}, errors.Join(&MySQLError{Number: 1062}, &MySQLError{Number: 1213}), again},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, condition.MySQL(tt.numbers...).Check(tt.err)) })
	}
}

// TestMySQLDefault: what no numbers stand for.
func TestMySQLDefault(t *testing.T) {
	listed := map[uint16]bool{1040: true, 1203: true, 1205: true, 1213: true, 2006: true, 2013: true, 3572: true}
	for number := range uint16(math.MaxUint16) {
		require.Equal(t, listed[number], condition.MySQL().Check(&MySQLError{Number: number}) != unknown, number)
	}
}

// TestMySQLShapes: the type's name and the field's are all that is asked for, and nothing is assumed beyond.
func TestMySQLShapes(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want condition.Verdict
	}{
		"by value":              {valueShape(1213), again},
		"wider number":          {wideShape(1213), again},
		"wider number, too big": {wideShape(1<<16 + 1213), unknown},
		"huge number":           {wideShape(math.MaxUint64), unknown},
		"signed":                {signedShape(1213), again},
		"negative":              {signedShape(-1213), unknown},
		"text for a number":     {textShape("1213"), unknown},
		"no number":             {noNumberShape(), unknown},
		"embedded":              {embeddedShape(), unknown},
	} {
		require.Equal(t, tt.want, condition.MySQL(1213).Check(tt.err), name)
	}
}

// errText makes errors of the types below by embedding: they are named MySQLError, and so live in functions, without methods.
type errText string

func (e errText) Error() string { return string(e) }

func valueShape(n uint16) error {
	type MySQLError struct {
		errText
		Number uint16
	}
	return MySQLError{"value", n}
}

func wideShape(n uint64) error {
	type MySQLError struct {
		errText
		Number uint
	}
	return &MySQLError{"wide", uint(n)}
}

func signedShape(n int) error {
	type MySQLError struct {
		errText
		Number int
	}
	return &MySQLError{"signed", n}
}

func textShape(n string) error {
	type MySQLError struct {
		errText
		Number string
	}
	return &MySQLError{"text", n}
}

func noNumberShape() error {
	type MySQLError struct{ errText }
	return &MySQLError{"none"}
}

func embeddedShape() error {
	type base struct{ Number uint16 }
	type MySQLError struct {
		errText
		*base
	}
	return &MySQLError{"embedded", nil}
}

func TestMySQLInvalid(t *testing.T) {
	for _, number := range []int{0, -1, 65536, math.MaxInt, math.MinInt} {
		c := condition.MySQL(1213, number)
		require.Error(t, validate(c), number)
		require.Equal(t, again, c.Check(&MySQLError{Number: 1213}))
	}
	requireConfigError(t, condition.Any(condition.MySQL(1213, 0)), "Any[0].MySQL[1]", "condition: Any[0].MySQL[1] = 0: must be from 1 to 65535")
	require.NoError(t, validate(condition.MySQL()))

	list := []int{1213}
	c := condition.MySQL(list...)
	list[0] = 1205
	require.Equal(t, again, c.Check(&MySQLError{Number: 1213}), "has a copy")
}
