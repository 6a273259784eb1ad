package source

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// TestSessionWaitsForAnswer checks when the frames of a session's stream are observed while a request of the session has no
// answer yet. The steps are:
//   - "+s" opens the session's stream, "+o" that of another session
//   - "?a" sends a request, "?a!" one that resumes a run
//   - "+a" is its answer, "-a" its end without one
//   - "s:1" is a frame
//   - "~" is a pause
func TestSessionWaitsForAnswer(t *testing.T) {
	for _, c := range []struct{ name, steps, want string }{
		{"the session is first", "+s ?a s:1 +a a:1 s:2 a:2", "s+ a+ a:1 s:1 s:2 a:2 "},
		{"the answer is first", "+s ?a +a a:1 s:1", "s+ a+ a:1 s:1 "},
		{"a frame from before the request", "+s s:0 ?a s:1 +a a:1", "s+ s:0 a+ a:1 s:1 "},
		{"the session's stream is requested later", "?a +s s:1 +a a:1", "s+ a+ a:1 s:1 "},
		{"a request that resumes", "+s s:0 ?a! s:1 +a a:1", "s+ s:0 a+ a:1 s:1 "},
		{"no answer", "+s ?a s:1 -a s:2", "s+ s:1 s:2 "},
		{"no answer for a long time", "+s ?a s:1 ~ s:2 +a a:1", "s+ s:1 s:2 a+ a:1 "},
		{"another session", "+o ?a o:1 +a a:1", "o+ o:1 a+ a:1 "},
	} {
		for _, filtered := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				if got := observedOfSession(t, strings.Fields(c.steps), filtered); got != c.want {
					t.Errorf("%s, filtered %t: observed %s, want %s", c.name, filtered, got, c.want)
				}
			})
		}
	}
}

func observedOfSession(t *testing.T, steps []string, filtered bool) string {
	t.Helper()
	sink := &listingSink{}
	p := newGatedProxy(sink, filtered)
	p.settings.Dialect = ""
	requests, agents := map[string]*http.Request{}, map[string]*io.PipeWriter{}
	for _, step := range steps {
		name := strings.Trim(step, "+-?!:0123456789")
		if step[0] == '?' || step[0] == '+' && name != "a" {
			requests[name] = askLangGraph(p, name, step)
		}
		switch {
		case step == "~":
			time.Sleep(2 * maxRequestWait)
		case step[0] == '+':
			agents[name] = answer(t, p, requests[name])
		case step[0] == '-':
			p.finish(forwardedOf(requests[name].Context()).exchange)
		case step[0] != '?':
			_, _ = fmt.Fprintf(agents[name], "event: metadata\ndata: {\"run_id\":%q,\"attempt\":1}\n\n", step)
		}
		time.Sleep(maxObserveDelay)
		synctest.Wait()
	}
	got := sink.String()
	for _, agent := range agents {
		_ = agent.Close()
	}
	p.Wait()
	return got
}

func askLangGraph(p *Proxy, name, step string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/threads/"+name+"/stream", http.NoBody)
	if name == "a" {
		body := `{"input":{}}`
		if strings.HasSuffix(step, "!") {
			body = `{"command":{"resume":true}}`
		}
		r = httptest.NewRequest(http.MethodPost, "/threads/s/runs/stream", strings.NewReader(body))
	}
	body := newRequestBody(r)
	x := p.begin(r, &exchange{route: p.route(r), body: body})
	r = withForwarded(r, &forwardedRequest{body: body, exchange: x})
	_, _ = io.ReadAll(body)
	return r
}

func answer(t *testing.T, p *Proxy, r *http.Request) *io.PipeWriter {
	t.Helper()
	from, agent := io.Pipe()
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: from, Request: r}
	if err := p.prepareAnswer(resp); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}()
	return agent
}

// listingSink lists the streams that open and the frames.
type listingSink struct {
	mu sync.Mutex
	strings.Builder
}

func (l *listingSink) Open(s *event.Stream) {
	l.add(l.nameOf(s) + "+")
}

func (l *listingSink) Consume(b *event.Batch) { l.add(b.Run) }

func (*listingSink) Close(*event.Stream, event.End, time.Time) {}

func (*listingSink) nameOf(s *event.Stream) string {
	if s.JoinedSession == "" {
		return "a"
	}
	return s.JoinedSession
}

func (l *listingSink) add(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.WriteString(what + " ")
}

// TestSessionStreamsDoNotWait checks that no stream waits for the first frame of a session's stream, which begins no run. Not even
// that stream itself does.
func TestSessionStreamsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrder()
		for range 3 {
			q := newQueue[chunk](1<<20, nil, time.Now, func(string, int) {})
			o.add(q, &event.Stream{Identity: event.Identity{JoinedSession: "s"}}, o.expect("s"))
			synctest.Wait()
			for stream := range o.sessionStreams {
				for _, e := range stream.(*queue[chunk]).waiting {
					if e.barrier.after != nil && !isClosed(e.barrier.after) {
						t.Error("a session's stream waits for the first frame of one")
					}
				}
			}
		}
	})
}

// TestManyOfSession checks that the cost of a request does not grow with the streams of its session.
func TestManyOfSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const streams, requests = 100, 50
		o := newOrder()
		var all []*queue[chunk]
		for range streams {
			q := newQueue[chunk](1<<20, nil, time.Now, func(string, int) {})
			o.add(q, &event.Stream{Identity: event.Identity{JoinedSession: "s"}}, newFirstFrame()) // nothing is observed
			all = append(all, q)
		}
		var frames []*firstFrame
		for range requests {
			frames = append(frames, o.expect("s"))
		}
		held, waits := 0, map[<-chan struct{}]bool{} // a goroutine for each channel
		for _, q := range all {
			before := held
			for _, e := range q.waiting {
				if e.barrier.after == nil {
					continue
				}
				held++
				waits[e.barrier.after] = true
			}
			if waiting := len(q.waiting) - (held - before); waiting > maxEarlier {
				t.Errorf("%d later streams wait for one, want at most %d", waiting, maxEarlier)
			}
		}
		if held != requests*maxHeld || len(waits) != requests {
			t.Errorf("%d streams wait for %d channels, want %d for each of %d", held, len(waits), maxHeld, requests)
		}
		for _, f := range frames {
			o.abandon(f)
		}
		synctest.Wait()
		for after := range waits {
			if !isClosed(after) {
				t.Error("a stream waits for a request that has ended")
			}
		}
	})
}
