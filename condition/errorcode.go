package condition

import (
	"slices"
	"strings"
)

// ErrorCode returns a Condition for errors that carry one of the given codes, as APIs name their errors. A code with * at
// its end is a prefix: "Throttling.*" is every code that begins with "Throttling.", but not "Throttling" itself. It says
// Throttled where the code that was found is about throttling (it begins with "Throttling", or is one of those listed at
// AWS), Retry for any other listed code, and is Unknown for an error without one.
//
// Every error in the tree is asked, through one of the methods
//
//	ErrorCode() string       AWS (smithy-go), and others
//	GetCode() *string        Alibaba Cloud (dara)
//	GetCode() string         Tencent Cloud
//	Code() string            AWS SDK of before, and others
//
// and Alibaba Cloud's *tea.SDKError, which has no method for it, through its field Code. Upper and lower case differ.
//
// It takes a copy of the list, allocates nothing for errors without such a field, and is safe for concurrent use. No codes,
// an empty one, one with a space at an end, and a * that is not at the end or stands alone match nothing, and are a
// ConfigError.
func ErrorCode(codes ...string) Condition {
	c := &errorCode{given: slices.Clone(codes)}
	for _, code := range codes {
		if codeProblem(code) == "" {
			c.patterns = append(c.patterns, code)
		}
	}
	return c
}

type errorCode struct{ given, patterns []string }

func (c *errorCode) Check(err error) (answer Verdict) {
	find(err, func(err error) bool {
		code := ownCode(err)
		if !c.lists(code) {
			return false
		}
		answer = Retry
		if isThrottlingCode(code) {
			answer = Throttled
		}
		return true
	})
	return answer
}

func (c *errorCode) Validate() error {
	if len(c.given) == 0 {
		return &ConfigError{Field: "ErrorCode", Problem: "needs at least one code"}
	}
	for i, code := range c.given {
		if problem := codeProblem(code); problem != "" {
			return &ConfigError{Field: at("ErrorCode", i), Value: code, Problem: problem}
		}
	}
	return nil
}

func codeProblem(code string) string {
	switch star := strings.IndexByte(code, '*'); {
	case code == "":
		return "must not be empty"
	case strings.TrimSpace(code) != code:
		return "must not begin or end with a space"
	case star == 0:
		return "must have something before the *"
	case star > 0 && star < len(code)-1:
		return "must have the * at its end"
	}
	return ""
}

func (c *errorCode) lists(code string) bool {
	for _, pattern := range c.patterns {
		prefix, ok := strings.CutSuffix(pattern, "*")
		if pattern == code || ok && strings.HasPrefix(code, prefix) {
			return true
		}
	}
	return false
}

// isThrottlingCode reports whether an API that says code asks for less.
func isThrottlingCode(code string) bool {
	return strings.HasPrefix(code, "Throttling") || among(awsThrottling, code)
}

// ownCode returns the code that err itself carries, "" if none.
func ownCode(err error) string {
	if e, ok := err.(interface{ ErrorCode() string }); ok {
		if code := e.ErrorCode(); code != "" {
			return code
		}
	}
	if e, ok := err.(interface{ GetCode() *string }); ok {
		if code := e.GetCode(); code != nil && *code != "" {
			return *code
		}
	}
	if e, ok := err.(interface{ GetCode() string }); ok {
		if code := e.GetCode(); code != "" {
			return code
		}
	}
	if e, ok := err.(interface{ Code() string }); ok {
		if code := e.Code(); code != "" {
			return code
		}
	}
	code, _ := teaFields(err)
	return code
}

// among reports whether a sorted table has value.
func among[T string | int](table []T, value T) bool {
	_, ok := slices.BinarySearch(table, value)
	return ok
}
