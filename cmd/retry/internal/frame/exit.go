package frame

import "fmt"

// Exit is an exit status as an error, for a command that has said what there was to say.
type Exit int

// Failed is the exit status of retry's own failures: errors of usage, files that cannot be read.
const Failed = 125

// Error returns the number.
func (e Exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// UsageError is an error of usage whose text is complete.
type UsageError struct{ text string }

// Usage returns a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Error returns the text.
func (e *UsageError) Error() string { return e.text }
