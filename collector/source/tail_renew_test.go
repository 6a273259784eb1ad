package source

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// saying is a server of streams: each connection is told of, and says what it is given until it is closed.
type saying struct {
	*httptest.Server
	asked chan http.Header
	says  chan string
	left  chan struct{}
}

func newSaying(t *testing.T) *saying {
	t.Helper()
	s := &saying{asked: make(chan http.Header, 10), says: make(chan string), left: make(chan struct{}, 10)}
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

// TestTailRenews gives a subscription other headers while a stream is open, twice: it goes on as one stream, from where it was,
// without a pause, and what comes again is known.
func TestTailRenews(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, server := &audience{limit: 100}, newSaying(t)
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
			tail.Renew(authorization(token))
			<-server.left
		}
		asked := <-server.asked
		if got, id := asked.Get("Authorization"), asked.Get("Last-Event-ID"); got != token || id != last {
			t.Errorf("asked with %q behind %q, not %q behind %q", got, id, token, last)
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
	if diff := cmp.Diff(want, a.got); diff != "" || len(a.waited) > 1 { // the last, in which it is stopped
		t.Errorf("waited %v, noted (-want +got):\n%s", a.waited, diff)
	}
}

// TestTailRenewsInAPause has a server that refuses what the subscription sends: once it has something else to send, it asks at once.
func TestTailRenewsInAPause(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, server := &audience{limit: 100}, newSaying(t)
	defer server.Close()
	tail := newTail(TailSettings{Name: "support", URL: server.URL, Dialect: "adk", Headers: authorization("revoked")}, a)
	defer tail.CloseIdle()
	pausing := make(chan time.Duration, 10)
	tail.pause = func(ctx context.Context, d time.Duration) error {
		pausing <- d
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, stop := context.WithCancel(t.Context())
	over, heard := make(chan struct{}), make(chan struct{}, 10)
	go func() { defer close(over); tail.Run(ctx, "", func() { heard <- struct{}{} }) }()
	if d := <-pausing; d < longestPause {
		t.Errorf("pauses for %v after a refusal", d)
	}
	tail.Renew(authorization("valid"))
	<-server.asked
	if got := (<-server.asked).Get("Authorization"); got != "valid" {
		t.Errorf("asked with %q", got)
	}
	server.says <- says("1", "support")
	<-heard
	if len(pausing) > 0 {
		t.Errorf("paused again, for %v", <-pausing)
	}
	stop()
	<-over
}

// TestSessionsConfigured narrows the bounds of open sessions: the one that was silent for longest goes.
func TestSessionsConfigured(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, server := &audience{limit: 100}, newSaying(t)
	defer server.Close()
	sessions := NewSessions(newTail(TailSettings{
		Name: "support", URL: server.URL + "/{session}", Session: "{session}", Dialect: "adk", MaxSessions: 3, Idle: time.Hour,
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
		t.Errorf("open are %q", got)
	}
	sessions.Close()
	if n := len(slices.DeleteFunc(a.got, func(noted string) bool { return noted != "evicted" })); n != 2 {
		t.Errorf("%d were counted as evicted", n)
	}
}
