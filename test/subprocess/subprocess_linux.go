package subprocess

import "syscall"

// Group puts a process into a group of its own and ends it with its parent.
func Group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
