//go:build unix

package stream

import (
	"fmt"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// corpus returns data as agents send it: 70 % deltas of about 250 bytes, 20 % of 600 bytes, 10 % of 2 to 4 KB.
func corpus() [][]byte {
	var all [][]byte
	for i := range 100 {
		size := 190 + i*37%120
		switch i % 10 {
		case 3, 7:
			size = 540 + i*31%120
		case 9:
			size = 2000 + i*613%2000
		}
		all = append(all, slices.Repeat([]byte("x"), size-40))
	}
	return all
}

// design is a way to send the same frames to many sockets.
type design struct {
	name    string
	deliver func(frames int) // returns once the kernel has everything
	frames  int              // of one slice of the benchmark
}

// BenchmarkFanOut compares the hub with three other designs: one write for each frame and socket, a Go library, and raw
// writes of 64 KiB of joined frames. The raw writes are the upper limit for anything that uses sockets. The benchmark
// alternates between the designs and measures deliveries per CPU second of this process. The subscribers are another
// process.
func BenchmarkFanOut(b *testing.B) {
	for _, subscribers := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(subscribers), func(b *testing.B) { benchmarkFanOut(b, subscribers) })
	}
}

func benchmarkFanOut(b *testing.B, subscribers int) {
	needFiles(b, uint64(3*subscribers+1200))
	designs := []design{
		{"ours", ours(b, subscribers), max(1000, 500_000/subscribers)},
		{"plain", raw(b, subscribers, 1), max(20, 200_000/subscribers)},
		{"joined", raw(b, subscribers, 64<<10), max(1000, 500_000/subscribers)},
	}
	if subscribers <= 1000 { // each design opens its own files
		designs = append(designs, design{"library", library(b, subscribers), max(20, 100_000/subscribers)})
	}
	rates := map[string][]float64{}
	b.ResetTimer()
	for round := 0; b.Loop(); round++ {
		for i := range designs {
			d := designs[(i+round)%len(designs)]
			before := cpu(b)
			d.deliver(d.frames)
			rates[d.name] = append(rates[d.name], float64(d.frames*subscribers)/(cpu(b)-before).Seconds())
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(rates["ours"]), "deliveries/cpu-s")
	b.ReportMetric(ratio(rates["ours"], rates["plain"]), "x-plain")
	if rates["library"] != nil {
		b.ReportMetric(ratio(rates["ours"], rates["library"]), "x-library")
	}
	b.ReportMetric(ratio(rates["ours"], rates["joined"]), "x-joined")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Skip("this system does not say how much CPU time a process took")
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func ratio(a, b []float64) float64 {
	var all []float64
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	return median(all)
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func ours(b *testing.B, subscribers int) func(int) {
	seen := newTally()
	hub, err := New(settings(seen))
	if err != nil {
		b.Fatal(err)
	}
	startSink(b, serve(b, hub), subscribers)
	data, n := corpus(), 0
	return func(frames int) {
		want := seen.sent.Load() + int64(frames*subscribers)
		for range frames {
			hub.store.Publish(replay.Entry{Source: "s", Run: "r", Session: "c", Data: data[n%len(data)]})
			n++
		}
		for seen.sent.Load() < want {
			if lost := subscribers - int(seen.subscribers.Load()); lost > 0 {
				b.Fatalf("%d subscribers were disconnected: %v", lost, seen.events)
			}
			time.Sleep(time.Millisecond) // a notification would use the CPU time that is measured
		}
	}
}

// raw writes frames to every socket in turn. Each write has a number of bytes of joined frames.
func raw(b *testing.B, subscribers, join int) func(int) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	accepted := make(chan []net.Conn)
	go func() {
		var conns []net.Conn
		for range subscribers {
			conn, err := listener.Accept()
			if err != nil {
				break
			}
			_, _ = conn.Write([]byte("\n")) // tells the sink that the stream has begun; an error shows up in the first slice
			conns = append(conns, conn)
		}
		accepted <- conns
	}()
	startSink(b, listener.Addr().String(), subscribers)
	conns := <-accepted
	b.Cleanup(func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	data, n := corpus(), 0
	return func(frames int) {
		var wire []byte
		for i := range frames {
			wire, _ = sse.AppendFrame(wire, sse.Frame{ID: fmt.Append(nil, "0123456789abcdef-", n), Data: data[n%len(data)]})
			n++
			if len(wire) < join && i < frames-1 {
				continue
			}
			for _, conn := range conns {
				if _, err := conn.Write(wire); err != nil {
					b.Fatal(err)
				}
			}
			wire = wire[:0]
		}
	}
}
