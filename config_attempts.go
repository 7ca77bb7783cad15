package retry

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Attempts is a limit of attempts, the first included, or Unlimited. The zero Attempts is not set. As text (environment
// variables, flag.TextVar, YAML) it is a whole number of at least 1, or "unlimited" in any case; spaces around do not matter,
// and empty text is not set. JSON has the number as a number or as text. An explicit 0 or -1 is an error, since nobody knows
// whether "no retries" or "no limit" is meant.
type Attempts int

// Unlimited takes the limit of attempts away, in a Config and as the argument of WithMaxAttempts: every other reason to stop
// still holds. It is the largest int, so that -1 is an error also where a decoder sets the number and not the text.
const Unlimited = math.MaxInt

const unlimitedText = "unlimited"

// String returns the number, or "unlimited".
func (a Attempts) String() string {
	if a == Unlimited {
		return unlimitedText
	}
	return strconv.Itoa(int(a))
}

// MarshalText returns what UnmarshalText reads: the number, "unlimited", or nothing if a is not set.
func (a Attempts) MarshalText() ([]byte, error) {
	if a == 0 {
		return []byte{}, nil
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads a whole number of at least 1, "unlimited", or nothing, which is not set. Anything else is a
// *ConfigError, and a stays as it was.
func (a *Attempts) UnmarshalText(text []byte) error {
	return a.read(string(text), string(text))
}

func (a *Attempts) read(text string, value any) error {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		*a = 0
	case strings.EqualFold(text, unlimitedText):
		*a = Unlimited
	default:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return badAttempts(value)
		}
		*a = Attempts(n)
	}
	return nil
}

// MarshalJSON returns a number, "unlimited", or "" if a is not set.
func (a Attempts) MarshalJSON() ([]byte, error) {
	if a == 0 || a == Unlimited {
		text, _ := a.MarshalText()
		return strconv.AppendQuote(nil, string(text)), nil
	}
	return []byte(a.String()), nil
}

// UnmarshalJSON reads a number, or text as UnmarshalText does. It ignores null, as is the custom.
func (a *Attempts) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil { // not text: all of it must be the number
		return a.read(string(data), jsonValue(data))
	}
	return a.read(text, text)
}

// MarshalYAML returns the number, "unlimited", or "" if a is not set, for YAML packages, which would write the number as text.
func (a Attempts) MarshalYAML() (any, error) {
	if a == 0 || a == Unlimited {
		text, _ := a.MarshalText()
		return string(text), nil
	}
	return int(a), nil
}

func badAttempts(value any) error {
	return badSetting("MaxAttempts", "MAX_ATTEMPTS", value, `must be a whole number of at least 1, or "unlimited"`, nil)
}
