package budget

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	budgetShare  = 0.8 // of the process's memory limit
	runtimeShare = 0.9 // of the container's limit for the Go runtime; the rest is memory that it does not manage
	noLimit      = math.MaxInt64
)

// GCPercent is the GOGC of a process that has a memory limit, unless its environment sets GOGC. Most of the heap is
// garbage of short runs. With Go's default of 100, reading a stream takes 1.2 to 1.4 times the CPU time (docs/design/performance.md).
// The memory limit still holds.
const GCPercent = 200

// Default returns the bytes of a process's budget: a share of GOMEMLIMIT or of the container's limit,
// whichever is lower. If there is no limit, Default returns unlimited. If there is one, Default sets GCPercent.
// If only the container has one, Default also sets the memory limit of the Go runtime, which does not read it.
func Default(unlimited int64) (bytes int64, limited bool) {
	soft, hard := debug.SetMemoryLimit(-1), containerLimit(os.DirFS("/"))
	if soft == noLimit && hard < noLimit {
		debug.SetMemoryLimit(int64(runtimeShare * float64(hard)))
	}
	bytes, limited = shareOf(min(soft, hard), unlimited)
	if _, set := os.LookupEnv("GOGC"); limited && !set {
		debug.SetGCPercent(GCPercent)
	}
	return bytes, limited
}

func shareOf(limit, unlimited int64) (bytes int64, limited bool) {
	if limit == noLimit {
		return unlimited, false
	}
	return int64(budgetShare * float64(limit)), true
}

// containerLimit returns the lowest memory limit of the process's control group and its ancestors,
// in version 1 or 2 of the interface, or noLimit.
func containerLimit(root fs.FS) int64 {
	lowest := int64(noLimit)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return lowest
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		switch {
		case strings.Contains(","+parts[1]+",", ",memory,"):
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case parts[1] != "":
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			lowest = min(lowest, readLimit(root, path.Join(mount, group, file)))
			if group == "/" {
				break
			}
		}
	}
	return lowest
}

// minUnlimited is the lowest value that version 1 reports without a limit: the largest number of whole
// pages, with pages of 64 KiB.
const minUnlimited = math.MaxInt64 &^ (1<<16 - 1)

func readLimit(root fs.FS, file string) int64 {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return noLimit // in a container, its own group is often mounted as the root
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 || n >= minUnlimited { // "max"
		return noLimit
	}
	return n
}
