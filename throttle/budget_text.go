package throttle

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/quote"
)

// budgetField is a field of a budget: its Go name and a pointer to it. String and ParseBudget go by the same list.
type budgetField struct {
	name string
	at   any // *int, *float64 or *time.Duration
}

// textBudget is a budget that has a text.
type textBudget interface {
	Budget
	Validate() error
	text() (name string, fields []budgetField)
}

// textBudgets are those that ParseBudget knows, in the order in which it lists them.
func textBudgets() []textBudget {
	return []textBudget{new(TokenBudget), new(RatioBudget), new(FailureBudget), new(InFlightBudget)}
}

func (b *TokenBudget) text() (string, []budgetField) {
	return "token", []budgetField{
		{"Capacity", &b.Capacity}, {"RetryCost", &b.RetryCost}, {"TimeoutCost", &b.TimeoutCost},
		{"ThrottledCost", &b.ThrottledCost}, {"Reward", &b.Reward},
	}
}

func (b *RatioBudget) text() (string, []budgetField) {
	return "ratio", []budgetField{{"Ratio", &b.Ratio}, {"MinPerSecond", &b.MinPerSecond}, {"TTL", &b.TTL}}
}

func (b *FailureBudget) text() (string, []budgetField) {
	return "failure", []budgetField{{"MaxTokens", &b.MaxTokens}, {"TokenRatio", &b.TokenRatio}}
}

func (b *InFlightBudget) text() (string, []budgetField) {
	return "inflight", []budgetField{{"Ratio", &b.Ratio}, {"MinRetries", &b.MinRetries}}
}

// String returns the text that ParseBudget reads, such as "token(capacity=100)"; "none" for nil.
func (b *TokenBudget) String() string { return budgetText(b, b == nil) }

// String returns the text that ParseBudget reads, such as "ratio(ratio=0.1, minpersecond=0.5)"; "none" for nil.
func (b *RatioBudget) String() string { return budgetText(b, b == nil) }

// String returns the text that ParseBudget reads, such as "failure(maxtokens=100)"; "none" for nil.
func (b *FailureBudget) String() string { return budgetText(b, b == nil) }

// String returns the text that ParseBudget reads, such as "inflight(ratio=0.1)"; "none" for nil.
func (b *InFlightBudget) String() string { return budgetText(b, b == nil) }

// budgetText writes a budget. Fields that are not set are left out.
func budgetText(b textBudget, none bool) string {
	if none {
		return "none"
	}
	name, fields := b.text()
	var set []string
	for _, f := range fields {
		var value string
		switch at := f.at.(type) {
		case *int:
			if *at != 0 {
				value = strconv.Itoa(*at)
			}
		case *float64:
			if *at != 0 {
				value = strconv.FormatFloat(*at, 'g', -1, 64)
			}
		case *time.Duration:
			if *at != 0 {
				value = at.String()
			}
		}
		if value != "" {
			set = append(set, strings.ToLower(f.name)+"="+value)
		}
	}
	if len(set) == 0 {
		return name
	}
	return name + "(" + strings.Join(set, ", ") + ")"
}

// ParseBudget reads a budget from text, such as the value of an environment variable. It reads what String writes: the name
// alone, or the name with fields.
//
//	token(capacity=500, retrycost=14, timeoutcost=14, throttledcost=5, reward=1)
//	ratio(ratio=0.2, minpersecond=1, ttl=10s)
//	failure(maxtokens=10, tokenratio=0.1)
//	inflight(ratio=0.2, minretries=3)
//
// Names and fields are those of TokenBudget, RatioBudget, FailureBudget and InFlightBudget, in any case. Every field may be left
// out, and zero means what it means in the type. Durations need a unit. Spaces around names, values and commas do not matter.
// Every ParseBudget makes a new budget: keep it, and share it between the calls that it is for.
//
// The error is a *ConfigError: the text is not of that form, a name or field is unknown (the problem lists the known ones), a field
// is given twice, a value cannot be read, or Validate refuses the result.
func ParseBudget(text string) (Budget, error) {
	name, body, opened := strings.Cut(strings.TrimSpace(text), "(")
	body, closed := strings.CutSuffix(body, ")")
	name = strings.TrimSpace(name)
	var known []string
	for _, b := range textBudgets() {
		kind, fields := b.text()
		if !strings.EqualFold(kind, name) {
			known = append(known, kind)
			continue
		}
		if opened != closed {
			return nil, &ConfigError{"text", text, "must end with a closing parenthesis"}
		}
		if err := readBudget(kind, fields, body); err != nil {
			return nil, err
		}
		if err := b.Validate(); err != nil {
			return nil, err
		}
		return b, nil
	}
	return nil, &ConfigError{"name", quote.Quote(name), "unknown budget; known are " + strings.Join(known, ", ")}
}

// readBudget sets fields from body, a comma-separated list of field=value.
func readBudget(kind string, fields []budgetField, body string) error {
	if strings.TrimSpace(body) == "" {
		return nil
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = strings.ToLower(f.name)
	}
	given := make([]bool, len(fields))
	for part := range strings.SplitSeq(body, ",") {
		name, value, found := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		i := slices.Index(known, strings.ToLower(name))
		switch {
		case !found:
			return &ConfigError{kind, quote.Quote(name), "must be of the form field=value; fields are " + strings.Join(known, ", ")}
		case i < 0:
			return &ConfigError{kind + "." + name, value, "unknown field; known are " + strings.Join(known, ", ")}
		case given[i]:
			return &ConfigError{kind + "." + fields[i].name, value, "must not be given twice"}
		}
		given[i] = true
		if problem := readBudgetField(fields[i].at, value); problem != "" {
			return &ConfigError{kind + "." + fields[i].name, quote.Quote(value), problem}
		}
	}
	return nil
}

// readBudgetField reads a value into what at points to, or returns what it must be.
func readBudgetField(at any, value string) (problem string) {
	var err error
	switch at := at.(type) {
	case *int:
		problem = "must be a whole number, such as 100"
		*at, err = strconv.Atoi(value)
	case *float64:
		problem = "must be a number, such as 0.1"
		if strings.ContainsAny(value, "_xX") { // 1_5 is a slip for 1.5, and would be 15
			return problem
		}
		*at, err = strconv.ParseFloat(value, 64)
	case *time.Duration:
		problem = "must be a duration with a unit, such as 10s"
		*at, err = time.ParseDuration(value)
	}
	if err != nil {
		return problem
	}
	return ""
}
