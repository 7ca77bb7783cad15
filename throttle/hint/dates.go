package hint

import (
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
)

// maxEpoch is a second so far away that every wait until then is the largest Duration, and with which package time still
// computes as it should.
const maxEpoch = 1 << 40

// httpDate reads the three forms of RFC 9110, section 5.6.7. All are in GMT and to the second. A wrong day of the week is
// overlooked, as in http.ParseTime.
func httpDate(s string, now time.Time) (t time.Time, ok bool) {
	const ansi = "Mon Jan _2 15:04:05 2006"
	// Package time would take fractions of a second, hours of one digit and, in RFC 850's form, any name of a zone.
	if len(s) == len(ansi) && s[len("Mon Jan _2")] == ' ' && s[len("Mon Jan _2 15:04:05")] == ' ' {
		t, err := time.Parse(ansi, s)
		return t, err == nil
	}
	clock := len(s) - len("15:04:05 GMT")
	if len(s) > maxNumber || clock < len("Mon, ") || s[clock-1] != ' ' || !strings.HasSuffix(s, " GMT") {
		return time.Time{}, false
	}
	if s[len("Mon")] == ',' {
		t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", s)
		return t, err == nil
	}
	t, err := time.Parse("Monday, 02-Jan-06 15:04:05 GMT", s)
	if err != nil {
		return time.Time{}, false
	}
	// Two digits that seem more than 50 years ahead are the century's before. Package time takes 69 and above for the
	// 20th century, whatever the time is.
	switch ahead := now.AddDate(50, 0, 0); {
	case t.After(ahead):
		t = t.AddDate(-100, 0, 0)
	case !t.AddDate(100, 0, 0).After(ahead):
		t = t.AddDate(100, 0, 0)
	}
	return t, true
}

// goDuration reads what time.Duration writes, without its sign and with d for days.
func goDuration(s string) (total time.Duration, ok bool) {
	if s == "" {
		return 0, false
	}
	if s == "0" {
		return 0, true
	}
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if end < 0 {
			return 0, false
		}
		d, ok := readDecimal(s[:end])
		if !ok {
			return 0, false
		}
		s = s[end:]
		end = strings.IndexAny(s, "0123456789.")
		if end < 0 {
			end = len(s)
		}
		unit, ok := goUnits[s[:end]]
		if !ok {
			return 0, false
		}
		total = saturate.Add(total, d.in(unit))
		s = s[end:]
	}
	return total, true
}

var goUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}
