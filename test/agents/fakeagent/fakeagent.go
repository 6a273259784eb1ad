// Package fakeagent has programs that stand in for agents and send what a test tells them to.
package fakeagent

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

// Main is the program "fake-agent ADDRESS". On every stream it sends what is posted to /say. A stream continues after the frame that
// Last-Event-ID names. A stream of /run_sse ends when something is posted to /over; one of /events does not.
func Main() {
	a := &agent{changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /say", a.say)
	mux.HandleFunc("POST /over", func(http.ResponseWriter, *http.Request) { a.change(func() { a.over, a.sent = true, nil }) })
	mux.HandleFunc("POST /run_sse", a.answer)
	mux.HandleFunc("GET /events", a.answer)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], mux))
	os.Exit(1)
}

// agent remembers what it has sent.
type agent struct {
	mu      sync.Mutex
	sent    [][]byte
	over    bool
	changed chan struct{} // closed at the next change
}

// change changes the agent's state and wakes its streams.
func (a *agent) change(to func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	to()
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *agent) say(_ http.ResponseWriter, r *http.Request) {
	frames, _ := io.ReadAll(r.Body)
	a.change(func() { a.sent, a.over = append(a.sent, frames), false })
}

// resume returns the index of what follows the last post that begins with an event ID, 0 without one.
func (a *agent) resume(id string) (next int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, frames := range a.sent {
		if id != "" && bytes.HasPrefix(frames, []byte("id: "+id+"\n")) {
			next = i + 1
		}
	}
	return next
}

func (a *agent) answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for next := a.resume(r.Header.Get("Last-Event-ID")); ; {
		a.mu.Lock()
		posts, over, changed := a.sent[min(next, len(a.sent)):], a.over && r.Method == http.MethodPost, a.changed
		a.mu.Unlock()
		for _, frames := range posts {
			_, _ = w.Write(frames)
			_ = http.NewResponseController(w).Flush()
		}
		if next += len(posts); over {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// LooopyTurn returns the frames of a turn as Looopy's servers send them, with event IDs from ctx-1: a run, a call, its response, a
// text and the end.
func LooopyTurn() (frames []string) {
	for i, frame := range [][2]string{
		{"task-created", `"initiator":"user"`},
		{"tool-start", `"toolCallId":"c1","toolName":"look","arguments":{}`},
		{"tool-complete", `"toolCallId":"c1","toolName":"look","success":true`},
		{"content-delta", `"delta":"la"`},
		{"content-complete", `"content":"la","finishReason":"stop"`},
		{"task-complete", `"content":"la"`},
	} {
		frames = append(frames, fmt.Sprintf("id: ctx-%d\nevent: %s\ndata: {\"taskId\":\"t1\",%s}\n\n", i+1, frame[0], frame[1]))
	}
	return frames
}
