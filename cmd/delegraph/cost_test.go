//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkCost gives the time on processors of an event in a sidecar, from its bytes to runs, metrics, spans and what may leave: on a
// machine that others use, too, another measure than the clock's. An operation is a whole load.
func BenchmarkCost(b *testing.B) {
	for _, l := range workloads(b) {
		b.Run(l.name, func(b *testing.B) {
			observe := l.through(b, filtered(wired(true)))
			observe()
			before := onProcessors(b)
			for b.Loop() {
				observe()
			}
			b.ReportMetric(float64(onProcessors(b)-before)/float64(b.N*l.frames), "cpu-ns/event")
		})
	}
}

// onProcessors is how long this process has been on processors.
func onProcessors(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
