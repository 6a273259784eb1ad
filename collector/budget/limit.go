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
	share      = 0.8       // of the process's memory limit that the budget is
	fallback   = 400 << 20 // bytes where the process has no limit
	leftToGo   = 0.9       // of the container's limit that Go's runtime keeps to; the rest is for what it does not manage
	noLimitSet = math.MaxInt64
)

// Default returns the bytes of a process's budget: a share of GOMEMLIMIT or of the container's limit, whichever is less. Where only the
// container has a limit, the Go runtime is told to keep to it, since it would not know of it.
func Default() int64 {
	soft, hard := debug.SetMemoryLimit(-1), containerLimit(os.DirFS("/"))
	if soft == noLimitSet && hard < noLimitSet {
		debug.SetMemoryLimit(int64(leftToGo * float64(hard)))
	}
	return of(min(soft, hard))
}

func of(limit int64) int64 {
	if limit == noLimitSet {
		return fallback
	}
	return int64(share * float64(limit))
}

// containerLimit returns the least memory limit of the process's control group and of those above it, by either version of the
// interface; math.MaxInt64 if there is none, or nobody says.
func containerLimit(root fs.FS) int64 {
	least := int64(noLimitSet)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
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
			least = min(least, readLimit(root, path.Join(mount, group, file)))
			if group == "/" {
				break
			}
		}
	}
	return least
}

// unlimited is what version 1 says at least where there is no limit: the largest number of whole pages.
const unlimited = math.MaxInt64 &^ (1<<16 - 1)

func readLimit(root fs.FS, file string) int64 {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return noLimitSet // in a container its own group is often mounted as the root
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 || n >= unlimited { // "max"
		return noLimitSet
	}
	return n
}
