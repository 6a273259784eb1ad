package source

import (
	"net"

	"golang.org/x/sys/unix"
)

// limitUnsent limits what the system keeps for a client to maxUnsent, see TCP_NOTSENT_LOWAT in tcp(7).
// c may be nil.
func limitUnsent(c *net.TCPConn) {
	if c == nil {
		return
	}
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent)
		})
	}
}
