package frame

import (
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

// Duration is a flag's duration, as time.ParseDuration reads it, not negative. Set says that the flag was given, so that an
// explicit 0 is known.
type Duration struct {
	time.Duration
	Set bool
}

// Decode reads the flag's value.
func (d *Duration) Decode(ctx *kong.DecodeContext) error {
	text, err := word(ctx, "a duration, such as 5s")
	if err != nil {
		return err
	}
	v, err := ParseDuration("--"+ctx.Value.Name, text)
	*d = Duration{v, err == nil}
	return err
}

// ParseDuration reads a duration that is not negative. what names it in errors.
func ParseDuration(what, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		if _, isNumber := strconv.ParseFloat(text, 64); isNumber == nil {
			return 0, Usage("%s %s: needs a unit, such as %ss", what, text, text)
		}
		return 0, Usage("%s %s: must be a duration, such as 500ms or 1m30s", what, text)
	}
	if d < 0 {
		return 0, Usage("%s %s: must not be negative", what, text)
	}
	return d, nil
}

// word takes a flag's value.
func word(ctx *kong.DecodeContext, needs string) (string, error) {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return "", Usage("--%s needs %s", ctx.Value.Name, needs)
	}
	return token.String(), nil
}
