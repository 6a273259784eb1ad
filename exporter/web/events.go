package web

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// events tells pages that there is something new to be fetched, and nothing of what it is: so a page shows live what it shows
// anyway, and a reader that was away has missed nothing once it has fetched again.
type events struct {
	version  func() uint64
	watchers atomic.Int64
}

const (
	maxWatchers = 100                    // pages that follow at once
	eventPause  = 700 * time.Millisecond // between two changes that a page is told of
	eventBeat   = 15 * time.Second       // without a change, a comment is sent
	eventWrite  = 5 * time.Second        // a page that takes nothing for so long is let go
)

func newEvents(version func() uint64) *events { return &events{version: version} }

func (e *events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer e.watchers.Add(-1)
	if e.watchers.Add(1) > maxWatchers {
		w.Header().Set("Retry-After", "10")
		say(w, http.StatusServiceUnavailable, "too many pages follow the runs at once")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead { // the answer to it ends with its header
		return
	}
	stop, _ := r.Context().Value(stopping{}).(<-chan struct{})
	tick := time.NewTicker(eventPause)
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
		} else if time.Since(last) >= eventBeat {
			text = ":\n\n"
		}
	}
}

// push writes to a reader, and says whether it takes what it is given.
func push(w http.ResponseWriter, text string) bool {
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Now().Add(eventWrite)) // which a test's recorder has not
	if _, err := w.Write([]byte(text)); err != nil {
		return false
	}
	return out.Flush() == nil
}
