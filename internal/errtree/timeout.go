package errtree

import (
	"io/fs"
	"net"
	"net/url"
	"os"
)

// TimedOut returns err.Timeout(), false where there is no such method. It goes down by itself through the standard
// library's wrappers, which pass the question on and would put it to a nil pointer too.
func TimedOut(err error) bool {
	for !IsNil(err) {
		switch e := err.(type) {
		case *url.Error:
			err = e.Err
		case *net.OpError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		case *fs.PathError:
			err = e.Err
		case interface{ Timeout() bool }:
			return e.Timeout()
		default:
			return false
		}
	}
	return false
}
