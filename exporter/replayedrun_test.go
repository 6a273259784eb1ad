package exporter_test

import (
	"fmt"
	"maps"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// longRun brings the frames of a run to a Deduplicator.
type longRun struct {
	*exporter.Deduplicator
	next *sinkCounter
}

func newLongRun(t *testing.T) longRun {
	next := &sinkCounter{}
	r := longRun{exporter.NewDeduplicator(next, losses{}), next}
	t.Cleanup(r.EndDelayed)
	return r
}

// bring sends frames with these hashes, and returns how many were passed on. Those below zero are pieces.
func (r longRun) bring(of *event.Stream, frames ...int) (passed int) {
	before := r.next.consumed
	for _, n := range frames {
		b := &event.Batch{Stream: of, Run: "t", ContentHash: uint64(int64(n)), Partial: n < 0, Received: of.OpenedAt}
		r.Consume(b)
	}
	return r.next.consumed - before
}

// count returns the numbers from one up to another.
func count(from, to int) (all []int) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

// pieces returns n pieces. Each fifth is the same, as the deltas of a text are.
func pieces(n int) (all []int) {
	for i := 1; i <= n; i++ {
		all = append(all, -i)
		if i%5 == 0 {
			all[i-1] = -1
		}
	}
	return all
}

// TestReplays checks a client that leaves a run and comes back. The new stream repeats the run, perhaps in fewer frames. Each new
// frame is passed on, and no repeated one.
func TestReplays(t *testing.T) {
	answer := func() *event.Stream {
		return &event.Stream{Source: "s", SingleRun: true, Identity: event.Identity{Session: "u", InBackground: true}}
	}
	session := event.Identity{JoinedSession: "u", Replays: true, InBackground: true}
	run := event.Identity{JoinedRun: "t", ReplayedRun: "t"}
	for _, n := range []int{10, 900, 1100, 3000} {
		text := pieces(n)
		for name, c := range map[string]struct {
			of         event.Identity
			begun      []int
			again, new []int
		}{
			"the pieces of a text in one":           {session, append([]int{1}, text...), []int{1, -9999}, count(2, 201)},
			"pieces in one, and the run was joined": {session, text, []int{-9999}, count(2, 201)},
			"two texts, the second is new":          {session, append(append([]int{1}, text...), 2), []int{1, -9999, 2}, []int{3, -9998, 4}},
			"not all frames":                        {session, append([]int{1, 2, 3, 4}, text...), []int{1, 4, -9999}, []int{5, 6}},
			"the same pieces":                       {session, append([]int{1}, text...), append([]int{1}, text...), append(pieces(50), 2)},
			"the same pieces of a run":              {run, append([]int{1}, text...), append([]int{1}, text...), append(pieces(50), 2)},
			"the same frames":                       {session, count(1, n), count(1, n), count(n+1, n+200)},
			"the same frames of a run":              {run, count(1, n), count(1, n), count(n+1, n+200)},
			"a part of the frames of a run":         {run, count(1, n), count(n-5, n), count(n+1, n+200)},
			"some frames in one":                    {session, count(1, n), append(count(1, n/3), count(n/2, n)...), count(n+1, n+200)},
		} {
			r := newLongRun(t)
			first := answer()
			r.Open(first)
			if passed := r.bring(first, c.begun...); passed != len(c.begun) {
				t.Errorf("%s, %d: %d frames of %d were passed on at first", name, n, passed, len(c.begun))
			}
			r.Close(first, event.EndClientLeft, time.Unix(1, 0))
			again := &event.Stream{Source: "s", OpenedAt: time.Unix(2, 0), Identity: c.of}
			r.Open(again)
			if passed := r.bring(again, c.again...); passed != 0 {
				t.Errorf("%s, %d: %d known frames were passed on", name, n, passed)
			}
			if passed := r.bring(again, c.new...); passed != len(c.new) {
				t.Errorf("%s, %d: %d of %d new frames were passed on", name, n, passed, len(c.new))
			}
		}
	}
}

// TestReplayBesideItsRun has a run continue while another stream replays it, so that frames are forgotten before they are repeated.
func TestReplayBesideItsRun(t *testing.T) {
	for _, of := range []event.Identity{{JoinedSession: "u", Replays: true}, {JoinedRun: "t", ReplayedRun: "t"}} {
		for name, frames := range map[string][]int{"frames": count(1, 4000), "pieces": append([]int{1}, pieces(3999)...)} {
			r := newLongRun(t)
			first := &event.Stream{Source: "s", SingleRun: true, Identity: event.Identity{Session: "u"}}
			again := &event.Stream{Source: "s", OpenedAt: time.Unix(2, 0), Identity: of}
			r.Open(first)
			r.bring(first, frames[:600]...)
			r.Open(again)
			first.OpenedAt = time.Unix(2, 0) // its later frames are received then
			for at := range 17 {
				r.bring(first, frames[600+200*at:800+200*at]...)
				r.bring(again, frames[100*at:100*at+100]...)
			}
			r.bring(again, frames[1700:]...)
			if r.next.consumed != len(frames) {
				t.Errorf("%s: %d frames of %d were passed on", name, r.next.consumed, len(frames))
			}
			if r.bring(again, 5000) != 1 || r.bring(first, 5000) != 0 {
				t.Errorf("%s: a new frame of the replay was not passed on once", name)
			}
		}
	}
}

// TestManyClientsLeave has the clients of many runs leave at once. The runs wait for them, and each run that is forgotten ends at once.
func TestManyClientsLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, remembered = 1500, 1000
		next, lost := &sinkCounter{}, losses{}
		s := exporter.NewDeduplicator(next, lost)
		for i := range runs {
			of := &event.Stream{Source: "s", SingleRun: true}
			s.Open(of)
			s.Consume(&event.Batch{Stream: of, Run: fmt.Sprint(i), ContentHash: 1})
			s.Close(of, event.EndClientLeft, time.Now())
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if want := (losses{tracker.LostStream: runs - remembered}); next.closed.Load() != runs-remembered || !maps.Equal(lost, want) {
			t.Errorf("%d runs ended at once, evicted %v, want %v", next.closed.Load(), lost, want)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if next.closed.Load() != runs {
			t.Errorf("%d runs ended", next.closed.Load())
		}
	})
}

