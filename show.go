package retry

import (
	"fmt"
	"path"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-89b3229b/retry/internal/quote"
)

// show writes a value for a person, in no more than quote.Limit bytes of its text: one that can't write itself is named by its
// type.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return quote.Quote(v)
	case int, float64, bool, fmt.Stringer, error:
		return quote.Cut(fmt.Sprint(v))
	}
	return typeName(reflect.TypeOf(v))
}

// typeName is a type as its user knows it. An unexported type of this module is no name to anybody: its package is.
func typeName(t reflect.Type) string {
	named := t
	for named.Kind() == reflect.Pointer {
		named = named.Elem()
	}
	first, _ := utf8.DecodeRuneInString(named.Name())
	if named.Name() == "" || unicode.IsUpper(first) || !ofModule(named.PkgPath()) {
		return t.String()
	}
	return "one of package " + path.Base(named.PkgPath())
}

var modulePath = reflect.TypeFor[Policy]().PkgPath()

func ofModule(pkg string) bool { return pkg == modulePath || strings.HasPrefix(pkg, modulePath+"/") }

// optionName is the name of the function that makes an option, such as "WithName": that of its type is nameOption.
func optionName(o Option) string {
	if typed, ok := o.(typedOption); ok {
		name, _, _ := typed.describe()
		return name
	}
	t := reflect.TypeOf(o)
	name, ok := strings.CutSuffix(t.Name(), "Option")
	if !ok || !ofModule(t.PkgPath()) {
		return t.String() // Config, *Policy
	}
	return "With" + strings.ToUpper(name[:1]) + name[1:]
}
