//go:build unix

package jetstream

import (
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// BenchmarkPath publishes frames of 612 bytes in 16 sessions and waits until all readers have them, in memory and
// through NATS. It reports the CPU time of this process, which is publisher and gateway, and of the NATS server.
func BenchmarkPath(b *testing.B) {
	for _, readers := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("memory/readers of a session ", readers), func(b *testing.B) {
			store, err := stream.NewMemory(replay.Settings{Frames: 1 << 20, Bytes: 256 << 20, Age: time.Hour}, func(replay.Drop) { b.Error("dropped") })
			if err != nil {
				b.Fatal(err)
			}
			path(b, store, store, readers, func() int { return 0 }, func() time.Duration { return 0 })
		})
		b.Run(fmt.Sprint("jetstream/readers of a session ", readers), func(b *testing.B) {
			s := newServer(b, "")
			set := s.settings(&tally{})
			set.Ring, set.QueueBytes, set.Logger = replay.Settings{Frames: 1 << 20, Bytes: 64 << 20, Age: time.Hour}, 64<<20, slog.New(slog.DiscardHandler)
			set.Limits.MaxBytes, set.Limits.MaxMessagesPerSubject = 1<<30-1, 1<<30
			publisher, err := Open(set)
			if err != nil {
				b.Fatal(err)
			}
			set.Publish = false
			gateway, err := Open(set)
			if err != nil {
				b.Fatal(err)
			}
			until(b, "both are there", func() bool { return publisher.Ready() == nil && gateway.Ready() == nil })
			defer func() { _ = publisher.Close(b.Context()); _ = gateway.Close(b.Context()) }()
			path(b, publisher, gateway, readers, publisher.QueuedBytes, s.busy)
		})
	}
}

// busy returns the CPU time of the server's process.
func (s *server) busy() time.Duration { return busyOf(s, s.process.Process.Pid) }

func path(b *testing.B, publisher, gateway stream.Store, readers int, queued func() int, server func() time.Duration) {
	const sessions = 16
	var all sync.WaitGroup
	each := make([]int, sessions)
	for i := range b.N {
		each[i%sessions]++
	}
	for session := range sessions {
		for range readers {
			q := replay.Query{Sessions: []string{fmt.Sprint("c", session)}}
			place, refused := gateway.Attach(b.Context(), stream.Request{Query: q})
			if refused != stream.NotRefused {
				b.Fatal(refused)
			}
			all.Go(func() {
				defer place.Release()
				cursor, selection, scratch := place.Cursor, replay.NewSelection(q), make([]byte, 0, 16<<10)
				for missing := each[session]; missing > 0; {
					batch := place.Ring.Read(cursor, selection, scratch)
					if batch.Lost {
						b.Error("a reader fell behind")
						return
					}
					cursor = batch.Next
					if missing -= batch.Frames; batch.Wait != nil && missing > 0 {
						<-batch.Wait
					}
				}
			})
		}
	}
	data := make([]byte, 612)
	began, there := process(), server()
	b.ResetTimer()
	for i := range b.N {
		for queued() > 16<<20 {
			time.Sleep(time.Millisecond)
		}
		session := fmt.Sprint("c", i%sessions)
		publisher.Publish(replay.Entry{Source: "s", Session: session, Run: "r", Data: data, Stream: tailed, EventID: fmt.Append(nil, i)})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(process()-began)/float64(b.N), "cpu-ns/event")
	b.ReportMetric(float64(server()-there)/float64(b.N), "nats-cpu-ns/event")
}

// process returns the CPU time of this process.
func process() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
