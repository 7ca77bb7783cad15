package condition

import "slices"

// MongoLabel returns a Condition for errors of MongoDB that carry one of the given labels. It says Throttled where the
// error also has the label SystemOverloadedError, Retry for any other, and is Unknown for an error without one of them.
//
//	TransientTransactionError       the whole transaction can be repeated
//	UnknownTransactionCommitResult  the commit can be repeated, and nothing else
//	RetryableWriteError             the write can be repeated
//	RetryableReadError              the read can be repeated
//	RetryableError                  with SystemOverloadedError: the server turned the operation away
//
// What the first two allow to repeat differs, so an operation lists the one that fits it. The driver repeats reads and
// writes once by itself, and transactions in Session.WithTransaction.
//
// Every error in the tree is asked, through its method HasErrorLabel(string) bool.
//
// It takes a copy of the list, allocates nothing, and is safe for concurrent use. No labels and an empty one match nothing,
// and are a ConfigError. Source: MongoDB's driver specifications (transactions, retryable reads and writes, backpressure).
func MongoLabel(labels ...string) Condition {
	return &mongoLabel{slices.Clone(labels)}
}

type mongoLabel struct{ labels []string }

func (c *mongoLabel) Check(err error) (answer Verdict) {
	find(err, func(err error) bool {
		e, ok := err.(interface{ HasErrorLabel(string) bool })
		if !ok || !slices.ContainsFunc(c.labels, func(label string) bool { return label != "" && e.HasErrorLabel(label) }) {
			return false
		}
		answer = Retry
		if e.HasErrorLabel("SystemOverloadedError") {
			answer = Throttled
		}
		return true
	})
	return answer
}

func (c *mongoLabel) Validate() error {
	if len(c.labels) == 0 {
		return &ConfigError{Field: "MongoLabel", Problem: "needs at least one label"}
	}
	for i, label := range c.labels {
		if label == "" {
			return &ConfigError{Field: at("MongoLabel", i), Value: label, Problem: "must not be empty"}
		}
	}
	return nil
}
