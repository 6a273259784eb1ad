package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/test/subprocess"
)

// oratorMain is the program orator ADDRESS: an agent that says on every stream what is posted to /say, and goes on behind
// Last-Event-ID. A stream of /run_sse ends when something is posted to /over; that of /events does not.
func oratorMain() {
	s := &orator{changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /say", s.say)
	mux.HandleFunc("POST /over", func(http.ResponseWriter, *http.Request) { s.change(func() { s.over, s.said = true, nil }) })
	mux.HandleFunc("POST /run_sse", s.answer)
	mux.HandleFunc("GET /events", s.answer)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], mux))
	os.Exit(1)
}

// orator keeps what it has said.
type orator struct {
	mu      sync.Mutex
	said    [][]byte
	over    bool
	changed chan struct{} // closed at the next change
}

func (s *orator) change(to func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *orator) say(_ http.ResponseWriter, r *http.Request) {
	words, _ := io.ReadAll(r.Body)
	s.change(func() { s.said, s.over = append(s.said, words), false })
}

// heard is where a stream goes on: behind the last words with that id.
func (s *orator) heard(last string) (next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, words := range s.said {
		if last != "" && bytes.HasPrefix(words, []byte("id: "+last+"\n")) {
			next = i + 1
		}
	}
	return next
}

func (s *orator) answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for next := s.heard(r.Header.Get("Last-Event-ID")); ; {
		s.mu.Lock()
		words, over, changed := s.said[min(next, len(s.said)):], s.over && r.Method == http.MethodPost, s.changed
		s.mu.Unlock()
		for _, w2 := range words {
			_, _ = w.Write(w2)
			_ = http.NewResponseController(w).Flush()
		}
		if next += len(words); over {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// oration is a orator's process.
type oration struct {
	*process
	address string
}

// startOrator starts one at an address, behind a shell's words if there are any.
func startOrator(t *testing.T, address string, before ...string) *oration {
	t.Helper()
	line := strings.Join(before, " ") + ` exec orator "$0"`
	return &oration{start(t, subprocess.Command("/bin/sh", "-c", line, address)), address}
}

// say has the agent say something as soon as it can.
func (s *oration) say(t *testing.T, words string) {
	t.Helper()
	s.post(t, "/say", words)
}

// end has the streams of runs end.
func (s *oration) end(t *testing.T) {
	t.Helper()
	s.post(t, "/over", "")
}

func (s *oration) post(t *testing.T, path, words string) {
	t.Helper()
	var resp *http.Response
	if err := persist(func() (err error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+path, strings.NewReader(words))
		if err != nil {
			return err
		}
		r.Close = true
		resp, err = http.DefaultClient.Do(r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// story is a turn as Looopy's servers send it, with ids from one on: a run, a call, its response, a text and the end.
func story() (frames []string) {
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
