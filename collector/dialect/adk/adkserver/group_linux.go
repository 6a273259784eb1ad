package adkserver

import "syscall"

// ownGroup lets the server and its children be killed together, and with a test binary that ends without its cleanups.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
