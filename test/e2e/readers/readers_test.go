package readers_test

import (
	"net/url"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestReaders reads the public stream of a run with common SSE clients over a connection that is cut in the middle of a frame.
// Each gets every public frame once and in order.
func TestReaders(t *testing.T) {
	for name, c := range map[string]struct {
		read  func(*testing.T, *stand) reader
		named bool // readers need a token
		reset bool // the connection ends with a reset
	}{
		"chromium by itself": {read: func(t *testing.T, s *stand) reader {
			return openPage(t, s.page("anonymous.html", s.stream))
		}},
		"chromium with tickets": {named: true, read: func(t *testing.T, s *stand) reader {
			return openPage(t, s.page("tickets.html", s.stream))
		}},
		"npm eventsource": {named: true, read: func(t *testing.T, s *stand) reader {
			return startReader(t, harness.ReaderScripts(t), harness.Program(t, "node", "readers"), "eventsource.mjs", s.stream, s.token)
		}},
		"curl": {named: true, read: func(t *testing.T, s *stand) reader {
			return curl(t, s.stream, s.token)
		}},
		// If a connection ends without an error, go-sse takes a partial frame for a whole one and resumes after it. WHATWG HTML
		// 9.2.6 says to discard it.
		"go-sse": {named: true, reset: true, read: func(t *testing.T, s *stand) reader {
			return startReader(t, "", goReader(t), s.stream, s.token)
		}},
		"example page": {named: true, read: func(t *testing.T, s *stand) reader {
			return startReader(t, harness.ReaderScripts(t), harness.Program(t, "node", "readers"), "example.mjs", harness.Program(t, "chromium", "readers"),
				s.near.URL+"/examples/reader.html#"+url.Values{"stream": {s.stream}, "token": {s.token}}.Encode())
		}},
		"example in Python": {named: true, read: func(t *testing.T, s *stand) reader {
			return startExample(t, s, harness.Program(t, "python3", "readers"), examples+"/reader.py")
		}},
		"example in Python without a token": {read: func(t *testing.T, s *stand) reader {
			return startExample(t, s, harness.Program(t, "python3", "readers"), examples+"/reader.py")
		}},
		"example in Go": {named: true, read: func(t *testing.T, s *stand) reader {
			return startExample(t, s, buildExample(t))
		}},
		"example with curl": {named: true, read: func(t *testing.T, s *stand) reader {
			harness.Program(t, "curl", "readers")
			return startExample(t, s, harness.Program(t, "bash", "readers"), examples+"/reader.sh")
		}},
		"example with curl without a token": {read: func(t *testing.T, s *stand) reader {
			harness.Program(t, "curl", "readers")
			return startExample(t, s, harness.Program(t, "bash", "readers"), examples+"/reader.sh")
		}},
	} {
		s := newStand(t, c.named)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames := c.read(t, s)
			s.subscribed(t)
			s.say(20)
			s.hear(t, frames, 20)

			torn := s.wire.Cut(c.reset)
			s.say(20)
			<-torn
			s.published(t) // without a reader
			s.wire.Restore()
			s.hear(t, frames, 20)

			s.say(20)
			s.hear(t, frames, 20)
			if s.wire.Sent(internal) {
				t.Error("a reader was sent an internal frame")
			}
			for outcome, want := range map[string]float64{"continued": 1, "restarted": 0, "evicted": 0, "future": 0, "unknown": 0} {
				if n := s.service.Count(t, "delegraph_stream_resumes_total", "outcome", outcome); n != want {
					t.Errorf("%v times %s", n, outcome)
				}
			}
		})
	}
}

// TestForeignPage opens a page of an origin that is not allowed, then the same page of an allowed one.
func TestForeignPage(t *testing.T) {
	s := newStand(t, false)
	s.say(3)
	s.published(t)
	s.stream += "?last_event_id=0" // an unknown id, so that there is a gap event at once
	if got := openPage(t, s.foreign("anonymous.html", s.stream)).next(t); got.Event != "refused" {
		t.Errorf("the foreign page got %+v", got)
	}
	frames := openPage(t, s.page("anonymous.html", s.stream))
	if got := frames.next(t); got.Event != "delegraph.gap" {
		t.Errorf("the page got %+v and no gap", got)
	}
	s.hear(t, frames, 3)
}

// TestForeignPageGetsNoTicket gives a valid token to a page of an origin that is not allowed.
func TestForeignPageGetsNoTicket(t *testing.T) {
	s := newStand(t, true)
	if got := openPage(t, s.foreign("tickets.html", s.stream)).next(t); got.Event != "failed" {
		t.Errorf("the foreign page got %+v", got)
	}
}

// TestTicketServesOneConnection lets the EventSource of a page reconnect on its own. It uses its ticket a second time and gives
// up, which is why tickets.html does more.
func TestTicketServesOneConnection(t *testing.T) {
	s := newStand(t, true)
	frames := openPage(t, s.page("anonymous.html", s.stream+"?ticket="+s.ticket(t)))
	s.subscribed(t)
	s.say(1)
	s.hear(t, frames, 1)
	torn := s.wire.Cut(false)
	s.say(1)
	<-torn
	s.wire.Restore()
	if got := frames.next(t); got.Event != "refused" {
		t.Errorf("the page got %+v", got)
	}
}
