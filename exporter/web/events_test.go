package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// taker is a response writer that can be read while it is written.
type taker struct {
	*httptest.ResponseRecorder
	mu       sync.Mutex
	deadline time.Time // of the writes
	limited  int       // writes with a deadline
}

func (t *taker) SetWriteDeadline(at time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deadline = at
	return nil
}

func (t *taker) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.deadline.IsZero() {
		t.limited++
	}
	return t.ResponseRecorder.Write(p)
}

func (t *taker) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.Body.Reset()
	return t.Body.String()
}

// TestEvents checks that changes are sent as events, that changes in quick succession share one, and that heartbeats are sent.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var version atomic.Uint64
		version.Store(3)
		ctx, leave := context.WithCancel(t.Context())
		w := &taker{ResponseRecorder: httptest.NewRecorder()}
		done := make(chan struct{})
		go func() {
			newEvents(version.Load).ServeHTTP(w, httptest.NewRequest("GET", "/runs/events", nil).WithContext(ctx))
			close(done)
		}()
		synctest.Wait()
		said := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := w.take(); got != want {
				t.Errorf("%q; want %q", got, want)
			}
		}
		said("retry: 2000\nid: 3\nevent: runs\ndata: {\"version\":3}\n\n")
		version.Store(4)
		version.Store(5)
		time.Sleep(minEventInterval)
		said("id: 5\nevent: runs\ndata: {\"version\":5}\n\n")
		time.Sleep(heartbeatInterval - time.Second)
		said("")
		time.Sleep(2 * time.Second)
		said(":\n\n")
		leave()
		<-done
		if w.limited != 3 || !w.deadline.IsZero() { // with HTTP/2, a deadline that passes later resets the stream
			t.Errorf("%d of 3 writes had a deadline, and the last one is still set: %v", w.limited, w.deadline)
		}
		if got := w.Result().Header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("Content-Type: %s", got)
		}
	})
}

// TestEventsAreBounded checks the limit of watching pages, and that a page that leaves makes room for another.
func TestEventsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEvents(func() uint64 { return 1 })
		ctx, leave := context.WithCancel(t.Context())
		follow := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			go e.ServeHTTP(w, httptest.NewRequest("GET", "/runs/events", nil).WithContext(ctx))
			synctest.Wait()
			return w
		}
		for range maxWatchers {
			if w := follow(); w.Code != http.StatusOK {
				t.Fatalf("%d", w.Code)
			}
		}
		if w := follow(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("one too many: %d", w.Code)
		}
		leave()
		synctest.Wait()
		ctx, leave = context.WithCancel(t.Context())
		defer leave()
		if w := follow(); w.Code != http.StatusOK {
			t.Errorf("once all have gone: %d", w.Code)
		}
	})
}

// TestHeadOfEvents checks that a HEAD request ends at once and its connection can be reused.
func TestHeadOfEvents(t *testing.T) {
	s := serve(t, Handler(settings()), "", time.Hour)
	for range maxWatchers + 1 {
		answer, err := http.Head("http://" + s.address + "/runs/events")
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%s %v", answer.Status, answer.Header)
		}
	}
	if status, body := fetch(t, http.DefaultClient, "http://"+s.address+"/-/healthy"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// TestEventsEndWithTheServer checks that a watching page does not delay the shutdown.
func TestEventsEndWithTheServer(t *testing.T) {
	s := serve(t, Handler(settings()), "", time.Hour)
	answer, err := http.Get("http://" + s.address + "/runs/events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	if err := s.end(); err != nil {
		t.Error(err)
	}
}
