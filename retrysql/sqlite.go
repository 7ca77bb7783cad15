package retrysql

import (
	"reflect"
	"strings"
)

// SQLite's primary result codes. See https://www.sqlite.org/rescode.html.
const (
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteConstraint = 19
)

// sqliteCode returns the primary result code of an error of SQLite itself, 0 for any other. A method Code() int alone would
// be too little to go by: errors with the status of another protocol have it too.
func sqliteCode(err error) int {
	v := reflect.Indirect(reflect.ValueOf(err))
	if v.Kind() != reflect.Struct || v.Type().Name() != "Error" {
		return 0
	}
	if e, ok := err.(interface{ Code() int }); ok && strings.Contains(v.Type().PkgPath(), "sqlite") { // modernc.org/sqlite
		return e.Code() & 0xff
	}
	if code, ok := number(v, "Code"); ok {
		if _, ok := number(v, "ExtendedCode"); ok { // mattn/go-sqlite3
			return int(code & 0xff)
		}
	}
	return 0
}

// number reads a struct's own integer field of that name.
func number(v reflect.Value, name string) (int64, bool) {
	f, ok := v.Type().FieldByName(name)
	if !ok || !v.Field(f.Index[0]).CanInt() { // an embedded struct is none
		return 0, false
	}
	return v.Field(f.Index[0]).Int(), true
}
