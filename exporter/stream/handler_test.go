package stream

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

func TestBadRequests(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		for _, test := range []struct {
			method, path string
			status       int
			says         string
		}{
			{"GET", "/events?kind=txet", 400, "kind must be one of other, text, thought, "},
			{"GET", "/events?kind=text&kind=", 400, "kind must be one of"},
			{"GET", "/events?kind=Text", 400, "kind must be one of"},
			{"GET", "/events?format=a2a", 400, "format must be one of native\n"}, // without decoders there are no other formats
			{"GET", "/events?format=", 400, "format must be one of native"},
			{"GET", "/events?format=native&format=agui", 400, "format must be one of native"},
			{"GET", "/events?format=native&format=native", 400, "give only one format"},
			{"GET", "/events?run=", 400, "run has no value"},
			{"GET", "/events?runs=r1", 400, `unknown query parameter "runs"; use one of format, kind, lastEventId, last_event_id, run, shard, source, ticket`},
			{"GET", "/events?Kind=text", 400, `unknown query parameter "Kind"`},
			{"GET", "/events/c?format=native&session=c2", 400, `unknown query parameter "session"`},
			{"GET", "/events?z=1&a=1", 400, `unknown query parameter "a"`}, // always the same one of several
			{"GET", "/events?=1", 400, `unknown query parameter ""`},
			{"GET", "/events?%0d%0a%1b=1", 400, `unknown query parameter "\r\n\x1b"`},
			{"GET", "/events?" + strings.Repeat("n", 100) + "=secret", 400, `unknown query parameter "` + strings.Repeat("n", 40) + `"`},
			{"GET", "/events?shard=", 400, "shard has no value"},
			{"GET", "/events?shard=a", 400, "this stream has no shards; omit the parameter shard"},
			{"GET", "/events/c?shard=a", 400, "the session determines the shard"},
			{"GET", "/events/c?source=a&source=", 400, "source has no value"},
			{"GET", "/events?run=%zz", 400, "the query string is malformed"},
			{"GET", "/events?run=a;run=b", 400, "the query string is malformed"},
			{"GET", "/events?run=" + strings.Repeat("r", maxURL), 400, "longer than 8192 bytes"},
			{"GET", "/events/" + strings.Repeat("s", maxURL), 400, "longer than 8192 bytes"},
			{"GET", "/events/", 404, ""},
			{"GET", "/events/a/b", 404, ""},
			{"GET", "/", 404, ""},
			{"POST", "/events", 405, ""},
			{"PUT", "/events/c", 405, ""},
		} {
			c := s.get(test.path)
			if test.method != "GET" {
				c.leave()
				c = s.request(test.method, test.path, "Content-Length: 0")
				go c.listen()
			}
			s.settle()
			response, body := c.response(s.T)
			if response.StatusCode != test.status || !strings.HasPrefix(body, test.says) && !strings.Contains(body, test.says) {
				s.Errorf("%s %.60s: %d %q", test.method, test.path, response.StatusCode, body)
			}
			if test.status == 400 && (response.Header.Get("X-Content-Type-Options") != "nosniff" || strings.Count(body, "\n") != 1) {
				s.Errorf("%s: headers %v, body %q", test.path, response.Header, body)
			}
			c.leave()
		}
		if n := s.seen.count("disconnected client_left"); n != 2 { // the GETs of the rows for other methods
			s.Errorf("%d streams were opened", n)
		}
	})
}

// TestHead checks that the response to HEAD has no stream.
func TestHead(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		c := s.request("HEAD", "/events")
		go c.listen()
		s.settle()
		if !strings.Contains(c.read.String(), "Content-Type: text/event-stream") || s.seen.subscribers.Load() != 0 {
			s.Errorf("the response is %q", c.read.String())
		}
		c.leave()
	})
}

// entries returns frames of every kind that a subscriber can select.
func entries() []replay.Entry {
	var all []replay.Entry
	for _, source := range []string{"a", "b"} {
		for _, session := range []string{"", "c1", "c 2/x"} {
			for _, kinds := range []replay.Kinds{0, replay.KindsOf(event.KindText), replay.KindsOf(event.KindText, event.KindFinal), replay.KindsOf(event.KindError)} {
				run := "r" + source + session
				all = append(all, replay.Entry{Source: source, Run: run, Session: session, Kinds: kinds, Data: fmt.Appendf(nil, "%s|%s|%s|%d", source, run, session, kinds)})
			}
		}
	}
	return all
}

