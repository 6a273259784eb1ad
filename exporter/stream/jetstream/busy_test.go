package jetstream

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// busyOf is how long a process has been on processors, where the system says so in /proc; else 0.
func busyOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the name
	fields := strings.Fields(rest)
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
