//go:build unix

package cost_test

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkCost measures the CPU time of an event in a sidecar, from its bytes to runs, metrics, spans and the external stream.
// On a shared machine CPU time is more reliable than the clock. An iteration is a whole workload.
func BenchmarkCost(b *testing.B) {
	for _, l := range workloads(b) {
		b.Run(l.name, func(b *testing.B) {
			observe := l.through(b, newFilteredSink(newSink(true)))
			observe()
			before := onProcessors(b)
			for b.Loop() {
				observe()
			}
			b.ReportMetric(float64(onProcessors(b)-before)/float64(b.N*l.frames), "cpu-ns/event")
		})
	}
}

// onProcessors returns the CPU time of this process.
func onProcessors(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
