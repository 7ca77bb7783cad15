package condition_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
)

func TestSQLState(t *testing.T) {
	c := condition.SQLState("40001", "57014", "53200")
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"listed", &pgError{"40001"}, again},
		{"listed, resources", &pgError{"53200"}, throttled},
		{"not listed", &pgError{"40P01"}, unknown},
		{"not listed, resources", &pgError{"53300"}, unknown},
		{"success", &pgError{"00000"}, unknown},
		{"empty", &pgError{}, unknown},
		{"none", errA, unknown},
		{"in a text", errors.New("ERROR: could not serialize access (SQLSTATE 40001)"), unknown},
		{"behind another", errors.Join(&pgError{"23505"}, &pgError{"57014"}), again},
		{"bad connection", driver.ErrBadConn, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, c.Check(tt.err)) })
	}
}

// TestSQLSets: all codes that PostgreSQL 17 has in the classes of the sets, and what each set says.
func TestSQLSets(t *testing.T) {
	serialization := map[string]condition.Verdict{"40001": again, "40P01": again, "55P03": again}
	connection := map[string]condition.Verdict{
		"08000": again, "08001": again, "08003": again, "08004": again, "08006": again,
		"57P01": again, "57P02": again, "57P03": again, "53200": throttled, "53300": throttled, "53400": throttled,
	}
	for _, code := range []string{
		"08000", "08001", "08003", "08004", "08006", "08007", "08P01",
		"22001", "22003", "22P02", "23502", "23503", "23505", "25P02", "28000", "28P01",
		"40000", "40001", "40002", "40003", "40P01", "42601", "42P01",
		"53000", "53100", "53200", "53300", "53400", "55000", "55006", "55P02", "55P03", "55P04",
		"57000", "57014", "57P01", "57P02", "57P03", "57P04", "57P05", "58000", "XX000",
	} {
		require.Equal(t, serialization[code], condition.SQLSerialization().Check(&pgError{code}), code)
		require.Equal(t, connection[code], condition.SQLConnection().Check(&pgError{code}), code)
		want := again
		if code[:2] == "53" {
			want = throttled
		}
		require.Equal(t, want, condition.SQLState("00000", code).Check(&pgError{code}), code)
	}
	require.NoError(t, validate(condition.SQLSerialization()))
}

func TestSQLConnectionOfDatabaseSQL(t *testing.T) {
	for _, err := range []error{driver.ErrBadConn, sql.ErrConnDone, late{driver.ErrBadConn}} {
		for form, wrapped := range wrapped(err) {
			require.Equal(t, again, condition.SQLConnection().Check(wrapped), form)
		}
	}
	for _, err := range []error{sql.ErrNoRows, sql.ErrTxDone, driver.ErrSkip} {
		require.Equal(t, unknown, condition.SQLConnection().Check(err))
	}
}

func TestSQLStateInvalid(t *testing.T) {
	requireConfigError(t, condition.SQLState(), "SQLState", "condition: SQLState: needs at least one code")
	for _, code := range []string{"", "4000", "400011", "40p01", "4000 ", "08*", "4000é", "40\x0001"} {
		err := validate(condition.SQLState("40001", code))
		require.Error(t, err, code)
		require.Contains(t, err.Error(), "must be five digits or capital letters")
		require.Equal(t, unknown, condition.SQLState(code).Check(&pgError{code}), code)
	}
	requireConfigError(t, condition.SQLState("40001", "40p01"), "SQLState[1]",
		`condition: SQLState[1] = "40p01": must be five digits or capital letters`)

	list := []string{"40001"}
	c := condition.SQLState(list...)
	list[0] = "40P01"
	require.Equal(t, again, c.Check(&pgError{"40001"}), "has a copy")
}

// FuzzSQLState: a code matches exactly if it is one and listed.
func FuzzSQLState(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, code := range []string{"", "40001", "40P01", "53300", "40p01", "4000", "400010", "é123", "\xff\xff\xff\xff\xff"} {
		f.Add(code, code)
		f.Add(code, "40001")
	}
	f.Fuzz(func(t *testing.T, listed, got string) {
		valid := len(listed) == 5 && !slices.ContainsFunc([]byte(listed), func(b byte) bool { return (b < '0' || b > '9') && (b < 'A' || b > 'Z') })
		c := condition.SQLState(listed)
		require.Equal(t, valid, validate(c) == nil)
		want := unknown
		if valid && listed == got {
			want = again
			if got[0] == '5' && got[1] == '3' {
				want = throttled
			}
		}
		require.Equal(t, want, c.Check(&pgError{got}))
	})
}
