//go:build unix

package stream

import (
	"fmt"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// BenchmarkPaced measures the CPU time of a delivery if frames come one by one, so that each is its own write, at 2,000 to 10,000
// deliveries a second. It also measures the CPU time of a connection. The subscribers are another process, but the kernel's work
// for their sockets on the loopback network counts as ours. An iteration is a frame.
func BenchmarkPaced(b *testing.B) {
	for _, c := range []struct {
		subscribers int
		every       time.Duration
	}{{1, time.Millisecond}, {10, 5 * time.Millisecond}, {100, 20 * time.Millisecond}, {1000, 100 * time.Millisecond}} {
		b.Run(fmt.Sprint(c.subscribers), func(b *testing.B) {
			seen := newTally()
			hub, err := New(settings(seen))
			if err != nil {
				b.Fatal(err)
			}
			address := serve(b, hub)
			connecting := cpu(b)
			startSink(b, address, c.subscribers)
			connected := cpu(b) - connecting
			data := corpus()
			paced := time.NewTicker(c.every)
			defer paced.Stop()
			before := cpu(b)
			for range b.N {
				<-paced.C
			}
			waiting := cpu(b) - before // the cost of pacing itself
			before = cpu(b)
			for n := range b.N {
				<-paced.C
				hub.store.Publish(replay.Entry{Source: "s", Run: "r", Session: "c", Data: data[n%len(data)]})
			}
			deliveries := b.N * c.subscribers
			for seen.sent.Load() < int64(deliveries) {
				<-paced.C
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(cpu(b)-before-waiting)/float64(deliveries), "cpu-ns/delivery")
			b.ReportMetric(float64(connected)/float64(c.subscribers), "cpu-ns/connect")
		})
	}
}