// TestSelections checks that a selection gives the same frames live and from the replay buffer.
func TestSelections(t *testing.T) {
	text, failure := replay.KindsOf(event.KindText), replay.KindsOf(event.KindError)
	bound := func(sessions ...string) []string { return append([]string{}, sessions...) }
	for _, test := range []struct {
		path  string
		grant []string
		want  func(replay.Entry) bool
	}{
		{"/events", nil, func(replay.Entry) bool { return true }},
		{"/events?format=native", nil, func(replay.Entry) bool { return true }},
		{"/events?source=a", nil, func(e replay.Entry) bool { return e.Source == "a" }},
		{"/events?source=a&source=b", nil, func(replay.Entry) bool { return true }},
		{"/events?source=A", nil, func(replay.Entry) bool { return false }},
		{"/events?run=rac1", nil, func(e replay.Entry) bool { return e.Run == "rac1" }},
		{"/events?run=rac1&source=b", nil, func(replay.Entry) bool { return false }},
		{"/events?kind=text", nil, func(e replay.Entry) bool { return e.Kinds&text != 0 }},
		{"/events?kind=text&kind=error", nil, func(e replay.Entry) bool { return e.Kinds&(text|failure) != 0 }},
		{"/events/c1", nil, func(e replay.Entry) bool { return e.Session == "c1" }},
		{"/events/c%202%2Fx", nil, func(e replay.Entry) bool { return e.Session == "c 2/x" }},
		{"/events/c1?kind=error&source=a", nil, func(e replay.Entry) bool { return e.Session == "c1" && e.Kinds&failure != 0 && e.Source == "a" }},
		{"/events/unknown", nil, func(replay.Entry) bool { return false }},
		{"/events", bound("c1"), func(e replay.Entry) bool { return e.Session == "c1" }},
		{"/events", bound("c1", "c 2/x"), func(e replay.Entry) bool { return e.Session != "" }},
		{"/events", bound("c1", ""), func(e replay.Entry) bool { return e.Session == "c1" }},
		{"/events", bound(""), func(replay.Entry) bool { return false }},
		{"/events", bound(), func(replay.Entry) bool { return false }},
		{"/events/c1", bound("c1"), func(e replay.Entry) bool { return e.Session == "c1" }},
		{"/events/c1", bound("other"), func(replay.Entry) bool { return false }},
		{"/events/c1?source=a", bound("c1", "other"), func(e replay.Entry) bool { return e.Session == "c1" && e.Source == "a" }},
		{"/events?run=rac1", bound("c 2/x"), func(replay.Entry) bool { return false }},
	} {
		t.Run(fmt.Sprint(test.path, test.grant), func(t *testing.T) {
			bubble(t, func(set *Settings) {
				set.Authorize = func(*http.Request) (Grant, error) { return Grant{Sessions: test.grant}, nil }
			}, func(s *stand) {
				live := s.get(test.path)
				var want []string
				for i, e := range entries() {
					s.hub.store.Publish(e)
					if test.want(e) {
						want = append(want, fmt.Sprintf("e-%d message %s", i+1, e.Data))
					}
				}
				s.settle()
				replayed := s.get(test.path, "Last-Event-ID: e-0")
				begun := s.get(test.path, "Last-Event-ID: nonsense")
				for name, c := range map[string]*client{"live": live, "replayed": replayed, "behind a gap": begun} {
					got, _ := received(s.T, c.take())
					if c == begun && len(got) > 0 {
						got = got[1:]
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						s.Errorf("%s: got %q, want %q", name, got, want)
					}
					if c.ended() {
						s.Errorf("%s: the stream ended", name)
					}
				}
			})
		})
	}
}

