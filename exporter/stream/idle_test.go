package stream

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// BenchmarkIdle measures the memory of a waiting subscriber and the time that it adds to a publish.
func BenchmarkIdle(b *testing.B) {
	const subscribers = 5000
	hub, err := New(settings(newTally()))
	if err != nil {
		b.Fatal(err)
	}
	address := serve(b, hub)
	before := resident(b)
	startSink(b, address, subscribers)
	for b.Loop() {
		b.ReportMetric(float64(resident(b)-before)/subscribers, "B/subscriber")
	}
	b.ReportMetric(0, "ns/op")
}

// resident returns the memory of this process after garbage collection.
func resident(b *testing.B) int {
	runtime.GC()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("this system does not report the memory of a process")
	}
	var kib int
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		b.Fatal(err)
	}
	return kib << 10
}
