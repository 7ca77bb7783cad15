package retry_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
)

func TestConfigJSONRoundTrip(t *testing.T) {
	for want, c := range map[string]retry.Config{
		`{}`:                           {},
		`{"max_attempts":1}`:           {MaxAttempts: 1},
		`{"max_attempts":"unlimited"}`: {MaxAttempts: retry.Unlimited},
		`{"max_attempts":4,"base_delay":"500ms","max_delay":"8s"}`:                          {MaxAttempts: 4, BaseDelay: 500 * time.Millisecond, MaxDelay: 8 * time.Second},
		`{"max_elapsed":"1h0m1.5s","attempt_timeout":"1ns"}`:                                {MaxElapsed: time.Hour + 1500*time.Millisecond, AttemptTimeout: 1},
		`{"base_delay":"2562047h47m16.854775807s"}`:                                         {BaseDelay: math.MaxInt64},
		`{"max_delay":"8s","strategy":"bythrottled(normal=linear, throttled=exponential)"}`: {MaxDelay: 8 * time.Second, Strategy: "bythrottled(normal=linear, throttled=exponential)"},
		`{"max_attempts":-1,"max_delay":"-2562047h47m16.854775808s"}`:                       {MaxAttempts: -1, MaxDelay: math.MinInt64},
	} {
		for _, v := range []any{c, &c} {
			got, err := json.Marshal(v)
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		}
		if c.Validate() != nil {
			continue
		}
		var back retry.Config
		require.NoError(t, json.Unmarshal([]byte(want), &back))
		require.Equal(t, c, back)
	}
}

// TestConfigTags: the names are one, in the case of their place, and those that MarshalJSON writes.
func TestConfigTags(t *testing.T) {
	for i := range reflect.TypeFor[retry.Config]().NumField() {
		field := reflect.TypeFor[retry.Config]().Field(i)
		name := strings.ToLower(field.Tag.Get("env"))
		require.NotEmpty(t, name)
		require.Equal(t, strings.ToUpper(name), field.Tag.Get("env"))
		require.Equal(t, strings.ReplaceAll(name, "_", ""), strings.ToLower(field.Name))
		require.Equal(t, name+",omitzero", field.Tag.Get("json"))
		require.Equal(t, name+",omitempty", field.Tag.Get("yaml"))

		var c retry.Config
		if f := reflect.ValueOf(&c).Elem().Field(i); f.CanInt() {
			f.SetInt(1)
		} else {
			f.SetString("constant")
		}
		text, err := json.Marshal(c)
		require.NoError(t, err)
		var written map[string]any
		require.NoError(t, json.Unmarshal(text, &written))
		require.Len(t, written, 1)
		require.Contains(t, written, name)
	}
}

func TestConfigJSONReads(t *testing.T) {
	const s = time.Second
	full := retry.Config{MaxAttempts: 7, BaseDelay: 7 * s, MaxDelay: 7 * s, MaxElapsed: 7 * s, AttemptTimeout: 7 * s, Strategy: "constant"}
	for _, tc := range []struct {
		text string
		had  retry.Config
		want retry.Config
	}{
		{`{}`, full, full},
		{`null`, full, full},
		{`{"max_attempts": null, "base_delay": null, "max_delay": null, "max_elapsed": null, "attempt_timeout": null, "strategy": null}`, full, full},
		{`{"max_attempts": "", "base_delay": "", "max_delay": " ", "max_elapsed": "0", "attempt_timeout": "0s", "strategy": ""}`, full, retry.Config{}},
		{`{"max_attempts": 2, "max_delay": "1m"}`, full, retry.Config{2, 7 * s, time.Minute, 7 * s, 7 * s, "constant"}},
		{`{"max_attempts": "3"}`, retry.Config{}, retry.Config{MaxAttempts: 3}},
		{`{"max_attempts": " 3 "}`, retry.Config{}, retry.Config{MaxAttempts: 3}},
		{`{"max_attempts": "Unlimited"}`, retry.Config{}, retry.Config{MaxAttempts: retry.Unlimited}},
		{`{"base_delay": " 1.5s "}`, retry.Config{}, retry.Config{BaseDelay: 1500 * time.Millisecond}},
		{`{"base_delay": "1h1m1s1ms1us1ns"}`, retry.Config{}, retry.Config{BaseDelay: time.Hour + time.Minute + s + 1001001}},
		{`{"max_delay": "-1s"}`, retry.Config{}, retry.Config{MaxDelay: -s}},                                             // Validate's to say
		{`{"strategy": "no such", "base_delay": "1s"}`, retry.Config{}, retry.Config{Strategy: "no such", BaseDelay: s}}, // so is this
		{`{"MAX_ATTEMPTS": 2, "Max_Delay": "1s"}`, retry.Config{}, retry.Config{MaxAttempts: 2, MaxDelay: s}},
		{`{"max_attempt": 2, "other": {"a": [1]}}`, retry.Config{}, retry.Config{}},
		{`{"max_attempts": 2, "max_attempts": 3}`, retry.Config{}, retry.Config{MaxAttempts: 3}},
	} {
		got := tc.had
		require.NoError(t, json.Unmarshal([]byte(tc.text), &got), tc.text)
		require.Equal(t, tc.want, got, tc.text)
	}
	decoder := json.NewDecoder(strings.NewReader(`{"max_attempt": 2}`))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(new(retry.Config)), "nobody tells UnmarshalJSON")
}

