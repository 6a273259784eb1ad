package exporter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
)

// heard counts what a sink is told.
type heard struct{ opened, consumed, closed int }

func (h *heard) Open(*event.Stream)                        { h.opened++ }
func (h *heard) Consume(*event.Batch)                      { h.consumed++ }
func (h *heard) Close(*event.Stream, event.End, time.Time) { h.closed++ }

// TestSources counts the frames of configured sources and keeps the last that could not be read; everything is passed on.
func TestSources(t *testing.T) {
	next := &heard{}
	now := time.Unix(7, 0)
	s := exporter.NewSources(next, func() time.Time { return now }, exporter.Source{Name: "a", Kind: "proxy"}, exporter.Source{Name: "b", Kind: "tail"})
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
	if first, want := got.Errors[0], (exporter.ParseError{At: time.Unix(49, 0), Dialect: "adk", Frame: 50, Bytes: 49, Reason: event.ReasonShape}); fmt.Sprint(first) != fmt.Sprint(want) {
		t.Errorf("the newest is %+v", first)
	}
	if all[1].Frames != 0 || !all[1].Known || all[1].Up {
		t.Errorf("%+v", all[1])
	}
	s.Close(a, event.EndOfStream, now)
	s.Close(a, event.EndOfStream, now)
	s.Close(stranger, event.EndOfStream, now)
	if s.All()[0].Streams != 0 || next.opened != 2 || next.consumed != 101 || next.closed != 3 {
		t.Errorf("%+v, and passed on %+v", s.All()[0], *next)
	}
}
