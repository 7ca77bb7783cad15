package hint

import (
	"math"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
)

// maxNumber is the length of the longest text that is read as a number or a time.
const maxNumber = 64

// decimal is a number that is not negative: digits, and perhaps a point and more digits.
type decimal struct {
	whole    int64 // the largest one if it is more
	billions int64 // of a fraction, rounded up: 0 to 999,999,999
	integer  bool  // without a point
}

// readDecimal reads DIGIT+ [ "." DIGIT+ ], and nothing else: no sign, exponent, Inf or separator.
func readDecimal(s string) (d decimal, ok bool) {
	if len(s) > maxNumber {
		return decimal{}, false
	}
	i := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		d.whole = shift(d.whole, s[i])
	}
	if i == 0 {
		return decimal{}, false
	}
	if i == len(s) {
		d.integer = true
		return d, true
	}
	if s[i] != '.' || i+1 == len(s) {
		return decimal{}, false
	}
	rest := false
	place := int64(100_000_000)
	for _, c := range []byte(s[i+1:]) {
		if !isDigit(c) {
			return decimal{}, false
		}
		d.billions += int64(c-'0') * place
		rest = rest || place == 0 && c != '0'
		place /= 10
	}
	if rest {
		if d.billions++; d.billions == 1_000_000_000 {
			d.billions, d.whole = 0, plusOne(d.whole)
		}
	}
	return d, true
}

// in returns d units, rounded up to a nanosecond; what does not fit is the largest Duration. unit divides a second or is
// a multiple of it.
func (d decimal) in(unit time.Duration) time.Duration {
	if d.whole > int64(math.MaxInt64/unit) {
		return math.MaxInt64
	}
	fraction := time.Duration(d.billions)
	if unit >= time.Second {
		fraction *= unit / time.Second
	} else {
		fraction = up(fraction, time.Second/unit) / (time.Second / unit)
	}
	return saturate.Add(time.Duration(d.whole)*unit, fraction)
}

// ceiling returns the smallest integer that is not below d.
func (d decimal) ceiling() int64 {
	if d.billions > 0 {
		return plusOne(d.whole)
	}
	return d.whole
}

// readInteger reads [ "-" ] DIGIT+; what does not fit is the nearest that does.
func readInteger(s string) (n int64, ok bool) {
	digits := s
	if negative := s != "" && s[0] == '-'; negative {
		digits = s[1:]
	}
	d, ok := readDecimal(digits)
	if !ok || !d.integer {
		return 0, false
	}
	if len(digits) < len(s) {
		return -d.whole, true
	}
	return d.whole, true
}

// readSigned is readInteger that takes a plus sign too, as the functions of Java and Go do that a vendor's own clients read
// with: what means something to them means the same here.
func readSigned(s string) (n int64, ok bool) {
	if digits, plus := strings.CutPrefix(s, "+"); plus {
		d, ok := readDecimal(digits)
		return d.whole, ok && d.integer
	}
	return readInteger(s)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// shift appends a digit to n.
func shift(n int64, digit byte) int64 {
	d := int64(digit - '0')
	if n > (math.MaxInt64-d)/10 {
		return math.MaxInt64
	}
	return n*10 + d
}

func plusOne(n int64) int64 {
	if n == math.MaxInt64 {
		return n
	}
	return n + 1
}

// up rounds d, which is not negative, up to a multiple of unit; the largest Duration stays.
func up(d, unit time.Duration) time.Duration {
	if over := d % unit; over > 0 && d < math.MaxInt64 {
		return saturate.Add(d, unit-over)
	}
	return d
}