func TestConfigJSONErrors(t *testing.T) {
	for text, want := range map[string][]cfgProblem{
		`{"max_attempts": 0}`:                    {{"Config.MaxAttempts", json.Number("0"), cfgBadAttempts}},
		`{"max_attempts": -1}`:                   {{"Config.MaxAttempts", json.Number("-1"), cfgBadAttempts}},
		`{"max_attempts": 3.0}`:                  {{"Config.MaxAttempts", json.Number("3.0"), cfgBadAttempts}},
		`{"max_attempts": 1e2}`:                  {{"Config.MaxAttempts", json.Number("1e2"), cfgBadAttempts}},
		`{"max_attempts": 99999999999999999999}`: {{"Config.MaxAttempts", json.Number("99999999999999999999"), cfgBadAttempts}},
		`{"max_attempts": "abc"}`:                {{"Config.MaxAttempts", "abc", cfgBadAttempts}},
		`{"max_attempts": true}`:                 {{"Config.MaxAttempts", "true", cfgBadAttempts}},
		`{"max_attempts": [3]}`:                  {{"Config.MaxAttempts", "[3]", cfgBadAttempts}},
		`{"base_delay": 1}`:                      {{"Config.BaseDelay", json.Number("1"), cfgNoUnit + " (BASE_DELAY)"}},
		`{"base_delay": 0}`:                      {{"Config.BaseDelay", json.Number("0"), cfgNoUnit + " (BASE_DELAY)"}},
		`{"max_delay": "1"}`:                     {{"Config.MaxDelay", "1", cfgNoDuration + " (MAX_DELAY)"}},
		`{"max_delay": "abc"}`:                   {{"Config.MaxDelay", "abc", cfgNoDuration + " (MAX_DELAY)"}},
		`{"max_elapsed": "9999999h"}`:            {{"Config.MaxElapsed", "9999999h", cfgNoDuration + " (MAX_ELAPSED)"}},
		`{"attempt_timeout": {"s": 1}}`:          {{"Config.AttemptTimeout", `{"s": 1}`, cfgNoUnit + " (ATTEMPT_TIMEOUT)"}},
		`{"strategy": 5}`:                        {{"Config.Strategy", json.Number("5"), `must be text, such as "fulljitter(base=200ms)" (STRATEGY)`}},
		`"3"`:                                    {{"Config", `"3"`, "must be a JSON object"}},
		`[]`:                                     {{"Config", `[]`, "must be a JSON object"}},
		`5`:                                      {{"Config", `5`, "must be a JSON object"}},
		`{"max_attempts": "x", "base_delay": 1, "max_delay": "2", "max_elapsed": false, "attempt_timeout": "3 s", "strategy": []}`: {
			{"Config.MaxAttempts", "x", cfgBadAttempts},
			{"Config.BaseDelay", json.Number("1"), cfgNoUnit + " (BASE_DELAY)"},
			{"Config.MaxDelay", "2", cfgNoDuration + " (MAX_DELAY)"},
			{"Config.MaxElapsed", "false", cfgNoUnit + " (MAX_ELAPSED)"},
			{"Config.AttemptTimeout", "3 s", cfgNoDuration + " (ATTEMPT_TIMEOUT)"},
			{"Config.Strategy", "[]", `must be text, such as "fulljitter(base=200ms)" (STRATEGY)`},
		},
	} {
		had := retry.Config{MaxAttempts: 7, MaxDelay: time.Second}
		got := had
		cfgRequire(t, json.Unmarshal([]byte(text), &got), want...)
		require.Equal(t, had, got, "it is left as it was")

		settings := struct{ Retry retry.Config }{had}
		var e *retry.ConfigError
		require.ErrorAs(t, json.Unmarshal([]byte(`{"retry": `+text+`}`), &settings), &e)
		require.Equal(t, want[0].field, e.Option)
	}
}

