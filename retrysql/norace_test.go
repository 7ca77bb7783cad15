//go:build !race

package retrysql_test

const raceEnabled = false
