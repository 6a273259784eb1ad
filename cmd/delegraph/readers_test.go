package main

import (
	"testing"
)

// TestReaders has readers that people use read the public stream of a run, over a wire that is torn in the middle of a frame:
// each gets what may leave, once and in order.
func TestReaders(t *testing.T) {
	for name, c := range map[string]struct {
		read  func(*testing.T, *stand) reader
		named bool // readers have to say who they are
		reset bool // the wire is torn by an error, not by an end
	}{
		"chromium by itself": {read: func(t *testing.T, s *stand) reader {
			return openPage(t, s.page("anonymous.html", s.stream))
		}},
		"chromium with tickets": {named: true, read: func(t *testing.T, s *stand) reader {
			return openPage(t, s.page("tickets.html", s.stream))
		}},
		"npm eventsource": {named: true, read: func(t *testing.T, s *stand) reader {
			return startReader(t, readerScripts(t), program(t, "node"), "eventsource.mjs", s.stream, s.token)
		}},
		"curl": {named: true, read: func(t *testing.T, s *stand) reader {
			return curl(t, s.stream, s.token)
		}},
		// Where a connection ends without an error it takes what it has of a frame for the whole, and goes on behind it; WHATWG HTML
		// 9.2.6 has it discarded.
		"go-sse": {named: true, reset: true, read: func(t *testing.T, s *stand) reader {
			return startReader(t, "", goReader(t), s.stream, s.token)
		}},
	} {
		s := newStand(t, c.named)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames := c.read(t, s)
			s.subscribed(t)
			s.say(20)
			s.hear(t, frames, 20)

			torn := s.wire.tear(c.reset)
			s.say(20)
			<-torn
			s.published(t) // while nobody reads
			s.wire.mend()
			s.hear(t, frames, 20)

			s.say(20)
			s.hear(t, frames, 20)
			if s.wire.carried(internal) {
				t.Error("a reader was sent what is internal")
			}
			for outcome, want := range map[string]float64{"continued": 1, "restarted": 0, "evicted": 0, "future": 0, "unknown": 0} {
				if n := s.car.count(t, "delegraph_stream_resumes_total", "outcome", outcome); n != want {
					t.Errorf("%v times %s", n, outcome)
				}
			}
		})
	}
}

// TestForeignPage opens a page of an origin that is not allowed, and then the same page of one that is.
func TestForeignPage(t *testing.T) {
	s := newStand(t, false)
	s.say(3)
	s.published(t)
	s.stream += "?last_event_id=0" // no id of ours, so that there is something to be had at once
	if got := openPage(t, s.foreign("anonymous.html", s.stream)).next(t); got.Event != "refused" {
		t.Errorf("the foreign page got %+v", got)
	}
	frames := openPage(t, s.page("anonymous.html", s.stream))
	if got := frames.next(t); got.Event != "delegraph.gap" {
		t.Errorf("the page got %+v and no gap", got)
	}
	s.hear(t, frames, 3)
}

// TestForeignPageGetsNoTicket gives a page of an origin that is not allowed a valid token.
func TestForeignPageGetsNoTicket(t *testing.T) {
	s := newStand(t, true)
	if got := openPage(t, s.foreign("tickets.html", s.stream)).next(t); got.Event != "failed" {
		t.Errorf("the foreign page got %+v", got)
	}
}

// TestTicketServesOneConnection leaves a page's EventSource to itself, which comes back with the ticket that it has used up and
// gives up: so tickets.html has to do more.
func TestTicketServesOneConnection(t *testing.T) {
	s := newStand(t, true)
	frames := openPage(t, s.page("anonymous.html", s.stream+"?ticket="+s.ticket(t)))
	s.subscribed(t)
	s.say(1)
	s.hear(t, frames, 1)
	torn := s.wire.tear(false)
	s.say(1)
	<-torn
	s.wire.mend()
	if got := frames.next(t); got.Event != "refused" {
		t.Errorf("the page got %+v", got)
	}
}