// TestForbiddenLooksUnknown checks that the response for a session that is not granted equals that for an unknown
// session, in bytes and in time.
func TestForbiddenLooksUnknown(t *testing.T) {
	var bodies []string
	for _, path := range []string{"/events/secret", "/events/nothing"} {
		bubble(t, func(set *Settings) {
			set.Replay.Frames = 3
			set.Authorize = func(*http.Request) (Grant, error) { return Grant{Sessions: []string{"mine"}}, nil }
		}, func(s *stand) {
			c := s.get(path, "Last-Event-ID: e-0")
			for range 10 {
				s.hub.store.Publish(replay.Entry{Session: "secret", Data: []byte("secret")})
				s.settle()
				time.Sleep(4 * time.Second)
			}
			s.settle()
			bodies = append(bodies, c.take())
			c.leave()
			again := s.get(path, "Last-Event-ID: e-1")
			bodies[len(bodies)-1] += again.take()
		})
	}
	if bodies[0] != bodies[1] || strings.Contains(bodies[0], "data: secret") {
		t.Errorf("forbidden:\n%s\nunknown:\n%s", bodies[0], bodies[1])
	}
}

func TestUnauthorized(t *testing.T) {
	bubble(t, func(set *Settings) {
		set.Authorize = func(*http.Request) (Grant, error) { return Grant{}, errors.New("token abc123 is no good") }
	}, func(s *stand) {
		s.hub.store.Publish(say("secret"))
		for _, path := range []string{"/events", "/events/c", "/events?last_event_id=e-0"} {
			c := s.get(path)
			response, body := c.response(s.T)
			if response.StatusCode != 401 || response.Header.Get("WWW-Authenticate") != "Bearer" || strings.Contains(body, "abc123") || strings.Contains(body, "secret") {
				s.Errorf("%s: %d %v %q", path, response.StatusCode, response.Header, body)
			}
			c.leave()
		}
		s.counted("refused unauthorized status", 3)
	})
}

func TestLastEventID(t *testing.T) {
	for _, test := range []struct {
		path, header, from string
	}{
		{"/events", "Last-Event-ID: e-1", "e-1"},
		{"/events?last_event_id=e-2", "", "e-2"},
		{"/events?lastEventId=e-2", "", "e-2"},
		{"/events?last_event_id=e-1&lastEventId=e-2", "", "e-1"},
		{"/events?last_event_id=e-2", "last-event-id: e-1", "e-1"},
		{"/events?last_event_id=e-2", "Last-Event-ID:", "e-2"},
		{"/events", "Last-Event-ID:", "e-3"},
		{"/events?last_event_id=", "", "e-3"},
	} {
		bubble(t, nil, func(s *stand) {
			for i := range 3 {
				s.hub.store.Publish(say(strconv.Itoa(i)))
			}
			header := []string{test.header}
			if test.header == "" {
				header = nil
			}
			if got := s.get(test.path, header...).take(); !strings.HasPrefix(got, "id: "+test.from+"\n: open\n\n") {
				s.Errorf("%s %s: %q", test.path, test.header, got)
			}
		})
	}
}

func TestCORS(t *testing.T) {
	const allowed, other = "https://app.example.org", "https://evil.example.org"
	preflight := []string{"Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization,last-event-id"}
	for _, test := range []struct {
		origins []string
		origin  string
		allow   bool
	}{
		{nil, allowed, false},
		{[]string{allowed}, allowed, true},
		{[]string{allowed}, other, false},
		{[]string{allowed}, allowed + ".evil.org", false},
		{[]string{allowed}, strings.ToUpper(allowed), false},
		{[]string{allowed}, "http://app.example.org", false},
		{[]string{allowed}, "null", false},
		{[]string{"*"}, other, false},
		{[]string{""}, "", false},
		{[]string{other, allowed}, allowed, true},
	} {
		bubble(t, func(set *Settings) { set.AllowedOrigins = test.origins }, func(s *stand) {
			origin := "Origin: " + test.origin
			want := map[bool]string{true: test.origin}[test.allow]
			c := s.get("/events", origin)
			response, _ := c.response(s.T)
			if got := response.Header.Get("Access-Control-Allow-Origin"); got != want || response.Header.Get("Vary") != "Origin" {
				s.Errorf("%q of %q: %v", test.origin, test.origins, response.Header)
			}
			if response.Header.Get("Access-Control-Allow-Credentials") != "" {
				s.Error("the response allows cookies")
			}
			c.leave()
			asks := s.request("OPTIONS", "/events/c", append(preflight, origin)...)
			go asks.listen()
			s.settle()
			response, _ = asks.response(s.T)
			header := response.Header
			if response.StatusCode != 204 || header.Get("Access-Control-Allow-Origin") != want || header.Get("Vary") != "Origin" {
				s.Errorf("preflight of %q for %q: %d %v", test.origin, test.origins, response.StatusCode, header)
			}
			if test.allow != (header.Get("Access-Control-Allow-Headers") == "Authorization, Last-Event-ID") || test.allow != strings.Contains(header.Get("Access-Control-Allow-Methods"), "GET") {
				s.Errorf("preflight of %q for %q: %v", test.origin, test.origins, header)
			}
			asks.leave()
			plain := s.request("OPTIONS", "/events", origin) // no preflight without a requested method
			go plain.listen()
			s.settle()
			if response, _ := plain.response(s.T); response.StatusCode != 405 {
				s.Errorf("OPTIONS: %d", response.StatusCode)
			}
			plain.leave()
		})
	}
}

