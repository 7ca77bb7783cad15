package hint_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

func TestFieldParser(t *testing.T) {
	wait := throttle.Signal{Delay: 2 * sec, HasDelay: true, Source: "x-pause"}
	for _, v := range []struct {
		spec   hint.FieldSpec
		header http.Header
		status int
		want   throttle.Signal
	}{
		{hint.FieldSpec{Wait: "X-Pause"}, header("X-Pause", "2"), 200, wait},
		{hint.FieldSpec{Wait: "x-PAUSE"}, header("X-Pause", "2"), 200, wait},
		{hint.FieldSpec{Wait: "X-Pause"}, http.Header{"x-pause": {"2"}}, 200, wait},
		{hint.FieldSpec{Wait: "X-Pause"}, http.Header{"x-pause": {"9"}, "X-PAUSE": {"8"}, "X-Pause": {"2"}}, 200, wait},
		{hint.FieldSpec{Wait: "X-Pause"}, http.Header{"x-pause": {"9"}, "X-PAUSE": {"2"}, "X-pause": {"8"}}, 200, wait},
		{hint.FieldSpec{Wait: "X-Pause"}, header("X-Pause", "1", "X-Pause", "-7", "X-Pause", "2"), 200, wait},
		{hint.FieldSpec{Wait: "X-Pause", Unit: hint.DeltaMillis}, header("X-Pause", "1999.5"), 200, wait},
		{hint.FieldSpec{Wait: "X-Pause", Rule: throttle.Clamp(sec)}, header("X-Pause", "2"), 200,
			throttle.Signal{Delay: 2 * sec, HasDelay: true, Source: "x-pause", Rule: throttle.Clamp(sec)}},
		{hint.FieldSpec{Wait: "X-Pause"}, header("X-Pause", "soon"), 429, throttle.Signal{}},
		{hint.FieldSpec{Wait: "X-Pause"}, header("Retry-After", "2"), 429, throttle.Signal{}},
		{hint.FieldSpec{Wait: "X-Pause"}, nil, 429, throttle.Signal{}},

		// What is left decides, and where that is not said the status.
		{hint.FieldSpec{Wait: "X-Pause", Remaining: "X-Left", Limit: "X-Max", Name: "calls"}, header("X-Pause", "2", "X-Left", "0", "X-Max", "5"), 200,
			throttle.Signal{Delay: 2 * sec, HasDelay: true, Source: "x-pause", Quotas: []throttle.Quota{limited("calls", 5, 0, 2*sec)}}},
		{hint.FieldSpec{Wait: "X-Pause", Remaining: "X-Left"}, header("X-Pause", "2", "X-Left", "1"), 429,
			throttle.Signal{Quotas: []throttle.Quota{limited("x-pause", -1, 1, 2*sec)}}},
		{hint.FieldSpec{Wait: "X-Pause", Remaining: "X-Left"}, header("X-Pause", "2"), 429, wait},
		{hint.FieldSpec{Wait: "X-Pause", Remaining: "X-Left"}, header("X-Pause", "2"), 403, throttle.Signal{}},
		{hint.FieldSpec{Wait: "X-Pause", Limit: "X-Max"}, header("X-Pause", "2", "X-Max", "9"), 403,
			throttle.Signal{Delay: 2 * sec, HasDelay: true, Source: "x-pause", Quotas: []throttle.Quota{limited("x-pause", 9, -1, 2*sec)}}},
		{hint.FieldSpec{Wait: "X-Pause", Remaining: "X-Left"}, header("X-Left", "0"), 429,
			throttle.Signal{Quotas: []throttle.Quota{limited("x-pause", -1, 0, -1)}}},

		// What is not valid finds nothing.
		{hint.FieldSpec{}, http.Header{"": {"2"}}, 429, throttle.Signal{}},
		{hint.FieldSpec{Wait: "X Pause"}, http.Header{"X Pause": {"2"}}, 429, throttle.Signal{}},
		{hint.FieldSpec{Wait: "X-Pause", Unit: hint.RFC3339 + 1}, header("X-Pause", "2"), 429, throttle.Signal{}},
		{hint.FieldSpec{Wait: "X-Pause", Unit: hint.RFC3339 + 2}, header("X-Pause", "2"), 429, throttle.Signal{}},
	} {
		s, ok := hint.FieldParser(v.spec).Parse(v.header, v.status, noon)
		require.Equal(t, v.want, s, "%+v %v", v.spec, v.header)
		require.Equal(t, !v.want.IsZero(), ok, "%+v %v", v.spec, v.header)
	}
}

func TestFieldSpecValidate(t *testing.T) {
	type spec = hint.FieldSpec
	for text, v := range map[string]spec{
		"": {Wait: "X-Pause", Remaining: "X-Left", Limit: "x_max!", Unit: hint.RFC3339, Name: "any thing", Rule: throttle.Exact()},
		`throttle: FieldSpec.Wait = : must be the name of a header field`:         {},
		`throttle: FieldSpec.Wait = X Pause: must be the name of a header field`:  {Wait: "X Pause"},
		`throttle: FieldSpec.Wait = X-Ü: must be the name of a header field`:      {Wait: "X-Ü"},
		`throttle: FieldSpec.Remaining = a:b: must be the name of a header field`: {Wait: "a", Remaining: "a:b"},
		`throttle: FieldSpec.Limit = a\nb: must be the name of a header field`:    {Wait: "a", Limit: `a\nb`},
		`throttle: FieldSpec.Unit = 8: must be one of the constants`:              {Wait: "a", Unit: hint.RFC3339 + 1},
		`throttle: Clamp = -1ns: must not be negative`:                            {Wait: "a", Rule: throttle.Clamp(-1)},
	} {
		for _, err := range []error{
			v.Validate(), hint.FieldParser(v).(interface{ Validate() error }).Validate(),
			hint.Parsers(hint.Standard(), hint.FieldParser(v)).(interface{ Validate() error }).Validate(),
		} {
			if text == "" {
				require.NoError(t, err)
				continue
			}
			require.EqualError(t, err, text)
			require.ErrorAs(t, err, new(*throttle.ConfigError))
		}
	}
}
