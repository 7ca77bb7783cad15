package condition

import (
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
)

// SQLState returns a Condition for errors that carry one of the given SQLSTATE codes, five digits or capital letters each.
// It says Throttled for codes of class 53 (insufficient resources, such as 53300, too many connections), Retry for any
// other listed code, and is Unknown for an error without one.
//
// Every error in the tree is asked, through its method SQLState() string: pgx, lib/pq, and drivers for what speaks
// PostgreSQL's protocol, such as CockroachDB and YugabyteDB. go-sql-driver/mysql has no such method; see MySQL.
//
// Codes worth listing that no set below has, because they need a look at the operation:
//
//	40003  statement completion unknown         if it may run twice
//	08007  transaction resolution unknown       if it may run twice
//	55006  object in use                        such as a database that is to be dropped
//	57014  query canceled                       by statement_timeout, but also by a user
//
// Not worth another attempt are the classes 22 (data), 23 (constraints), 28 (authorization) and 42 (syntax, names).
//
// It takes a copy of the list, allocates nothing, and is safe for concurrent use. No codes, and one that is not five digits
// or capital letters, match nothing, and are a ConfigError. Source: ISO/IEC 9075, PostgreSQL's appendix "Error Codes".
func SQLState(codes ...string) Condition {
	return &sqlState{slices.Clone(codes)}
}

// SQLSerialization returns a Condition that says Retry for a transaction that lost against others, and may win the next
// time, and is Unknown for any other failure. By SQLSTATE, read as SQLState does:
//
//	40001  serialization failure   of repeatable read and serializable; all of CockroachDB's retry errors
//	40P01  deadlock detected
//	55P03  lock not available      with NOWAIT, or after lock_timeout
//
// The server has rolled the transaction back, or lets nothing but a rollback follow: what is repeated must be the whole of
// it, reads included, from BEGIN. 40003 is not in the set: what became of the statement is not known then.
//
// With MySQL, deadlocks and lock waits are MySQL(1205, 1213).
//
// It allocates nothing, and is safe for concurrent use.
func SQLSerialization() Condition {
	return &sqlState{serializationStates}
}

// SQLConnection returns a Condition for a database that was not reached, went away, or takes no more. By SQLSTATE, read as
// SQLState does:
//
//	Retry      08000 08001 08003 08004 08006  no connection, or it broke
//	           57P01 57P02 57P03              shut down by an administrator, after a crash, starting up
//	Throttled  53200 53300 53400              out of memory, too many connections, a configured limit
//
// and Retry for driver.ErrBadConn and sql.ErrConnDone, matched as errors.Is does. It is Unknown for any other failure. The
// network's own are Network's; 08P01 (protocol violation) does not pass, and 08007 (transaction resolution unknown) is for
// SQLState where that is no harm.
//
// Whether a statement was carried out before the connection broke is not known: that must be no harm. database/sql has
// tried driver.ErrBadConn three times by itself before it is seen here. What drivers say of a connection that they closed
// themselves is for Is: pgconn.ErrConnClosed, mysql.ErrInvalidConn.
//
// It allocates nothing, and is safe for concurrent use.
func SQLConnection() Condition {
	return sqlConnection{}
}

// Both tables are sorted. Source: PostgreSQL's appendix "Error Codes".
var (
	serializationStates = []string{"40001", "40P01", "55P03"}
	connectionStates    = []string{
		"08000", "08001", "08003", "08004", "08006", "53200", "53300", "53400", "57P01", "57P02", "57P03",
	}
)

type sqlState struct{ codes []string }

func (c *sqlState) Check(err error) Verdict { return stateVerdict(err, c.codes) }

func (c *sqlState) Validate() error {
	if len(c.codes) == 0 {
		return &ConfigError{Field: "SQLState", Problem: "needs at least one code"}
	}
	for i, code := range c.codes {
		if !isState(code) {
			return &ConfigError{Field: at("SQLState", i), Value: code, Problem: "must be five digits or capital letters"}
		}
	}
	return nil
}

type sqlConnection struct{}

func (sqlConnection) Check(err error) Verdict {
	if answer := stateVerdict(err, connectionStates); answer != Unknown {
		return answer
	}
	if find(err, isBadConn) {
		return Retry
	}
	return Unknown
}

func isBadConn(err error) bool { return is(err, driver.ErrBadConn) || is(err, sql.ErrConnDone) }

// stateVerdict answers for the first error in the tree with a listed code.
func stateVerdict(err error, codes []string) (answer Verdict) {
	find(err, func(err error) bool {
		e, ok := err.(interface{ SQLState() string })
		if !ok {
			return false
		}
		code := e.SQLState()
		if !isState(code) || !slices.Contains(codes, code) {
			return false
		}
		answer = Retry
		if strings.HasPrefix(code, "53") {
			answer = Throttled
		}
		return true
	})
	return answer
}

func isState(code string) bool {
	return len(code) == 5 && strings.IndexFunc(code, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z') }) < 0
}
