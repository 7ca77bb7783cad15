package condition

import "reflect"

// Some drivers say what they know in exported fields only. A field is read where the error's type has the right name, so
// that everything else costs no more than a look at that.

// structOf returns the struct that err is or points to, if its type has that name.
func structOf(err error, name string) (v reflect.Value, ok bool) {
	v = reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v, v.Kind() == reflect.Struct && v.Type().Name() == name
}

// field returns the field of struct v of that name, the zero Value if it has none. Embedded structs are not searched: a
// nil pointer among them would panic.
func field(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Name == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// pointee returns what field v points to, the zero Value if it is nil or no pointer.
func pointee(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return reflect.Value{}
	}
	return v.Elem()
}
