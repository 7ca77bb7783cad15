package scenario

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-89b3229b/retry/retrysim"
)

// into is a reader of a scalar, by a function that parses its text.
func into[T any](to *T, parse func(string) (T, error)) reader {
	return func(n *yaml.Node, path string) error {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			return atf(n, path, "must be a single value")
		}
		v, err := parse(n.Value)
		if err != nil {
			return at(n, path, err)
		}
		*to = v
		return nil
	}
}

func text(s string) (string, error) { return s, nil }

func whole(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("must be a whole number, not %q", s)
	}
	return v, nil
}

func yes(s string) (bool, error) {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return false, fmt.Errorf("must be true or false, not %q", s)
	}
	return v, nil
}

func duration(s string) (time.Duration, error) {
	v, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("must be a duration with a unit, such as 500ms, not %q", s)
	}
	return v, nil
}

func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(s, "_xX") {
		return 0, fmt.Errorf("must be a number, not %q", s)
	}
	return v, nil
}

// Share reads a share of a whole: "50%" or 0.5.
func Share(s string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := number(digits)
	if err != nil {
		return 0, fmt.Errorf("must be a share, such as 50%% or 0.5, not %q", s)
	}
	if percent {
		v /= 100
	}
	return v, nil
}

// left reads the share of the workers that a fault leaves. None at all is not the zero value, which means that it leaves all.
func left(s string) (float64, error) {
	v, err := Share(s)
	if err == nil && v < 0 {
		err = errors.New("must not be negative")
	}
	if v == 0 {
		v = -1
	}
	return v, err
}

// times reads a factor: "3x" or 3.
func times(s string) (float64, error) {
	v, err := number(strings.TrimSuffix(s, "x"))
	if err != nil {
		return 0, fmt.Errorf("must be a factor, such as 3x, not %q", s)
	}
	return v, nil
}

// perSecond reads a rate: "600/s", "10/m" or "1/h".
func perSecond(s string) (float64, error) {
	digits, unit, _ := strings.Cut(s, "/")
	units := map[string]float64{"s": 1, "m": 60, "h": 3600}
	v, err := number(digits)
	if per := units[strings.TrimSpace(unit)]; err == nil && per > 0 {
		return v / per, nil
	}
	return 0, fmt.Errorf("must be a rate, such as 600/s, 10/m or 1/h, not %q", s)
}

func dist(s string) (retrysim.Dist, error) { return retrysim.ParseDist(s) }

// Loads reads the loads of a map: a list of shares such as "10%,20%,50%", or "10%..95%/5%", from, to and step.
func Loads(s string) (all []float64, err error) {
	from, rest, ranged := strings.Cut(s, "..")
	if !ranged {
		for part := range strings.SplitSeq(s, ",") {
			v, err := Share(part)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	}
	to, step, _ := strings.Cut(rest, "/")
	var v [3]float64
	for i, part := range []string{from, to, step} {
		if v[i], err = Share(part); err != nil {
			return nil, fmt.Errorf("must be a list of shares, or a range such as 10%%..95%%/5%%, not %q", s)
		}
	}
	n := math.Floor((v[1]-v[0])/v[2] + 1e-9)
	if !(v[2] > 0) || !(n >= 0 && n < 1000) {
		return nil, fmt.Errorf("must be a range that ascends in at most 1000 steps, not %q", s)
	}
	for i := range int(n) + 1 {
		all = append(all, math.Round(1e9*(v[0]+float64(i)*v[2]))/1e9)
	}
	return all, nil
}

// Durations reads a list such as "1s,2s,5s".
func Durations(s string) (all []time.Duration, err error) {
	for part := range strings.SplitSeq(s, ",") {
		d, err := duration(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// listed is a reader of a list, or of its text.
func listed[T any](to *[]T, parse func(string) ([]T, error)) reader {
	return func(n *yaml.Node, path string) error {
		if n.Kind != yaml.SequenceNode {
			return into(to, parse)(n, path)
		}
		return readList(n, path, func(n *yaml.Node, path string) error {
			var one []T
			if err := into(&one, parse)(n, path); err != nil {
				return err
			}
			*to = append(*to, one...)
			return nil
		})
	}
}