// TestSettings checks that every limit is required.
func TestSettings(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"subscribers": func(s *Settings) { s.MaxSubscribers = 0 },
		"per token":   func(s *Settings) { s.MaxSubscribersPerToken = 0 },
		"heartbeat":   func(s *Settings) { s.Heartbeat = 0 },
		"deadline":    func(s *Settings) { s.WriteDeadline = 0 },
		"life":        func(s *Settings) { s.MaxLifetime = 0 },
		"recheck":     func(s *Settings) { s.RecheckInterval = -1 },
		"replay":      func(s *Settings) { s.Replay.Age = 0 },
	} {
		set := settings(newTally())
		change(&set)
		if _, err := New(set); err == nil || !strings.Contains(err.Error(), "must be more than 0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDropsAreCounted checks that frames that are too large are counted as dropped.
func TestDropsAreCounted(t *testing.T) {
	bubble(t, func(set *Settings) { set.Replay.Bytes = 100 }, func(s *stand) {
		s.hub.store.Publish(say(strings.Repeat("x", 200)))
		s.hub.store.Publish(replay.Entry{Name: "a\nb"})
		s.counted("dropped too_large", 1)
		s.counted("dropped bad_name", 1)
	})
}

// TestUnboundedWrites checks that a request is refused if a middleware hides the write deadline.
func TestUnboundedWrites(t *testing.T) {
	hub, err := New(settings(newTally()))
	if err != nil {
		t.Fatal(err)
	}
	w := &plainWriter{header: http.Header{}}
	hub.Handler().ServeHTTP(w, mustRequest(t, "/events"))
	if w.status != 500 {
		t.Errorf("status %d", w.status)
	}
}

type plainWriter struct {
	header http.Header
	status int
}

func (o *plainWriter) Header() http.Header         { return o.header }
func (o *plainWriter) Write(p []byte) (int, error) { return len(p), nil }
func (o *plainWriter) WriteHeader(status int)      { o.status = status }

func mustRequest(t *testing.T, path string) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClosedLists checks that every name is unique and usable as a label value.
func TestClosedLists(t *testing.T) {
	lists := map[string][]string{}
	for _, d := range Disconnects() {
		lists["disconnects"] = append(lists["disconnects"], string(d))
	}
	for _, r := range Refusals() {
		lists["refusals"] = append(lists["refusals"], string(r))
	}
	for _, a := range RefusalResponses() {
		lists["answers"] = append(lists["answers"], string(a))
	}
	for _, o := range ResumeOutcomes() {
		lists["outcomes"] = append(lists["outcomes"], string(o))
	}
	for _, d := range replay.Drops() {
		lists["drops"] = append(lists["drops"], string(d))
	}
	for name, list := range lists {
		seen := map[string]bool{}
		for _, value := range list {
			if seen[value] || value == "" || strings.Trim(value, "abcdefghijklmnopqrstuvwxyz_") != "" {
				t.Errorf("%s: %q", name, value)
			}
			seen[value] = true
		}
	}
	for _, refusal := range Refusals() {
		if refusal != Unauthorized && refusalTexts[refusal] == "" {
			t.Errorf("the refusal %s has no text", refusal)
		}
	}
}
