//go:build unix

package stream

import (
	"errors"
	"syscall"
)

// newTryWrite returns a function that writes what a socket takes at once, and returns the number of bytes. On an
// error it returns 0, and the next blocking write returns the error. The function must not be called concurrently.
func newTryWrite(c syscall.Conn) func([]byte) int {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	var data []byte
	var n int
	attempt := func(fd uintptr) bool { // made once, so that a write allocates nothing
		for {
			var err error
			if n, err = syscall.Write(int(fd), data); !errors.Is(err, syscall.EINTR) {
				return true // do not wait until the socket takes more
			}
		}
	}
	return func(p []byte) int {
		data, n = p, 0
		_ = raw.Write(attempt) // its error says that the socket is closed
		data = nil
		return max(n, 0)
	}
}
