package hint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// info is a body with one detail.
func info(delay string) string {
	return `{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":` + delay + `}]}}`
}

func TestRetryInfo(t *testing.T) {
	const detail = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}`
	for _, v := range []reading{
		{info(`"34.074824224s"`), 34075 * ms, true},
		{info(`"34s"`), 34 * sec, true},
		{info(`"0s"`), 0, true},
		{info(`"0.000000001s"`), ms, true},
		{info(`"315576000000s"`), longest, true},
		{info(`"99999999999999999999s"`), longest, true},
		{" \n" + info(`"3s"`) + "\n", 3 * sec, true},
		{"[" + info(`"3s"`) + "," + info(`"5s"`) + "," + info(`"4s"`) + "]", 5 * sec, true},
		{`{"code":8,"details":[` + detail + `]}`, 2 * sec, true},
		{`{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[]},` + detail + `,7]}}`, 2 * sec, true},
		{`{"error":"google.rpc.RetryInfo","details":[` + detail + `]}`, 2 * sec, true},
		{`{"error":{"details":[{"@type":"google.rpc.RetryInfo","retryDelay":"2s"}]}}`, 2 * sec, true},
		{strings.ReplaceAll(info(`"2s"`), "/", `\/`), 2 * sec, true},

		{info(`"-1s"`), 0, false}, {info(`"1"`), 0, false}, {info(`"1ms"`), 0, false}, {info(`"1m"`), 0, false}, {info(`"s"`), 0, false},
		{info(`""`), 0, false}, {info(`"1e3s"`), 0, false}, {info(`"Infs"`), 0, false}, {info(`" 1s"`), 0, false}, {info(`34`), 0, false},
		{info(`null`), 0, false}, {info(`{"seconds":3}`), 0, false}, {info(`"3s"`) + "x", 0, false}, {info(`"3s"`)[1:], 0, false},
		{`{"error":{"details":[{"@type":"x.google.rpc.RetryInfo","retryDelay":"2s"}]}}`, 0, false},
		{`{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo2","retryDelay":"2s"}]}}`, 0, false},
		{`{"error":{"details":[{"retryDelay":"2s","type":"google.rpc.RetryInfo"}]}}`, 0, false},
		{`{"other":{"details":[` + detail + `]}}`, 0, false},
		{`{"error":{"code":429}}`, 0, false}, {"google.rpc.RetryInfo", 0, false}, {`"google.rpc.RetryInfo"`, 0, false}, {"", 0, false}, {"[]", 0, false},
	} {
		s, ok := hint.RetryInfo([]byte(v.text))
		require.Equal(t, v.ok, ok, v.text)
		want := throttle.Signal{}
		if v.ok {
			want = throttle.Signal{Delay: v.want, HasDelay: true, Source: "retryinfo"}
		}
		require.Equal(t, want, s, v.text)
	}
}

func TestRetryInfoSize(t *testing.T) {
	const most = 64 << 10
	body := info(`"2s"`)
	body += strings.Repeat(" ", most-len(body))
	_, ok := hint.RetryInfo([]byte(body))
	require.True(t, ok)
	_, ok = hint.RetryInfo([]byte(body + " "))
	require.False(t, ok)
}

// TestRetryInfoCosts: nothing where there is none, and a bounded amount where the body is made to hurt.
func TestRetryInfoCosts(t *testing.T) {
	plain := []byte(`{"error":{"code":429,"message":"slow down"}}`)
	require.Zero(t, testing.AllocsPerRun(100, func() { hint.RetryInfo(plain) }))
	fill := func(start, unit, end string) []byte {
		return []byte(start + strings.Repeat(unit, (64<<10-len(start)-len(end))/len(unit)) + end)
	}
	const mark = `{"google.rpc.RetryInfo":0,`
	for name, body := range map[string][]byte{
		"details": fill(mark+`"details":[{}`, ",{}", "]}"),
		"answers": fill("["+mark+`"x":0}`, ",{}", "]"),
		"nested":  fill(mark+`"x":`, "[", ""),
		"closed":  []byte(mark + `"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}"),
		"text":    fill(mark+`"details":"`, `A`, `"}`),
		"keys":    fill(mark+`"details":[]`, `,"error":{}`, "}"),
		"mixed":   fill(mark+`"details":[0`, ",1", "]}"),
	} {
		require.Less(t, allocated(func() {
			_, ok := hint.RetryInfo(body)
			require.False(t, ok)
		}), uint64(8<<20), name)
	}
	require.Less(t, allocated(func() { hint.RetryInfo(make([]byte, 0, 1)) }), uint64(1<<10))
}
