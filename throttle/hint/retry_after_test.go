package hint_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// noon is when the responses of these tests come in.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

type reading struct {
	text string
	want time.Duration
	ok   bool
}

// retryAfters are values of one line. What is not ok says nothing, which is not the same as 0.
var retryAfters = []reading{
	{"120", 120 * sec, true}, {"0", 0, true}, {"007", 7 * sec, true}, {"1.5", 1500 * ms, true}, {"2.0", 2 * sec, true},
	{"0.0005", ms, true}, {"0.001", ms, true}, {"0.0010000001", 2 * ms, true}, {"0.000000000000000000001", ms, true},
	{"0.9999999999999", sec, true}, {"1.00000000000000000000", sec, true},
	{" 5 ", 5 * sec, true}, {"\t5\t ", 5 * sec, true},
	{"9223372036", 9223372036 * sec, true}, {"9223372037", longest, true}, {"9223372036.9", longest, true},
	{"9999999999", longest, true}, {"18446744074", longest, true}, {"99999999999999999999", longest, true},
	{strings.Repeat("9", 64), longest, true}, {strings.Repeat("0", 63) + "1", sec, true},

	{"Sun, 29 Nov 2026 12:01:30 GMT", 90 * sec, true},
	{"Sunday, 29-Nov-26 12:01:00 GMT", 60 * sec, true},
	{"Sun Nov 29 12:00:45 2026", 45 * sec, true},
	{" Sun Nov 29 12:00:45 2026\t", 45 * sec, true},
	{"Tue Dec  1 12:00:00 2026", 48 * time.Hour, true},
	{"Fri, 31 Dec 1999 23:59:59 GMT", 0, true}, {"Sun Nov  6 08:49:37 1994", 0, true},
	{"Fri, 31 Dec 9999 23:59:59 GMT", longest, true}, {"Sat, 01 Jan 0000 00:00:00 GMT", 0, true},
	{"Mon, 29 Nov 2026 12:00:01 GMT", sec, true}, // a wrong day of the week
	{"Thu, 29 Feb 2028 12:00:00 GMT", noon.AddDate(1, 3, 0).Sub(noon), true},
	// Two digits for the year: at most 50 years ahead, else in the past.
	{"Sunday, 06-Nov-94 08:49:37 GMT", 0, true}, {"Sunday, 29-Nov-76 12:00:00 GMT", longestOr(noon.AddDate(50, 0, 0).Sub(noon)), true},
	{"Monday, 30-Nov-76 12:00:00 GMT", 0, true}, {"Friday, 29-Nov-69 12:00:00 GMT", longestOr(noon.AddDate(43, 0, 0).Sub(noon)), true},

	{"", 0, false}, {" ", 0, false}, {"-5", 0, false}, {"+5", 0, false}, {"-0", 0, false}, {"1e3", 0, false}, {"0x1F", 0, false},
	{"1_000", 0, false}, {"1,000", 0, false}, {"5s", 0, false}, {"5 s", 0, false}, {"120, 60", 0, false}, {"120;q=1", 0, false},
	{".5", 0, false}, {"5.", 0, false}, {".", 0, false}, {"1.5.5", 0, false}, {"1.-5", 0, false}, {"1. 5", 0, false},
	{"Inf", 0, false}, {"+Inf", 0, false}, {"Infinity", 0, false}, {"NaN", 0, false}, {"nan", 0, false}, {"soon", 0, false},
	{"１２", 0, false}, {"5\n", 0, false}, {"5\x00", 0, false}, {strings.Repeat("9", 65), 0, false},
	{"Sun, 6 Nov 2044 08:49:37 GMT", 0, false}, {"Sun, 29 Nov 2026 12:01:00 +0000", 0, false},
	{"Sun, 29 Nov 2026 12:01:00 PST", 0, false}, {"Sun, 29 Nov 2026 12:01:00 UTC", 0, false},
	{"Sun, 29 Nov 2026 12:01:00 gmt", 0, false}, {"Sun, 29 Nov 2026 12:01:00", 0, false},
	{"Sunday, 29-Nov-26 12:01:00 PST", 0, false}, {"Sunday, 29-Nov-26 12:01:00", 0, false},
	{"Sun, 29 Nov 2026 12:01:00.5 GMT", 0, false}, {"Sunday, 29-Nov-26 12:01:00.5 GMT", 0, false}, {"Sun Nov 29 12:00:45.5 2026", 0, false},
	{"Sun, 29 Nov 2026 12:01:60 GMT", 0, false}, {"Sun, 31 Nov 2026 12:01:00 GMT", 0, false}, {"Sun, 29 Nov 2026 24:00:00 GMT", 0, false},
	{"Sun Nov 29 12:00:45 2026 GMT", 0, false}, {"2026-11-29T12:01:00Z", 0, false}, {"GMT", 0, false}, {" GMT", 0, false},
	{"15:04:05 GMT", 0, false}, {"Sunday, 31-Nov-26 12:01:00 GMT", 0, false}, {"Mon Nov 30 5:04:05.5 2026", 0, false}, {"Mon Nov 9 5:04:05.5 2026", 0, false},
	{"Sun, 29 Nov 2026 2:01:00 GMT", 0, false}, {"Sunday, 29-Nov-26 2:01:00 GMT", 0, false},
}