// TestWithoutTimes brings a run that cannot continue to a listener, on streams without times.
func TestWithoutTimes(t *testing.T) {
	next := &sinkCounter{}
	s := exporter.NewDeduplicator(next, losses{})
	for _, of := range []*event.Stream{{Source: "s", SingleRun: true}, {Source: "s", Identity: event.Identity{JoinedRun: "t"}}} {
		s.Open(of)
		s.Consume(&event.Batch{Stream: of, Run: "t", ContentHash: 1, StateHash: event.StateEnded})
		s.Close(of, event.EndOfStream, time.Time{})
	}
	if next.consumed != 1 || next.closed.Load() != 2 {
		t.Errorf("%d frames were passed on and %d streams were closed, want 1 and 2", next.consumed, next.closed.Load())
	}
}

// exclusive is a sink that fails the test if two calls for a stream are concurrent.
type exclusive struct {
	t    *testing.T
	busy sync.Map
}

func (s *exclusive) call(of *event.Stream) {
	if _, concurrent := s.busy.LoadOrStore(of, true); concurrent {
		s.t.Error("two calls for a stream at once")
	}
	runtime.Gosched()
	s.busy.Delete(of)
}

func (s *exclusive) Open(of *event.Stream)                            { s.call(of) }
func (s *exclusive) Consume(b *event.Batch)                           { s.call(b.Stream) }
func (s *exclusive) Close(of *event.Stream, _ event.End, _ time.Time) { s.call(of) }

// TestCallsOfACarrier has a session bring another run, and frames of no run, while a listener brings the run before.
func TestCallsOfACarrier(t *testing.T) {
	s := exporter.NewDeduplicator(&exclusive{t: t}, losses{})
	session := &event.Stream{Source: "s", Identity: event.Identity{JoinedSession: "u"}}
	listener := &event.Stream{Source: "s", Identity: event.Identity{JoinedRun: "t"}}
	s.Open(session)
	s.Consume(&event.Batch{Stream: session, Run: "t", ContentHash: 1})
	s.Open(listener)
	var both sync.WaitGroup
	for of, run := range map[*event.Stream]string{session: "next", listener: "t"} {
		both.Go(func() {
			for n := range 1000 {
				s.Consume(&event.Batch{Stream: of, Run: run, ContentHash: uint64(n + 2)})
				if of == session {
					s.Consume(&event.Batch{Stream: of, Rejected: event.ReasonShape})
				}
			}
			s.Close(of, event.EndClientLeft, time.Unix(1, 0))
		})
	}
	both.Wait()
	s.EndDelayed()
}
