package retrysim

import (
	"fmt"
	"strconv"
	"strings"
)

// Describe says in two lines what is simulated: who calls whom, and what goes wrong.
func (s Scenario) Describe() string {
	var b strings.Builder
	if s.Name != "" {
		b.WriteString(s.Name + ": ")
	}
	b.WriteString(plural(s.clients(), "client"))
	switch l := s.Load.(type) {
	case Open:
		b.WriteString(", " + l.Rate.describe())
	case Closed:
		if l.Rate > 0 {
			fmt.Fprintf(&b, ", one call at a time, up to %s/s each", number(l.Rate))
		} else {
			fmt.Fprintf(&b, ", one call at a time, %s after the one before", l.Think.describe())
		}
	case Burst:
		fmt.Fprintf(&b, ", all at once at %v", l.At)
	}
	fmt.Fprintf(&b, "; %v; network %s", s.Length, s.Network.describe())
	if s.Timeout > 0 {
		fmt.Fprintf(&b, "; an attempt without an answer after %v has failed", s.Timeout)
	}
	if s.Deadline > 0 {
		fmt.Fprintf(&b, "; a call has %v", s.Deadline)
	}
	b.WriteString("\nserver: " + describeServer(s.Server))
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "; from %v to %v: %s", f.From, f.To, f.Describe())
	}
	b.WriteString("\n")
	return b.String()
}

func (r Rate) describe() string {
	if len(r.Points) == 1 {
		return number(r.Points[0].PerSecond) + " calls/s"
	}
	var parts []string
	for _, p := range r.Points {
		parts = append(parts, fmt.Sprintf("%s/s at %v", number(p.PerSecond), p.At))
	}
	word := "then "
	if r.Linear {
		word = "gradually to "
	}
	return strings.Join(parts, ", "+word)
}

func (d Dist) describe() string {
	if d.kind == distFixed {
		return d.a.String()
	}
	return d.String()
}

func describeServer(s Server) string {
	switch s := s.(type) {
	case Queue:
		text := fmt.Sprintf("%s, each busy %s with a request (%s/s in all)", plural(s.Workers, "worker"), s.Service.describe(), number(s.Capacity()))
		if s.Limit > 0 {
			text += fmt.Sprintf(", a line of %d", s.Limit)
		}
		if s.LIFO {
			text += ", the last come is the first served"
		}
		if s.DropExpired {
			text += ", requests that nobody waits for are dropped"
		}
		return text
	case Slope:
		return fmt.Sprintf("%v, and %v more for each request in it", s.Base, s.PerInFlight)
	case Row:
		return "a row with a version: read, then write unless somebody else has written"
	case Chance:
		return fmt.Sprintf("fails %s of all requests", percent(s.P))
	case Quota:
		told := "without Retry-After"
		switch s.RetryAfter {
		case TellSeconds:
			told = "with Retry-After"
		case TellWrong:
			told = "with a Retry-After that is too short"
		}
		return fmt.Sprintf("lets %s/s through and rejects the rest %s; behind it: %s", number(s.Rate), told, describeServer(s.Server))
	case Layers:
		return fmt.Sprintf("%s before it that retry too; %s", plural(s.Between, "service"), describeServer(s.Server))
	}
	return "none"
}

// Describe says what the fault does, such as "50% of the capacity is left".
func (f Fault) Describe() string {
	var parts []string
	if f.Fail > 0 {
		when := ""
		if f.Fast {
			when = " at once"
		}
		what := percent(f.Fail) + " of the requests fail"
		if f.Fail == 1 {
			what = "every request fails"
		}
		parts = append(parts, what+when)
	}
	if f.Capacity != 0 {
		parts = append(parts, percent(max(f.Capacity, 0))+" of the capacity is left")
	}
	if f.Latency > 0 {
		parts = append(parts, "the work takes "+number(f.Latency)+" times as long")
	}
	if f.Blackhole {
		parts = append(parts, "requests and answers vanish")
	}
	return strings.Join(parts, ", ")
}

func percent(share float64) string { return number(100*share) + "%" }

// number writes at most four digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