// longestOr is d, which some of the years above cannot hold.
func longestOr(d time.Duration) time.Duration { return min(d, longest) }

func TestParseRetryAfter(t *testing.T) {
	for _, v := range retryAfters {
		got, ok := hint.ParseRetryAfter([]string{v.text}, time.Time{}, noon)
		require.Equal(t, v.ok, ok, "%q", v.text)
		require.Equal(t, v.want, got, "%q", v.text)

		s, ok := hint.Stripe().Parse(http.Header{"Retry-After": {v.text}}, 429, noon)
		require.Equal(t, v.ok, ok, "%q", v.text)
		if ok {
			require.Equal(t, throttle.Signal{Delay: v.want, HasDelay: true, Source: "retry-after"}, s, "%q", v.text)
		}
	}
}

// TestP20RetryAfterDate: a date in any of the three forms, the past as 0, space around, and garbage as nothing.
func TestP20RetryAfterDate(t *testing.T) {
	for _, form := range []string{time.RFC850, time.ANSIC, http.TimeFormat} {
		for _, after := range []time.Duration{-1000 * time.Hour, -sec, 0, sec, 45 * sec, time.Hour, 1000 * time.Hour} {
			at := noon.Add(after)
			text := strings.Replace(at.Format(form), "UTC", "GMT", 1)
			for _, text := range []string{text, " " + text, text + " ", "\t" + text + "\t"} {
				got, ok := hint.ParseRetryAfter([]string{text}, time.Time{}, noon)
				require.True(t, ok, text)
				require.Equal(t, max(after, 0), got, text)

				s, ok := hint.Standard().Parse(http.Header{"Retry-After": {text}}, 503, noon)
				require.True(t, ok, text)
				require.Equal(t, throttle.Signal{Delay: max(after, 0), HasDelay: true, Source: "retry-after"}, s, text)
			}
			_, ok := hint.ParseRetryAfter([]string{text[:len(text)-1]}, time.Time{}, noon)
			require.False(t, ok, text)
		}
	}
	for _, text := range []string{"-1", "garbage"} {
		s, ok := hint.Standard().Parse(http.Header{"Retry-After": {text}}, 503, noon)
		require.False(t, ok, text)
		require.Zero(t, s, text)
	}
}

func TestParseRetryAfterLines(t *testing.T) {
	late := "Sun, 29 Nov 2026 12:00:09 GMT"
	for _, v := range []struct {
		lines []string
		want  time.Duration
		ok    bool
	}{
		{nil, 0, false},
		{[]string{}, 0, false},
		{[]string{"1", "5"}, 5 * sec, true},
		{[]string{"5", "1"}, 5 * sec, true},
		{[]string{"0", "0"}, 0, true},
		{[]string{"oops", "4", "-9"}, 4 * sec, true},
		{[]string{"4", late, "1.5"}, 9 * sec, true},
		{[]string{"", "", ""}, 0, false},
	} {
		got, ok := hint.ParseRetryAfter(v.lines, time.Time{}, noon)
		require.Equal(t, v.ok, ok, v.lines)
		require.Equal(t, v.want, got, v.lines)
	}
}

// TestParseRetryAfterDate: dates are measured by the response's own, seconds by nothing; a clock in between is rounded up.
func TestParseRetryAfterDate(t *testing.T) {
	text := []string{"Sun, 29 Nov 2026 12:05:30 GMT"}
	for _, v := range []struct {
		date, now time.Time
		want      time.Duration
	}{
		{time.Time{}, noon, 330 * sec},
		{noon.Add(5 * time.Minute), noon, 30 * sec},
		{noon.Add(-5 * time.Minute), noon.Add(time.Hour), 630 * sec},
		{noon.Add(5 * time.Minute).In(time.FixedZone("", 3600)), noon, 30 * sec},
		{noon.Add(time.Hour), noon, 0},
		{time.Time{}, noon.Add(1), 330 * sec},
		{time.Time{}, noon.Add(ms), 330*sec - ms},
		{time.Time{}, noon.Add(ms + 1), 330*sec - ms},
		{time.Time{}, time.Time{}, longest},
		{time.Unix(1<<60, 0), noon, 0},
	} {
		got, ok := hint.ParseRetryAfter(text, v.date, v.now)
		require.True(t, ok)
		require.Equal(t, v.want, got, "%v %v", v.date, v.now)
		got, ok = hint.ParseRetryAfter([]string{"12"}, v.date, v.now)
		require.True(t, ok)
		require.Equal(t, 12*sec, got)
	}
}

