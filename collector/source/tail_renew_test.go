package source

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector/event"
)

// scriptedServer serves streams with the frames of a test. It reports each request and each closed connection.
type scriptedServer struct {
	*httptest.Server
	asked chan http.Header
	says  chan string
	left  chan struct{}
}

func newScriptedServer(t *testing.T) *scriptedServer {
	t.Helper()
	s := &scriptedServer{asked: make(chan http.Header, 10), says: make(chan string), left: make(chan struct{}, 10)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked <- r.Header
		if r.Header.Get("Authorization") == "revoked" {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case frame := <-s.says:
				_, _ = io.WriteString(w, frame)
			case <-r.Context().Done():
				s.left <- struct{}{}
				return
			}
		}
	}))
	return s
}

func authorization(value string) map[string]func() (string, error) {
	return map[string]func() (string, error){"Authorization": func() (string, error) { return value, nil }}
}

// TestTailRenews checks that new headers make an open stream reconnect without a pause, resume after its last frame, and remain one stream.
func TestTailRenews(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, server := &tailRecorder{limit: 100}, newScriptedServer(t)
	defer server.Close()
	tail := newTail(TailSettings{Name: "support", URL: server.URL, Dialect: "adk", Headers: authorization("one")}, a)
	defer tail.CloseIdle()
	ctx, stop := context.WithCancel(t.Context())
	a.stop = stop
	over, heard := make(chan struct{}), make(chan struct{}, 100)
	go func() { defer close(over); tail.Run(ctx, "", func() { heard <- struct{}{} }) }()
	last := ""
	for i, token := range []string{"one", "two", "three"} {
		if i > 0 {
			tail.SetHeaders(authorization(token))
			<-server.left
		}
		asked := <-server.asked
		if got, id := asked.Get("Authorization"), asked.Get("Last-Event-ID"); got != token || id != last {
			t.Errorf("the tail requests with %q after the id %q, want %q after %q", got, id, token, last)
		}
		if last != "" {
			server.says <- says(last, "support")
			<-heard
		}
		last = fmt.Sprint(i + 1)
		server.says <- says(last, "support")
		<-heard
	}
	stop()
	<-over
	want := []string{"open ", "up true", "1 support", "again", "up true", "repeated", "2 support", "again", "up true", "repeated", "3 support", "close stopped"}
	if diff := cmp.Diff(want, a.got); diff != "" || len(a.waited) > 1 { // in the last pause, the test stops the tail
		t.Errorf("the tail waits %v and its reports differ (-want +got):\n%s", a.waited, diff)
	}
}

// TestTailRenewsInPause checks that new headers end the pause after a rejection.
func TestTailRenewsInPause(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, server := &tailRecorder{limit: 100}, newScriptedServer(t)
	defer server.Close()
	tail := newTail(TailSettings{Name: "support", URL: server.URL, Dialect: "adk", Headers: authorization("revoked")}, a)
	defer tail.CloseIdle()
	pausing := make(chan struct{}, 10)
	tail.pause = func(ctx context.Context, _ time.Duration) error {
		pausing <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, stop := context.WithCancel(t.Context())
	over, heard := make(chan struct{}), make(chan struct{}, 10)
	go func() { defer close(over); tail.Run(ctx, "", func() { heard <- struct{}{} }) }()
	<-pausing
	tail.SetHeaders(authorization("valid"))
	<-server.asked
	if got := (<-server.asked).Get("Authorization"); got != "valid" {
		t.Errorf("the tail requests with %q", got)
	}
	server.says <- says("1", "support")
	<-heard
	if len(pausing) > 0 {
		t.Error("the tail pauses again")
	}
	stop()
	<-over
}

// TestSessionsConfigured checks that a lower limit ends the sessions that have been idle longest.
func TestSessionsConfigured(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, server := &tailRecorder{limit: 100}, newScriptedServer(t)
	defer server.Close()
	sessions := NewSessions(newTail(TailSettings{
		Name: "support", URL: server.URL + "/{session}", SessionPlaceholder: "{session}", Dialect: "adk", MaxSessions: 3, IdleTimeout: time.Hour,
	}, a))
	defer sessions.tail.CloseIdle()
	a.stop = func() {}
	for _, name := range []string{"a", "b", "c"} {
		sessions.Open(name)
		<-server.asked
	}
	sessions.Open("a")
	sessions.Configure(1, time.Minute)
	<-server.left
	<-server.left
	if got := sessions.Names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the open sessions are %q", got)
	}
	sessions.Close()
	if n := len(slices.DeleteFunc(a.got, func(noted string) bool { return noted != "evicted" })); n != 2 {
		t.Errorf("%d sessions are counted as evicted", n)
	}
}

// closingSink is a sink whose first Close waits.
type closingSink struct {
	*tailRecorder
	closing, release chan struct{}
	once             sync.Once
}

func (s *closingSink) Close(stream *event.Stream, end event.End, at time.Time) {
	s.once.Do(func() {
		close(s.closing)
		<-s.release
	})
	s.tailRecorder.Close(stream, end, at)
}

// TestOpenOfEndingSession checks that a session is read again that is opened while its idle stream ends.
func TestOpenOfEndingSession(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, server := &tailRecorder{limit: 100}, newScriptedServer(t)
	defer server.Close()
	a.stop = func() {}
	sink := &closingSink{tailRecorder: a, closing: make(chan struct{}), release: make(chan struct{})}
	sessions := NewSessions(newTailInto(TailSettings{
		Name: "support", URL: server.URL + "/{session}", SessionPlaceholder: "{session}", Dialect: "adk", MaxSessions: 3, IdleTimeout: 50 * time.Millisecond,
	}, sink, a))
	defer sessions.tail.CloseIdle()
	sessions.Open("a")
	<-server.asked
	<-sink.closing
	sessions.Configure(3, time.Hour)
	sessions.Open("a")
	close(sink.release)
	select {
	case <-server.asked:
	case <-time.After(10 * time.Second):
		t.Error("the session is not read again")
	}
	if got := sessions.Names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the open sessions are %q", got)
	}
	sessions.Close()
}
