package condition

import "slices"

// Any returns a Condition that asks the given ones in order and answers as the first that is decided, whichever way:
// the order is the order of precedence, and the ones behind the first decided are not asked. It is Unknown where all are,
// and so where none are given. A policy reads its own list of conditions the same way.
//
// It takes a copy of the list, and is safe for concurrent use. A nil condition is Unknown, and a ConfigError.
func Any(conditions ...Condition) Condition {
	return &anyOf{"Any", children(conditions)}
}

// Only returns a Condition that answers as Any does, and Stop where Any is Unknown: what is not named is not worth
// another attempt. Without conditions it stops everything. Nothing behind it in a list
// would ever be asked, so a policy refuses such a list: what is to be asked first must stand first.
//
// Among what is not named are timeouts of single attempts; Network and HTTPStatus do not cover those, Timeout does.
//
// It takes a copy of the list, and is safe for concurrent use. A nil condition is Unknown, and a ConfigError.
func Only(conditions ...Condition) Condition {
	return &only{anyOf{"Only", children(conditions)}}
}

// All returns a Condition that says Retry if all the given ones do. In full, whatever their order:
//
//   - Stop, if any says Stop;
//   - otherwise Unknown, if any says Unknown, and also if none are given: silence is no consent;
//   - otherwise Throttled, if any says Throttled;
//   - otherwise Retry.
//
// It takes a copy of the list, and is safe for concurrent use. A nil condition is Unknown, and a ConfigError.
func All(conditions ...Condition) Condition {
	return &allOf{children(conditions)}
}

// Not returns a Condition that turns an answer round: Stop becomes Retry, Retry and Throttled become Stop, Unknown
// stays Unknown.
//
// It is safe for concurrent use. A nil condition is Unknown, and a ConfigError.
func Not(c Condition) Condition {
	return &not{orMissing(c)}
}

// ask returns c's answer, and Unknown for one that is not among the constants.
func ask(c Condition, err error) Verdict {
	if v := c.Check(err); v <= Throttled {
		return v
	}
	return Unknown
}

func children(conditions []Condition) []Condition {
	list := slices.Clone(conditions)
	for i, c := range list {
		list[i] = orMissing(c)
	}
	return list
}

func validateAll(name string, list []Condition) error {
	for i, c := range list {
		if err := validate(at(name, i), c); err != nil {
			return err
		}
	}
	return nil
}

// The types are used by pointer: conditions held as interfaces can then be compared without a panic.

type anyOf struct {
	name string
	list []Condition
}

func (a *anyOf) Check(err error) Verdict {
	if err == nil {
		return Unknown
	}
	for _, c := range a.list {
		if v := ask(c, err); v != Unknown {
			return v
		}
	}
	return Unknown
}

func (a *anyOf) Validate() error { return validateAll(a.name, a.list) }

type only struct{ anyOf }

func (o *only) Check(err error) Verdict {
	v := o.anyOf.Check(err)
	if v == Unknown && err != nil {
		return Stop
	}
	return v
}

// Decides says that nothing behind o in a list is ever asked.
func (o *only) Decides() bool { return true }

// Decides says whether one of the list does.
func (a *anyOf) Decides() bool { return slices.ContainsFunc(a.list, decides) }

func decides(c Condition) bool {
	d, ok := c.(interface{ Decides() bool })
	return ok && d.Decides()
}

type allOf struct{ list []Condition }

func (a *allOf) Check(err error) Verdict {
	if err == nil || len(a.list) == 0 {
		return Unknown
	}
	answer := Retry
	for _, c := range a.list {
		switch ask(c, err) {
		case Stop:
			return Stop
		case Unknown:
			answer = Unknown
		case Throttled:
			if answer == Retry {
				answer = Throttled
			}
		}
	}
	return answer
}

func (a *allOf) Validate() error { return validateAll("All", a.list) }

type not struct{ c Condition }

func (n *not) Check(err error) Verdict {
	if err == nil {
		return Unknown
	}
	switch ask(n.c, err) {
	case Stop:
		return Retry
	case Retry, Throttled:
		return Stop
	}
	return Unknown
}

func (n *not) Validate() error { return validate("Not", n.c) }
