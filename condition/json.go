package condition

import "reflect"

// isBadJSON reports whether err itself is how encoding/json says that a document or value cannot be what it should be. The
// package is known by its path, so that it need not be imported. A text that ends too early is none: a connection or an
// overloaded server cut it short. json.Decoder calls that io.ErrUnexpectedEOF, json.Unmarshal has one text for it.
func isBadJSON(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() != reflect.Pointer || t.Elem().PkgPath() != "encoding/json" {
		return false
	}
	switch t.Elem().Name() {
	case "SyntaxError":
		return err.Error() != "unexpected end of JSON input"
	case "UnmarshalTypeError", "InvalidUnmarshalError", "UnsupportedTypeError", "UnsupportedValueError":
		return true
	}
	return false
}
