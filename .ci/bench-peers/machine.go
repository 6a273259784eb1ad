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
	text := fmt.Sprintf("Measured %s at revision %s: %s, %d cores, %s, %s, %s",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), b.revision(), processor(), runtime.NumCPU(), runtime.GOARCH, system(), runtime.Version())
	for _, p := range peerVersions() {
		text += fmt.Sprintf(", %s %s", p.name, p.version)
	}
	return text + fmt.Sprintf(", load average %s.\n", loadAverage()), nil
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
