package web

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// events notifies pages of changes. An event has no details: a page fetches itself again, so a page
// that was disconnected is complete after its next fetch.
type events struct {
	version  func() uint64
	watchers atomic.Int64
}

const (
	maxWatchers       = 100                    // pages that follow the runs at once
	minEventInterval  = 700 * time.Millisecond // between two events
	heartbeatInterval = 15 * time.Second       // without an event, after which a comment is sent
	eventWriteTimeout = 5 * time.Second        // after which a page that reads nothing is disconnected
)

func newEvents(version func() uint64) *events { return &events{version: version} }

func (e *events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer e.watchers.Add(-1)
	if e.watchers.Add(1) > maxWatchers {
		w.Header().Set("Retry-After", "10")
		writeText(w, http.StatusServiceUnavailable, "too many pages follow the runs; try again later")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead { // no body
		return
	}
	stop, _ := r.Context().Value(shutdownKey{}).(<-chan struct{})
	tick := time.NewTicker(minEventInterval)
	defer tick.Stop()
	sent := e.version()
	text := fmt.Sprintf("retry: 2000\nid: %d\nevent: runs\ndata: {\"version\":%d}\n\n", sent, sent)
	for last := time.Now(); ; {
		if text != "" {
			if !push(w, text) {
				return
			}
			last = time.Now()
		}
		select {
		case <-r.Context().Done():
			return
		case <-stop:
			return
		case <-tick.C:
		}
		text = ""
		if now := e.version(); now != sent {
			sent = now
			text = fmt.Sprintf("id: %d\nevent: runs\ndata: {\"version\":%d}\n\n", sent, sent)
		} else if time.Since(last) >= heartbeatInterval {
			text = ":\n\n"
		}
	}
}

// push writes and flushes text, and reports whether that succeeded.
func push(w http.ResponseWriter, text string) bool {
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Now().Add(eventWriteTimeout)) // not supported by a test's recorder
	if _, err := w.Write([]byte(text)); err != nil {
		return false
	}
	if err := out.Flush(); err != nil {
		return false
	}
	_ = out.SetWriteDeadline(time.Time{}) // with HTTP/2, a deadline that passes later resets the stream
	return true
}
