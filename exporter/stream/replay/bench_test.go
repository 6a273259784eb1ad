package replay

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// BenchmarkPublish publishes a frame of 612 bytes. Subscribers of other sessions stay idle, and subscribers of all
// sessions are woken.
func BenchmarkPublish(b *testing.B) {
	for _, waiting := range []struct {
		name        string
		subscribers int
		selection   *Selection
	}{
		{"nobody", 0, nil},
		{"other sessions 100", 100, NewSelection(Query{Sessions: []string{"other"}})},
		{"other sessions 5000", 5000, NewSelection(Query{Sessions: []string{"other"}})},
		{"all 100", 100, nil},
		{"all 5000", 5000, nil},
	} {
		b.Run(waiting.name, func(b *testing.B) {
			r, err := New(Settings{Frames: 10_000, Bytes: 64 << 20, Age: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			stop := make(chan struct{})
			var readers sync.WaitGroup
			for range waiting.subscribers {
				readers.Go(func() { drain(r, waiting.selection, stop) })
			}
			e := Entry{Source: "briefing", Run: "e-1", Session: differentShards(2)[1], Data: make([]byte, 612)}
			if waiting.selection != nil && bucketOf("other") == bucketOf(e.Session) {
				e.Session += "'"
			}
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				if r.Publish(e) != NotDropped {
					b.Fatal("dropped")
				}
			}
			b.StopTimer()
			close(stop)
			readers.Wait()
		})
	}
}

func drain(r *Ring, s *Selection, stop chan struct{}) {
	cursor := r.Head()
	for {
		b := r.Read(cursor, s, nil)
		if b.Lost {
			b.Next = r.Head()
		}
		cursor = b.Next
		if b.Wait == nil {
			continue
		}
		select {
		case <-b.Wait:
		case <-stop:
			return
		}
	}
}

// BenchmarkRead reads a batch of all frames, and a batch of one session out of ten.
func BenchmarkRead(b *testing.B) {
	r, err := New(Settings{Frames: 10_000, Bytes: 64 << 20, Age: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		r.Publish(Entry{Session: fmt.Sprint("session", i%10), Data: make([]byte, 600)})
	}
	for name, s := range map[string]*Selection{"everything": nil, "session": NewSelection(Query{Sessions: []string{"session3"}})} {
		b.Run(name, func(b *testing.B) {
			scratch := make([]byte, 0, 16<<10)
			b.ReportAllocs()
			frames := 0
			for b.Loop() {
				frames += r.Read(Cursor{}, s, scratch).Frames
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
		})
	}
}
