package condition

import "syscall"

// WASI knows no EHOSTDOWN.
var errnos = []error{
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
	syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET,
}

var refusals = []error{syscall.ECONNREFUSED}
