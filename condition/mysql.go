package condition

import "slices"

// MySQL returns a Condition for errors of a MySQL server with one of the given numbers. It says Throttled for 1040, 1203
// and 1226 (the server has no connection to give), Retry for any other listed number, and is Unknown for an error without
// one. Without numbers it stands for these:
//
//	1040  ER_CON_COUNT_ERROR            too many connections
//	1203  ER_TOO_MANY_USER_CONNECTIONS  too many connections of this user
//	1205  ER_LOCK_WAIT_TIMEOUT          waited too long for a lock
//	1213  ER_LOCK_DEADLOCK              chosen to end a deadlock
//	2006  CR_SERVER_GONE_ERROR          connection was closed (from proxies)
//	2013  CR_SERVER_LOST                connection was lost within a query: it may have been carried out (from proxies)
//	3572  ER_LOCK_NOWAIT                lock not free, with NOWAIT
//
// After 1213 the whole transaction is rolled back; after 1205 only the statement is, unless innodb_rollback_on_timeout is
// set. Either way what has to be repeated is the transaction from its beginning, after a rollback.
//
// Every error in the tree is asked. The driver (go-sql-driver/mysql and its forks) has no method for the number, so it is
// read from the exported field Number of a struct type named MySQLError. Its own mysql.ErrInvalidConn has no number:
// Is(mysql.ErrInvalidConn) matches that.
//
// It takes a copy of the list, allocates nothing for errors of other types, and is safe for concurrent use. Numbers below 1
// and above 65535 match nothing, and are a ConfigError. Source: MySQL 8.4 Error Message Reference.
func MySQL(numbers ...int) Condition {
	if len(numbers) == 0 {
		numbers = mysqlPassing
	}
	return &mySQL{slices.Clone(numbers)}
}

var mysqlPassing = []int{1040, 1203, 1205, 1213, 2006, 2013, 3572}

type mySQL struct{ numbers []int }

func (c *mySQL) Check(err error) (answer Verdict) {
	find(err, func(err error) bool {
		number := mysqlNumber(err)
		if number == 0 || !slices.Contains(c.numbers, number) {
			return false
		}
		answer = Retry
		if number == 1040 || number == 1203 || number == 1226 {
			answer = Throttled
		}
		return true
	})
	return answer
}

func (c *mySQL) Validate() error {
	for i, number := range c.numbers {
		if number < 1 || number > 65535 {
			return &ConfigError{Field: at("MySQL", i), Value: number, Problem: "must be from 1 to 65535"}
		}
	}
	return nil
}

// mysqlNumber returns the server's number for err itself, 0 if it has none.
func mysqlNumber(err error) int {
	v, ok := structOf(err, "MySQLError")
	if !ok {
		return 0
	}
	switch number := field(v, "Number"); {
	case number.CanUint():
		return int(min(number.Uint(), 1<<16)) // what is above is no number of MySQL, and is not listed
	case number.CanInt():
		return int(number.Int())
	}
	return 0
}
