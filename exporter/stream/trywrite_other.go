//go:build !unix

package stream

import "syscall"

// newTryWrite returns nil: each subscriber has its own goroutine.
func newTryWrite(syscall.Conn) func([]byte) int { return nil }
