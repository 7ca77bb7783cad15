package hint

import "time"

// Unit is what a field's value counts, or how it writes a time. Numbers are digits, perhaps with a point and more digits;
// a sign, an exponent or anything else makes them invalid. What is invalid says nothing; what does not fit into a
// Duration is its largest; what is in the past is a wait of 0.
type Unit uint8

const (
	// Auto tells by the value, and is the zero value: a number below 1e8 is seconds from now, one below 1e11 is seconds
	// since 1970, one below 1e14 milliseconds since 1970, and more is invalid; other texts are tried as GoDuration,
	// HTTPDate and RFC3339. Milliseconds from now cannot be told from seconds: these need DeltaMillis.
	Auto Unit = iota
	// DeltaSeconds is seconds from now.
	DeltaSeconds
	// DeltaMillis is milliseconds from now.
	DeltaMillis
	// EpochSeconds is seconds since 1970.
	EpochSeconds
	// EpochMillis is milliseconds since 1970.
	EpochMillis
	// GoDuration is a time from now as time.Duration writes it, such as 6m0s or 1.5ms; d is 24 hours. There is no sign.
	GoDuration
	// HTTPDate is a date in any of HTTP's three forms.
	HTTPDate
	// RFC3339 is a date such as 2026-03-01T12:00:00Z.
	RFC3339

	// secondsOrDate is Retry-After.
	secondsOrDate
	// wholeMillis is DeltaMillis without a fraction.
	wholeMillis
	invalidUnit
)

var unitNames = [...]string{"auto", "delta seconds", "delta milliseconds", "epoch seconds", "epoch milliseconds", "Go duration", "HTTP-date", "RFC 3339"}

// String returns the unit's name.
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return "invalid"
}

// longest returns the longest wait that any of the lines tells.
func (u Unit) longest(lines []string, t *times) (longest time.Duration, ok bool) {
	for _, line := range lines {
		if d, valid := u.wait(trim(line), t); valid {
			longest, ok = max(longest, d), true
		}
	}
	return longest, ok
}

func (u Unit) wait(text string, t *times) (time.Duration, bool) {
	if len(text) > maxNumber {
		return 0, false
	}
	switch u {
	case GoDuration:
		return goDuration(text)
	case HTTPDate:
		if at, ok := httpDate(text, t.now); ok {
			return t.until(at), true
		}
		return 0, false
	case RFC3339:
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return t.until(at), true
		}
		return 0, false
	}
	d, ok := readDecimal(text)
	if !ok {
		switch u {
		case secondsOrDate:
			return HTTPDate.wait(text, t)
		case Auto:
			for _, form := range [...]Unit{GoDuration, HTTPDate, RFC3339} {
				if wait, ok := form.wait(text, t); ok {
					return wait, true
				}
			}
		}
		return 0, false
	}
	if u == Auto {
		u = guess(d.whole)
	}
	switch u {
	case DeltaSeconds, secondsOrDate:
		return d.in(time.Second), true
	case DeltaMillis:
		return d.in(time.Millisecond), true
	case wholeMillis:
		return d.in(time.Millisecond), d.integer
	case EpochSeconds:
		return t.until(time.Unix(min(d.whole, maxEpoch), d.billions)), true
	case EpochMillis:
		fraction := up(time.Duration(d.billions), 1000) / 1000
		return t.until(time.UnixMilli(min(d.whole, maxEpoch*1000)).Add(fraction)), true
	}
	return 0, false
}

// guess tells by a number's size what it is.
func guess(n int64) Unit {
	switch {
	case n < 1e8: // 3 years; or 1973
		return DeltaSeconds
	case n < 1e11: // the year 5138; or 1973 in milliseconds
		return EpochSeconds
	case n < 1e14: // the year 5138
		return EpochMillis
	}
	return invalidUnit
}
