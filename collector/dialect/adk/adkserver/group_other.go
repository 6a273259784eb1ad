//go:build unix && !linux

package adkserver

import "syscall"

// ownGroup lets the server and its children be killed together.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
