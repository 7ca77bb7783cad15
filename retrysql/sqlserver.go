package retrysql

import "strings"

// sqlServerConflicts: a deadlock, a lock that was waited for too long, an update conflict of snapshot isolation, and those of
// memory-optimized tables. Source: Microsoft's "Database engine events and errors" and "Transactions with Memory-Optimized Tables".
var sqlServerConflicts = []int32{1205, 1222, 3960, 41301, 41302, 41305, 41325, 41839}

// sqlServerNodes: the database is read-only, as that of a former primary is, or has moved to another node or is about to
// (Azure SQL), and the server is shutting down.
var sqlServerNodes = []int32{3906, 6005, 40197, 40613}

// sqlServerNumber returns the number of an error of microsoft/go-mssqldb and its forks, 0 for any other.
func sqlServerNumber(err error) int32 {
	if e, ok := err.(interface{ SQLErrorNumber() int32 }); ok {
		return e.SQLErrorNumber()
	}
	return 0
}

// isAbortedBySQLServer knows the error of a driver that did not send COMMIT, because the server had ended the transaction by
// itself. It has the driver's type, no number, and a text.
func isAbortedBySQLServer(err error) bool {
	e, ok := err.(interface {
		SQLErrorNumber() int32
		SQLErrorMessage() string
	})
	return ok && e.SQLErrorNumber() == 0 && strings.Contains(e.SQLErrorMessage(), "aborted by the server") &&
		strings.Contains(e.SQLErrorMessage(), "rolled back")
}
