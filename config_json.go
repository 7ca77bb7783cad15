package retry

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// configJSON is a Config as JSON has it, with the names of its tags and each value as text.
type configJSON struct {
	MaxAttempts    json.RawMessage `json:"max_attempts,omitempty"`
	BaseDelay      json.RawMessage `json:"base_delay,omitempty"`
	MaxDelay       json.RawMessage `json:"max_delay,omitempty"`
	MaxElapsed     json.RawMessage `json:"max_elapsed,omitempty"`
	AttemptTimeout json.RawMessage `json:"attempt_timeout,omitempty"`
	Strategy       json.RawMessage `json:"strategy,omitempty"`
}

// durations returns the fields in the order of Config.durations.
func (j *configJSON) durations() [4]*json.RawMessage {
	return [...]*json.RawMessage{&j.BaseDelay, &j.MaxDelay, &j.MaxElapsed, &j.AttemptTimeout}
}

// MarshalJSON writes an object of the set fields: MaxAttempts as a number or "unlimited", durations as text such as "1.5s".
func (c Config) MarshalJSON() ([]byte, error) {
	var j configJSON
	if c.MaxAttempts != 0 {
		j.MaxAttempts, _ = c.MaxAttempts.MarshalJSON()
	}
	for i, f := range c.durations() {
		if *f.at != 0 {
			*j.durations()[i], _ = json.Marshal(f.at.String())
		}
	}
	if c.Strategy != "" {
		j.Strategy, _ = json.Marshal(c.Strategy)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads an object, and sets the fields that are in it. Names and their case are matched as encoding/json does;
// null and unknown names are ignored, even by a decoder that disallows unknown names, which has no way to tell. Durations are
// text with a unit: a bare number does not say what it counts. Whatever cannot be read is reported together, as Validate
// does, and then c is left as it was. Use is not checked here: Validate and New do that.
func (c *Config) UnmarshalJSON(data []byte) error {
	var j configJSON
	if err := json.Unmarshal(data, &j); err != nil {
		problem := "must be a JSON object"
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			problem += ": " + err.Error()
		}
		return &ConfigError{Option: "Config", Value: string(data), Problem: problem, err: err}
	}
	read, problems := *c, problems(nil)
	if j.MaxAttempts != nil {
		problems.add(read.MaxAttempts.UnmarshalJSON(j.MaxAttempts))
	}
	for i, f := range read.durations() {
		problems.add(f.read(*j.durations()[i]))
	}
	if j.Strategy != nil {
		if err := json.Unmarshal(j.Strategy, &read.Strategy); err != nil {
			problems.add(badSetting("Strategy", "STRATEGY", jsonValue(j.Strategy), `must be text, such as "fulljitter(base=200ms)"`, err))
		}
	}
	if err := problems.err(); err != nil {
		return err
	}
	*c = read
	return nil
}

func (f configDuration) read(raw json.RawMessage) error {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return badSetting(f.name, f.env, jsonValue(raw), `must be text with a unit, such as "150ms" or "2m30s"`, err)
	}
	var d time.Duration
	if trimmed := strings.TrimSpace(text); trimmed != "" {
		var err error
		if d, err = time.ParseDuration(trimmed); err != nil {
			return badSetting(f.name, f.env, text, "must be a duration with a unit, such as 150ms or 2m30s", err)
		}
	}
	*f.at = d
	return nil
}

// jsonValue is a JSON value for an error: numbers as they stand, so that they do not look like text.
func jsonValue(raw []byte) any {
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return json.Number(raw)
	}
	return string(raw)
}
