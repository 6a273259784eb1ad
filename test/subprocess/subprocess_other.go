//go:build unix && !linux

package subprocess

import "syscall"

// Group puts a process into a group of its own.
func Group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
