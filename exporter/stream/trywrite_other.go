//go:build !unix

package stream

import "syscall"

// newTryWrite returns nil, so that each subscriber keeps its own goroutine.
func newTryWrite(syscall.Conn) func([]byte) int { return nil }
