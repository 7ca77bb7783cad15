package condition

import "syscall"

// Windows reports its own numbers; package syscall's POSIX names are inventions that no system call returns, but that
// portable code may.
var errnos = []error{
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
	syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET,

	// Windows Sockets Error Codes, learn.microsoft.com/windows/win32/winsock.
	syscall.Errno(10050), // WSAENETDOWN
	syscall.Errno(10051), // WSAENETUNREACH
	syscall.Errno(10052), // WSAENETRESET
	syscall.WSAECONNABORTED,
	syscall.WSAECONNRESET,
	syscall.Errno(10060), // WSAETIMEDOUT
	syscall.Errno(10061), // WSAECONNREFUSED
	syscall.Errno(10064), // WSAEHOSTDOWN
	syscall.Errno(10065), // WSAEHOSTUNREACH

	// System Error Codes, learn.microsoft.com/windows/win32/debug: what overlapped socket calls and named pipes end with.
	syscall.ERROR_NETNAME_DELETED,
	syscall.ERROR_BROKEN_PIPE,
	syscall.Errno(121),  // ERROR_SEM_TIMEOUT
	syscall.Errno(232),  // ERROR_NO_DATA: the pipe is being closed
	syscall.Errno(1225), // ERROR_CONNECTION_REFUSED
	syscall.Errno(1231), // ERROR_NETWORK_UNREACHABLE
	syscall.Errno(1232), // ERROR_HOST_UNREACHABLE
	syscall.Errno(1236), // ERROR_CONNECTION_ABORTED
}

var refusals = []error{
	syscall.ECONNREFUSED,
	syscall.Errno(10061), // WSAECONNREFUSED
	syscall.Errno(1225),  // ERROR_CONNECTION_REFUSED
}
