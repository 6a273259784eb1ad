//go:build !linux

package source

import "net"

// limitUnsent does nothing: the option differs between systems.
func limitUnsent(*net.TCPConn) {}