// TestParseRetryAfterYear: of a year that is written with two digits, the time says the century.
func TestParseRetryAfterYear(t *testing.T) {
	for _, v := range []struct {
		year int
		text string
		want int
	}{
		{1996, "06-Nov-94", 1994}, {1996, "06-Nov-46", 2046}, {1996, "06-Nov-47", 1947}, {1996, "06-Nov-69", 1969},
		{2026, "06-Nov-94", 1994}, {2026, "06-Nov-27", 2027}, {2026, "06-Nov-70", 2070}, {2026, "06-Nov-76", 2076}, {2026, "06-Nov-77", 1977},
		{2090, "06-Nov-94", 2094}, {2090, "06-Nov-90", 2090}, {2090, "06-Nov-40", 2140}, {2090, "06-Nov-41", 2041},
	} {
		at := time.Date(v.want, 11, 6, 8, 49, 37, 0, time.UTC)
		now := time.Date(v.year, 11, 6, 8, 49, 37, 0, time.UTC) // to the second, for those in 50 years
		for _, before := range []time.Duration{0, sec} {
			got, ok := hint.ParseRetryAfter([]string{"Sunday, " + v.text + " 08:49:37 GMT"}, at.Add(-before), now)
			require.True(t, ok)
			require.Equal(t, before, got, "%d: %s", v.year, v.text)
		}
	}
}

// TestTold: the finest field that is valid wins, whatever the others say, on any status.
func TestTold(t *testing.T) {
	order := []struct{ field, value string }{
		{"Retry-After-Ms", "1"}, {"X-Ms-Retry-After-Ms", "2"}, {"X-Amz-Retry-After", "3"}, {"Retry-After", "0.004"}, {"X-Retry-After", "0.005"},
	}
	for _, status := range []int{200, 202, 301, 403, 429, 500, 503} {
		h := http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"77"}}
		for i := len(order) - 1; i >= 0; i-- {
			h.Set(order[i].field, order[i].value)
			s, _ := hint.Standard().Parse(h, status, noon)
			require.Equal(t, time.Duration(i+1)*ms, s.Delay)
			require.Equal(t, strings.ToLower(order[i].field), s.Source)
		}
		for i := range order {
			h.Set(order[i].field, "n/a")
			s, _ := hint.Standard().Parse(h, status, noon)
			if i < len(order)-1 {
				require.Equal(t, time.Duration(i+2)*ms, s.Delay)
				require.Equal(t, strings.ToLower(order[i+1].field), s.Source)
			} else {
				require.Equal(t, "x-ratelimit-reset", s.Source)
			}
		}
	}
}

func TestToldUnits(t *testing.T) {
	for _, v := range []struct {
		parser       hint.Parser
		field, value string
		want         time.Duration
		ok           bool
	}{
		{hint.OpenAI(), "Retry-After-Ms", "1250", 1250 * ms, true},
		{hint.OpenAI(), "Retry-After-Ms", "12.25", 13 * ms, true},
		{hint.Azure(), "X-Ms-Retry-After-Ms", "9223372036855", longest, true},
		{hint.Azure(), "Retry-After-Ms", "-1", 0, false},
		{hint.AWS(), "X-Amz-Retry-After", "1500", 1500 * ms, true},
		{hint.AWS(), "X-Amz-Retry-After", "1500.5", 0, false},
		{hint.AWS(), "X-Amz-Retry-After", "-1", 0, false},
		{hint.Standard(), "X-Retry-After", "30", 30 * sec, true},
		{hint.Standard(), "X-Retry-After", "1795953630", 30 * sec, true},
		{hint.Standard(), "X-Retry-After", "Sun, 29 Nov 2026 12:00:30 GMT", 30 * sec, true},
		// Not theirs.
		{hint.Stripe(), "Retry-After-Ms", "1250", 0, false},
		{hint.GitHub(), "X-Amz-Retry-After", "1250", 0, false},
		{hint.AWS(), "X-Ms-Retry-After-Ms", "1250", 0, false},
	} {
		s, ok := v.parser.Parse(http.Header{v.field: {v.value}}, 429, noon)
		require.Equal(t, v.ok, ok, v)
		require.Equal(t, v.want, s.Delay, v)
	}
}
