// Package subprocess starts the programs of tests so that nothing of them outlives the test.
package subprocess

import (
	"context"
	"os/exec"
	"syscall"
)

// Command returns a command in a process group of its own. On Linux it is killed when the test binary ends, even if the test is killed
// before its cleanups run.
func Command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.SysProcAttr = Group()
	return c
}

// CommandContext is Command with a context that kills the program when it is done.
func CommandContext(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = Group()
	return c
}

// Kill kills a started command of this package and the processes that it has started.
func Kill(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
