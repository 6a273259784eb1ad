package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine describes the machine on which everything was measured.
func (b *bench) machine() (string, error) {
	var t table
	t.row("measured on", "")
	t.row("date", time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	t.row("revision", b.revision())
	t.row("processor", fmt.Sprintf("%s, %d cores, %s", processor(), runtime.NumCPU(), runtime.GOARCH))
	t.row("system", system())
	t.row("Go", runtime.Version())
	for _, p := range peerVersions() {
		t.row(p.name, p.version)
	}
	t.row("load average at the start", loadAverage())
	return t.String(), nil
}

func (b *bench) revision() string {
	git := exec.CommandContext(b.context, "git", "-C", b.root, "describe", "--always", "--dirty", "--exclude", "*")
	out, err := git.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func processor() string {
	content, _ := os.ReadFile("/proc/cpuinfo")
	if _, rest, found := strings.Cut(string(content), "model name"); found {
		line, _, _ := strings.Cut(rest, "\n")
		return strings.TrimLeft(line, "\t :")
	}
	return "unknown processor"
}

func system() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:])
}

// loadAverage returns the load average of the machine.
func loadAverage() string {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(content), " ")
	return one
}
