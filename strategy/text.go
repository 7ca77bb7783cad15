package strategy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// format writes a strategy as Parse reads it. Fields that are not set are left out.
func format(kind string, fields []field) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(kind))
	separator := "("
	for _, f := range fields {
		value := formatField(f.at)
		if value == "" {
			continue
		}
		b.WriteString(separator)
		b.WriteString(strings.ToLower(f.name))
		b.WriteByte('=')
		b.WriteString(value)
		separator = ", "
	}
	if separator != "(" {
		b.WriteByte(')')
	}
	return b.String()
}

// formatField writes one value, and nothing for a zero value.
func formatField(at any) string {
	switch at := at.(type) {
	case *time.Duration:
		if *at != 0 {
			return at.String()
		}
	case *[]time.Duration:
		if len(*at) > 0 {
			texts := make([]string, len(*at))
			for i, d := range *at {
				texts[i] = d.String()
			}
			return "[" + strings.Join(texts, ", ") + "]"
		}
	case *increment:
		return formatField((*time.Duration)(at))
	case *float64:
		if *at != 0 {
			return strconv.FormatFloat(*at, 'g', -1, 64)
		}
	case *multiple:
		return formatField((*float64)(at))
	case *bool:
		if *at {
			return "true"
		}
	case *Strategy:
		if errtree.IsNil(*at) {
			return ""
		}
		if s, ok := (*at).(fmt.Stringer); ok {
			return s.String()
		}
		return fmt.Sprintf("%T", *at)
	}
	return ""
}

// readField reads one value into what at points to. name is for the error.
func readField(name string, at any, value string, depth int) error {
	var err error
	problem := ""
	switch at := at.(type) {
	case *time.Duration:
		problem = "must be a duration with a unit, such as 150ms or 2m30s"
		*at, err = time.ParseDuration(value)
	case *[]time.Duration:
		problem = "must be a list of durations, such as [100ms, 1s]"
		*at, err = readList(value)
	case *increment:
		return readField(name, (*time.Duration)(at), value, depth)
	case *multiple:
		return readField(name, (*float64)(at), value, depth)
	case *float64:
		problem = "must be a number, such as 2 or 1.5"
		if strings.ContainsAny(value, "_xX") { // 1_5 is a slip for 1.5, and would be 15
			err = strconv.ErrSyntax
			break
		}
		*at, err = strconv.ParseFloat(value, 64)
	case *bool:
		problem = "must be true or false"
		*at, err = strconv.ParseBool(strings.ToLower(value))
	case *Strategy:
		if depth >= deepest {
			return &ConfigError{name, value, "must not be nested deeper than " + strconv.Itoa(deepest) + " strategies"}
		}
		if *at, err = parse(value, depth+1); err != nil {
			return inside(name, err)
		}
	}
	if err != nil {
		return &ConfigError{name, value, problem}
	}
	return nil
}

// readList reads "[d, d, …]".
func readList(value string) ([]time.Duration, error) {
	opened, isOpened := strings.CutPrefix(value, "[")
	inner, isClosed := strings.CutSuffix(opened, "]")
	if !isOpened || !isClosed {
		return nil, strconv.ErrSyntax
	}
	if strings.TrimSpace(inner) == "" {
		return nil, nil // what an empty list means is Validate's to say
	}
	texts := strings.Split(inner, ",")
	list := make([]time.Duration, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = time.ParseDuration(strings.TrimSpace(text)); err != nil {
			return nil, err
		}
	}
	return list, nil
}
