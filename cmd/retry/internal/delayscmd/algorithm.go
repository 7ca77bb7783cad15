package delayscmd

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/strategy"
)

// attribute is one of Algorithm::Backoff, with its value if it was given.
type attribute struct {
	name  string
	value *float64
}

func (c *Command) attributes() []attribute {
	a := &c.Algorithm
	return []attribute{
		{"delay", a.Delay}, {"initial-delay", a.InitialDelay}, {"initial-delay1", a.InitialDelay1}, {"initial-delay2", a.InitialDelay2},
		{"exponent-base", a.ExponentBase}, {"delay-increment-on-failure", a.DelayIncrementOnFailure},
		{"delay-increment-on-success", a.DelayIncrementOnSuccess}, {"delay-multiple-on-failure", a.DelayMultipleOnFailure},
		{"delay-multiple-on-success", a.DelayMultipleOnSuccess},
	}
}

func (c *Command) noAttributes() error {
	for _, a := range c.attributes() {
		if a.value != nil {
			return frame.Usage("--%s needs --algorithm; a strategy has it in its text", a.name)
		}
	}
	return nil
}

// algorithms are those of Algorithm::Backoff, with the attributes that each must have and may have.
var algorithms = []struct {
	name      string
	must, may []string
}{
	{"Constant", []string{"delay"}, nil},
	{"Exponential", []string{"initial-delay"}, []string{"exponent-base"}},
	{"Fibonacci", []string{"initial-delay1", "initial-delay2"}, nil},
	{"LILD", []string{"initial-delay", "delay-increment-on-failure", "delay-increment-on-success"}, nil},
	{"LIMD", []string{"initial-delay", "delay-increment-on-failure", "delay-multiple-on-success"}, nil},
	{"MILD", []string{"initial-delay", "delay-multiple-on-failure", "delay-increment-on-success"}, nil},
	{"MIMD", []string{"initial-delay", "delay-multiple-on-failure", "delay-multiple-on-success"}, nil},
}

// algorithm is show-backoff-delays: -a NAME, attributes in seconds, events, answers in seconds.
func (c *Command) algorithm(std *frame.IO) error {
	if c.Strategy != "" { // the first event
		c.Event = append([]string{c.Strategy}, c.Event...)
	}
	if len(c.Event) == 0 {
		return frame.Usage("delays --algorithm %s needs events, such as 0 0 1", c.Algorithm.Algorithm)
	}
	i := slices.IndexFunc(algorithms, func(a struct {
		name      string
		must, may []string
	}) bool {
		return strings.EqualFold(a.name, c.Algorithm.Algorithm)
	})
	if i < 0 {
		return frame.Usage("--algorithm %s: must be Constant, Exponential, Fibonacci, LILD, LIMD, MILD or MIMD", c.Algorithm.Algorithm)
	}
	a := algorithms[i]
	for _, given := range c.attributes() {
		needed := slices.Contains(a.must, given.name)
		switch {
		case given.value == nil && needed:
			return frame.Usage("--algorithm %s needs --%s", a.name, given.name)
		case given.value != nil && !needed && !slices.Contains(a.may, given.name):
			return frame.Usage("--%s is not an attribute of %s", given.name, a.name)
		case given.value != nil && !(math.Abs(*given.value) < math.MaxInt64/1e9):
			return frame.Usage("--%s %v: is not a number of seconds", given.name, *given.value)
		case given.value != nil && *given.value < 0 && !strings.Contains(given.name, "increment"):
			return frame.Usage("--%s %v: must not be negative", given.name, *given.value)
		}
	}
	if c.DelayOnSuccess != "" && i > 2 {
		return frame.Usage("--delay-on-success is not an attribute of %s", a.name)
	}
	return c.events(std, c.original(a.name), func(flag, text string) (time.Duration, error) {
		d, ok := fromSeconds(text)
		if !ok || d < 0 {
			return 0, frame.Usage("%s %s: must be a number of seconds, not negative", flag, text)
		}
		return d, nil
	})
}

// original is the strategy of an algorithm's attributes. A zero that is given is a real one, which the types write as a
// nanosecond.
func (c *Command) original(name string) strategy.Strategy {
	span := func(s *float64) time.Duration {
		if d := time.Duration(math.Round(*s * 1e9)); d != 0 {
			return d
		}
		return 1
	}
	multiple := func(x *float64) float64 {
		if *x == 0 {
			return math.SmallestNonzeroFloat64
		}
		return *x
	}
	a := &c.Algorithm
	switch name {
	case "Constant":
		return strategy.Constant{Delay: time.Duration(math.Round(*a.Delay * 1e9))}
	case "Exponential":
		factor := 2.0
		if a.ExponentBase != nil {
			factor = *a.ExponentBase
		}
		if factor < 1 { // which strategy.Exponential refuses
			initial := *a.InitialDelay
			return strategy.Func(func(s strategy.State) (time.Duration, bool) {
				return time.Duration(math.Round(initial * math.Pow(factor, float64(s.Number-1)) * 1e9)), true
			})
		}
		return strategy.Exponential{Base: span(a.InitialDelay), Factor: factor}
	case "Fibonacci":
		return strategy.Fibonacci{First: span(a.InitialDelay1), Second: span(a.InitialDelay2)}
	case "LILD":
		return &strategy.LILD{Initial: span(a.InitialDelay), IncrementOnFailure: span(a.DelayIncrementOnFailure), IncrementOnSuccess: span(a.DelayIncrementOnSuccess)}
	case "LIMD":
		return &strategy.LIMD{Initial: span(a.InitialDelay), IncrementOnFailure: span(a.DelayIncrementOnFailure), MultipleOnSuccess: multiple(a.DelayMultipleOnSuccess)}
	case "MILD":
		return &strategy.MILD{Initial: span(a.InitialDelay), MultipleOnFailure: multiple(a.DelayMultipleOnFailure), IncrementOnSuccess: span(a.DelayIncrementOnSuccess)}
	}
	return &strategy.MIMD{Initial: span(a.InitialDelay), MultipleOnFailure: multiple(a.DelayMultipleOnFailure), MultipleOnSuccess: multiple(a.DelayMultipleOnSuccess)}
}
