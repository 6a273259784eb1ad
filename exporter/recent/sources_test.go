package recent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
)

// TestSources checks that Sources counts the frames of configured sources and keeps their last parse errors.
func TestSources(t *testing.T) {
	now := time.Unix(7, 0)
	s := recent.NewSources(func() time.Time { return now }, recent.Source{Name: "a", Kind: "proxy"}, recent.Source{Name: "b", Kind: "tail"})
	a, stranger := &event.Stream{Source: "a", Dialect: "adk"}, &event.Stream{Source: "c"}
	s.Open(a)
	s.Open(stranger)
	for i := range 50 {
		b := &event.Batch{Stream: a, Received: time.Unix(int64(i), 0)}
		if i%2 == 1 {
			b.Rejected, b.Frame.Size = event.ReasonShape, i
		}
		s.Consume(b)
		s.Consume(&event.Batch{Stream: stranger, Rejected: event.ReasonShape})
	}
	s.Consume(&event.Batch{Stream: a})
	s.Up("a", true)
	s.Up("b", false)
	s.Up("c", true)
	all := s.All()
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" {
		t.Fatalf("%+v", all)
	}
	got := all[0]
	if got.Frames != 51 || got.ParseErrors != 25 || got.Streams != 1 || !got.Known || !got.Up || !got.Last.Equal(now) {
		t.Errorf("%+v", got)
	}
	if len(got.Errors) != 20 {
		t.Fatalf("%d errors are kept", len(got.Errors))
	}
	if first, want := got.Errors[0], (recent.ParseError{At: time.Unix(49, 0), Dialect: "adk", Frame: 50, Bytes: 49, Reason: event.ReasonShape}); fmt.Sprint(first) != fmt.Sprint(want) {
		t.Errorf("the newest is %+v", first)
	}
	if all[1].Frames != 0 || !all[1].Known || all[1].Up {
		t.Errorf("%+v", all[1])
	}
	s.Close(a, event.EndOfStream, now)
	s.Close(a, event.EndOfStream, now)
	s.Close(stranger, event.EndOfStream, now)
	if open := s.All()[0].Streams; open != 0 {
		t.Errorf("%d streams are open after their end, want 0", open)
	}
}

// TestSourcesConfigured replaces the sources while streams are open: a source that stays keeps its counts, and a removed one is
// no longer listed, even if its stream continues.
func TestSourcesConfigured(t *testing.T) {
	s := recent.NewSources(time.Now, recent.Source{Name: "stays", Kind: "proxy"}, recent.Source{Name: "goes", Kind: "proxy"}, recent.Source{Name: "turns", Kind: "proxy"})
	streams := []*event.Stream{{Source: "stays"}, {Source: "goes"}, {Source: "turns"}}
	for _, stream := range streams {
		s.Open(stream)
		s.Consume(&event.Batch{Stream: stream})
	}
	s.Configure(recent.Source{Name: "new", Kind: "tail"}, recent.Source{Name: "stays", Kind: "proxy"}, recent.Source{Name: "turns", Kind: "tail"})
	for name, configured := range map[string]bool{"stays": true, "new": true, "goes": false} {
		if s.Up(name, true) != configured {
			t.Errorf("%s is configured: %v", name, !configured)
		}
	}
	for _, stream := range streams {
		s.Consume(&event.Batch{Stream: stream})
	}
	said := func() (all string) {
		for _, of := range s.All() {
			all += fmt.Sprintf("%s %s: %d streams, %d frames, up %v; ", of.Name, of.Kind, of.Streams, of.Frames, of.Up)
		}
		return all
	}
	if got, want := said(), "new tail: 0 streams, 0 frames, up true; stays proxy: 1 streams, 2 frames, up true; turns tail: 0 streams, 0 frames, up false; "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, stream := range streams {
		s.Close(stream, event.EndOfStream, time.Now())
	}
	if got, want := said(), "new tail: 0 streams, 0 frames, up true; stays proxy: 0 streams, 2 frames, up true; turns tail: 0 streams, 0 frames, up false; "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestSourceOfAnotherAgent checks that what is known of an agent does not count for the one that replaces it.
func TestSourceOfAnotherAgent(t *testing.T) {
	old := recent.Source{Name: "a", Kind: "proxy", Address: "http://d", Agent: "http://old"}
	moved, other := old, old
	moved.Address, other.Agent = "http://e", "http://new"
	for _, c := range []struct {
		now   recent.Source
		known bool
	}{{old, true}, {moved, true}, {other, false}} {
		s := recent.NewSources(time.Now, old)
		s.Up("a", true)
		s.Configure(c.now)
		if got := s.All()[0]; got.Known != c.known || got.Up != c.known {
			t.Errorf("%+v after %+v: known %t, up %t", c.now, old, got.Known, got.Up)
		}
	}
}