func TestConfigJSONErrorTexts(t *testing.T) {
	for text, want := range map[string]string{
		`{"max_attempts": 0}`:     `retry: Config.MaxAttempts(0): must be a whole number of at least 1, or "unlimited" (MAX_ATTEMPTS)`,
		`{"max_attempts": "abc"}`: `retry: Config.MaxAttempts("abc"): must be a whole number of at least 1, or "unlimited" (MAX_ATTEMPTS)`,
		`{"base_delay": 5}`:       `retry: Config.BaseDelay(5): must be text with a unit, such as "150ms" or "2m30s" (BASE_DELAY)`,
		`{"base_delay": "5"}`:     `retry: Config.BaseDelay("5"): must be a duration with a unit, such as 150ms or 2m30s (BASE_DELAY)`,
	} {
		require.EqualError(t, json.Unmarshal([]byte(text), new(retry.Config)), want)
	}
	// The decoder's own error is kept.
	var syntax *json.SyntaxError
	err := new(retry.Config).UnmarshalJSON([]byte(`{"max_attempts": 3,}`)) // as packages for the environment call it
	require.ErrorAs(t, err, &syntax)
	require.ErrorContains(t, err, "must be a JSON object: invalid character '}'")
	var kind *json.UnmarshalTypeError
	require.ErrorAs(t, json.Unmarshal([]byte(`[]`), new(retry.Config)), &kind)
}

// cfgAttempts are texts and what they are read as. Those without a value are errors.
var cfgAttempts = map[string]retry.Attempts{
	"3": 3, " 3 ": 3, "\t1\n": 1, "+2": 2, "007": 7,
	"unlimited": retry.Unlimited, "UNLIMITED": retry.Unlimited, " Unlimited": retry.Unlimited,
	strconv.Itoa(math.MaxInt): retry.Unlimited, strconv.Itoa(math.MaxInt - 1): math.MaxInt - 1,
	"": 0, "  ": 0,
	"0": -1, "-1": -1, "-0": -1, "abc": -1, "3x": -1, "3 4": -1, "1.5": -1, "3.0": -1, "1e3": -1, "0x3": -1, "1_000": -1, "٣": -1,
	"99999999999999999999": -1, "unlimited!": -1, "infinity": -1, `"3"`: -1, "null": -1, "\xff": -1,
}

func TestAttemptsText(t *testing.T) {
	for text, want := range cfgAttempts {
		got := retry.Attempts(9)
		err := got.UnmarshalText([]byte(text))
		if want < 0 {
			cfgRequire(t, err, cfgProblem{"Config.MaxAttempts", text, cfgBadAttempts})
			require.Equal(t, retry.Attempts(9), got, "it is left as it was")
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for a, want := range map[retry.Attempts]string{0: "", 1: "1", 12: "12", retry.Unlimited: "unlimited", -1: "-1"} {
		text, err := a.MarshalText()
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		require.NotNil(t, text)
	}
	require.Equal(t, "0 3 unlimited -1", fmt.Sprint(retry.Attempts(0), " ", retry.Attempts(3), " ", retry.Attempts(retry.Unlimited), " ", retry.Attempts(-1)))
}

func TestAttemptsJSONAndYAML(t *testing.T) {
	for a, want := range map[retry.Attempts]string{0: `""`, 1: `1`, 12: `12`, retry.Unlimited: `"unlimited"`} {
		text, err := json.Marshal(a)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		back := retry.Attempts(9)
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, a, back)

		value, err := a.MarshalYAML()
		require.NoError(t, err)
		require.Equal(t, want, fmt.Sprintf("%#v", value))
	}
	limit := retry.Attempts(9)
	require.NoError(t, json.Unmarshal([]byte("null"), &limit))
	require.Equal(t, retry.Attempts(9), limit)

	// What stands in a JSON string is read as text; and what is no JSON at all, like text: go-envconfig tries both.
	for text, want := range cfgAttempts {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		for _, data := range []string{string(quoted), text} {
			var got retry.Attempts
			switch err := got.UnmarshalJSON([]byte(data)); {
			case data == "null" || data == `"3"`: // JSON's own
				require.NoError(t, err)
			case want < 0:
				require.ErrorIs(t, err, retry.ErrConfig, data)
			default:
				require.NoError(t, err, data)
				require.Equal(t, want, got, data)
			}
		}
	}
}

// TestAttemptsAsFlag: flag.TextVar makes a flag of it.
func TestAttemptsAsFlag(t *testing.T) {
	parse := func(args string) (a retry.Attempts, err error) {
		flags := flag.NewFlagSet("service", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		flags.TextVar(&a, "attempts", retry.Attempts(4), "attempts, or unlimited")
		err = flags.Parse(strings.Fields(args))
		return a, err
	}
	for args, want := range map[string]retry.Attempts{"": 4, "-attempts=2": 2, "-attempts=unlimited": retry.Unlimited} {
		got, err := parse(args)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := parse("-attempts=0")
	require.ErrorContains(t, err, `Config.MaxAttempts("0"): must be a whole number of at least 1, or "unlimited"`)
}

// TestConfigDecodedAsNumber: a decoder that knows nothing of text sets the number, and -1 is no other word for unlimited.
func TestConfigDecodedAsNumber(t *testing.T) {
	var c retry.Config
	reflect.ValueOf(&c).Elem().FieldByName("MaxAttempts").SetInt(-1)
	cfgRequire(t, c.Validate(), cfgProblem{"Config.MaxAttempts", retry.Attempts(-1), cfgBadAttempts})
}
