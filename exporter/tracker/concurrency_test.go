package tracker_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestManyStreamsAtOnce feeds each stream from its own goroutine, while other goroutines expire, configure and end
// streams. Every run must end once. The observers have no lock and must be called one after the other.
func TestManyStreamsAtOnce(t *testing.T) {
	const streams, rounds = 16, 30
	small := func(s *tracker.Settings) { s.MaxOpenRuns, s.MaxOperations, s.MaxFacts = streams/2, 10, 5 }
	s := watch(small)
	var feeding, meddling sync.WaitGroup
	for i := range streams {
		feeding.Go(func() {
			for round := range rounds {
				stream := proxied()
				stream.Nonce = fmt.Sprint(i, " ", round)
				s.Open(stream)
				for _, b := range work(stream.Nonce) {
					b.Stream, b.Received = stream, second(round)
					s.Consume(b)
				}
				s.Close(stream, event.EndOfStream, second(round+1))
			}
		})
	}
	done := make(chan struct{})
	for _, meddle := range []func(time.Time){
		func(now time.Time) { s.Expire(now) },
		func(now time.Time) { s.EndAll(now) },
		func(time.Time) {
			s.Configure(tracker.Settings{MaxOpenRuns: streams / 2, MaxOperations: 10, MaxFacts: 5, IdleTimeout: time.Second})
		},
	} {
		meddling.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					meddle(second(n % rounds))
				}
			}
		})
	}
	feeding.Wait()
	close(done)
	meddling.Wait()
	seen := map[*tracker.Run]bool{}
	for _, r := range s.runs {
		if r.Status == tracker.Running || seen[r] {
			t.Errorf("%s, ended before: %v", r.Status, seen[r])
		}
		seen[r] = true
	}
	if begun := count(s.told, "begins briefing"); begun != streams*rounds || len(s.runs) != begun {
		t.Errorf("of %d runs, %d began and %d ended", streams*rounds, begun, len(s.runs))
	}
}
