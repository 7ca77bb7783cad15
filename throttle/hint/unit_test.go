package hint_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry/throttle/hint"
	"github.com/stretchr/testify/require"
)

// TestUnits reads each unit through the parser that anybody can make. It is noon, 1795953600.
func TestUnits(t *testing.T) {
	bad := func(texts ...string) (list []reading) {
		for _, text := range texts {
			list = append(list, reading{text: text})
		}
		return list
	}
	const huge = "99999999999999999999999999"
	for unit, list := range map[hint.Unit][]reading{
		hint.DeltaSeconds: append(bad("", "-1", "+1", "1s", "1e3", "soon", "Sun, 29 Nov 2026 12:00:30 GMT"),
			reading{"30", 30 * sec, true}, reading{" 0.25 ", 250 * ms, true}, reading{"600000", 600000 * sec, true},
			reading{"1795953630", 1795953630 * sec, true}, reading{huge, longest, true}),
		hint.DeltaMillis: append(bad("", "-1", "1ms"),
			reading{"600000", 600 * sec, true}, reading{"0.1", ms, true}, reading{"9223372036854", 9223372036854 * ms, true},
			reading{"9223372036855", longest, true}, reading{huge, longest, true}),
		hint.EpochSeconds: append(bad("", "-1795953630", "1e9"),
			reading{"1795953630", 30 * sec, true}, reading{"1795953630.1234", 30*sec + 124*ms, true}, reading{"1795953599", 0, true},
			reading{"20", 0, true}, reading{huge, longest, true}, reading{"9223372036854775807", longest, true}),
		hint.EpochMillis: append(bad("", "-1"),
			reading{"1795953630001", 30*sec + ms, true}, reading{"1795953630001.5", 30*sec + 2*ms, true}, reading{"1795953630", 0, true},
			reading{huge, longest, true}, reading{"9223372036854775807", longest, true}),
		hint.GoDuration: append(bad("", "1", "-1s", "+1s", "s", "1", "1s1", ".5s", "1.s", "1 s", "1S", "1w", "1s ms", "1..5s", "1e3s", "30s!"),
			reading{"0", 0, true}, reading{"0s", 0, true}, reading{"1s", sec, true}, reading{"6m0s", 6 * time.Minute, true},
			reading{"12ms", 12 * ms, true}, reading{"2m59.56s", 179*sec + 560*ms, true}, reading{"1h2m3.5s", time.Hour + 2*time.Minute + 3500*ms, true},
			reading{"1.5h", 90 * time.Minute, true}, reading{"1d12h", 36 * time.Hour, true}, reading{"0.5d", 12 * time.Hour, true},
			reading{"1ns", ms, true}, reading{"1000001ns", 2 * ms, true}, reading{"250us", ms, true}, reading{"250µs", ms, true}, reading{"250μs", ms, true},
			reading{"2562047h47m16.854775807s", longest, true}, reading{"2562048h", longest, true}, reading{huge + "s", longest, true},
			reading{"2562047h60m", longest, true}),
		hint.HTTPDate: append(bad("", "30", "2026-11-29T12:00:30Z", "Sun, 29 Nov 2026 12:00:30 CET"),
			reading{"Sun, 29 Nov 2026 12:00:30 GMT", 30 * sec, true}, reading{"Sunday, 29-Nov-26 12:00:30 GMT", 30 * sec, true},
			reading{"Sun Nov 29 11:00:30 2026", 0, true}),
		hint.RFC3339: append(bad("", "30", "2026-11-29", "2026-11-29T12:00:30", "2026-11-29 12:00:30Z", "Sun, 29 Nov 2026 12:00:30 GMT"),
			reading{"2026-11-29T12:00:30Z", 30 * sec, true}, reading{"2026-11-29T13:00:30.0001+01:00", 30*sec + ms, true},
			reading{"2026-11-29T11:59:59Z", 0, true}, reading{"9999-12-31T23:59:59Z", longest, true}, reading{"0000-01-01T00:00:00Z", 0, true}),
		hint.Auto: append(bad("", "-1", "1e3", "Inf", "100000000000000", huge, "soon", "1 s", "2026-11-29",
			"Tue Feb 16 2021 09:02:42 GMT+0100 (Central European Standard Time)"),
			reading{"0", 0, true}, reading{"182", 182 * sec, true}, reading{"64.57", 64*sec + 570*ms, true}, reading{"99999999.5", 99999999*sec + 500*ms, true},
			reading{"100000000", 0, true}, reading{"1795953630", 30 * sec, true}, reading{"1795953630.5", 30*sec + 500*ms, true},
			reading{"99999999999", longest, true}, reading{"100000000000", 0, true}, reading{"1795953630001", 30*sec + ms, true},
			reading{"99999999999999", longest, true}, reading{"6m0s", 6 * time.Minute, true}, reading{"12ms", 12 * ms, true},
			reading{"Sun, 29 Nov 2026 12:00:30 GMT", 30 * sec, true}, reading{"2026-11-29T12:00:30Z", 30 * sec, true}),
	} {
		p := hint.FieldParser(hint.FieldSpec{Wait: "X-Wait", Unit: unit})
		for _, v := range list {
			s, ok := p.Parse(http.Header{"X-Wait": {v.text}}, 200, noon)
			require.Equal(t, v.ok, ok, "%v: %q", unit, v.text)
			require.Equal(t, v.want, s.Delay, "%v: %q", unit, v.text)
		}
	}
}

// TestUnitsByDate: what is from now on needs no clock, what is a time of the day goes by the response's Date.
func TestUnitsByDate(t *testing.T) {
	for unit, text := range map[hint.Unit]string{
		hint.EpochSeconds: "1795953630", hint.EpochMillis: "1795953630000", hint.HTTPDate: "Sun, 29 Nov 2026 12:00:30 GMT",
		hint.RFC3339: "2026-11-29T12:00:30Z", hint.Auto: "1795953630",
		hint.DeltaSeconds: "30", hint.DeltaMillis: "30000", hint.GoDuration: "30s",
	} {
		told := hint.FieldParser(hint.FieldSpec{Wait: "X-Wait", Unit: unit})
		for date, want := range map[string]time.Duration{
			"Sun, 29 Nov 2026 12:00:10 GMT": 20 * sec, "Sunday, 29-Nov-26 11:00:30 GMT": time.Hour, "Sun Nov 29 12:00:31 2026": 0,
			"yesterday": 30 * sec, "": 30 * sec, "Mon, 01 Jan 0001 00:00:00 GMT": 30 * sec,
		} {
			if unit == hint.DeltaSeconds || unit == hint.DeltaMillis || unit == hint.GoDuration {
				want = 30 * sec
			}
			for _, name := range []string{"Date", "date"} {
				s, ok := told.Parse(http.Header{"X-Wait": {text}, name: {date, "Sun, 29 Nov 2020 12:00:00 GMT"}}, 200, noon)
				require.True(t, ok)
				require.Equal(t, want, s.Delay, "%v, %s: %s", unit, name, date)
			}
		}
	}
}

func TestUnitString(t *testing.T) {
	require.Equal(t, "auto", hint.Unit(0).String())
	require.Equal(t, "delta milliseconds", hint.DeltaMillis.String())
	require.Equal(t, "RFC 3339", hint.RFC3339.String())
	require.Equal(t, "invalid", (hint.RFC3339 + 1).String())
	require.Equal(t, "invalid", hint.Unit(255).String())
}
