package retrysql

import (
	"reflect"
	"strings"
)

// SQLite's primary result codes. See https://www.sqlite.org/rescode.html.
const (
	sqliteError      = 1
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteNoMem      = 7
	sqliteInterrupt  = 9
	sqliteIOErr      = 10
	sqliteFull       = 13
	sqliteConstraint = 19
)

// sqliteCode returns the primary result code of an error of SQLite itself, 0 for any other. A method Code() int alone would
// be too little to go by: errors with the status of another protocol have it too.
func sqliteCode(err error) int {
	v := reflect.Indirect(reflect.ValueOf(err))
	switch v.Type().Name() {
	case "ErrorCode", "ExtendedErrorCode": // ncruces/go-sqlite3 returns these too
		if v.CanUint() && isSQLite(v) {
			return int(v.Uint() & 0xff)
		}
	case "Error":
		return codeOfError(err, v)
	}
	return 0
}

func codeOfError(err error, v reflect.Value) int {
	if v.Kind() != reflect.Struct {
		return 0
	}
	if isSQLite(v) {
		if e, ok := err.(interface{ Code() int }); ok { // modernc.org/sqlite
			return e.Code() & 0xff
		}
		if m := reflect.ValueOf(err).MethodByName("Code"); m.IsValid() && returnsUint(m.Type()) { // ncruces/go-sqlite3
			return int(m.Call(nil)[0].Uint() & 0xff)
		}
	}
	if code, ok := number(v, "Code"); ok {
		if _, ok := number(v, "ExtendedCode"); ok { // mattn/go-sqlite3
			return int(code & 0xff)
		}
	}
	return 0
}

func isSQLite(v reflect.Value) bool { return strings.Contains(v.Type().PkgPath(), "sqlite") }

// returnsUint reports whether a method has no parameter, and one result of an unsigned type.
func returnsUint(t reflect.Type) bool {
	if t.NumIn() != 0 || t.NumOut() != 1 {
		return false
	}
	switch t.Out(0).Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return true
	}
	return false
}

// number reads a struct's own integer field of that name.
func number(v reflect.Value, name string) (int64, bool) {
	f, ok := v.Type().FieldByName(name)
	if !ok || !v.Field(f.Index[0]).CanInt() { // an embedded struct is none
		return 0, false
	}
	return v.Field(f.Index[0]).Int(), true
}
