// Package studioserver is an ADK Studio server for tests: its HTTP API, with recordings as workflow
// executions.
package studioserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"sync"

	"github.com/delegraph/delegraph/collector/sse"
)

// Server executes a workflow by playing a recording: a stream with the input NAME gets the file
// NAME.sse. At each interrupt it waits until a request resumes the session. Like the real server,
// it does not end the execution when a stream breaks; the client has to.
type Server struct {
	mux      http.ServeMux
	captures fs.FS

	mu       sync.Mutex
	lastID   int
	sessions map[string]*session
}

// session is the current or last execution of a session.
type session struct {
	node   string        // the node that waits, or ""
	resume chan struct{} // receives the answer
	killed chan struct{}
}

// New returns a server of the recordings in a folder.
func New(captures fs.FS) *Server {
	s := &Server{captures: captures, sessions: make(map[string]*session)}
	s.mux.HandleFunc("GET /api/projects/{project}/stream", s.stream)
	s.mux.HandleFunc("POST /api/sessions/{session}/resume", s.resume)
	s.mux.HandleFunc("DELETE /api/sessions/{session}", s.kill)
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	wire, err := fs.ReadFile(s.captures, query.Get("input")+".sse")
	if err != nil {
		http.Error(w, "no such execution", http.StatusBadRequest)
		return
	}
	if query.Has("session_id") && query.Get("session_id") == "" {
		http.Error(w, "invalid session_id: SessionId must not be empty", http.StatusBadRequest)
		return
	}
	id, execution := s.begin(query.Get("session_id"))
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	frames := sse.NewReader(bytes.NewReader(wire), 0)
	for {
		frame, err := frames.Next()
		if err != nil {
			return
		}
		if string(frame.Event) == "session" {
			frame.Data = []byte(id)
		}
		asks := string(frame.Event) == "interrupt"
		if asks {
			s.setWaiting(execution, frame.Data) // before the client can answer
		}
		out, err := sse.AppendFrame(nil, frame)
		if err != nil {
			return
		}
		if _, err := w.Write(out); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		if asks && !awaitResume(execution, r) {
			return
		}
	}
}

func (s *Server) begin(id string) (string, *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		s.lastID++
		id = fmt.Sprintf("minted-%d", s.lastID)
	}
	s.sessions[id] = &session{resume: make(chan struct{}, 1), killed: make(chan struct{})}
	return id, s.sessions[id]
}

// setWaiting records the node that waits.
func (s *Server) setWaiting(execution *session, interrupt []byte) {
	var asked struct {
		Node string `json:"node_id"`
	}
	_ = json.Unmarshal(interrupt, &asked) // a recording is valid JSON
	s.mu.Lock()
	defer s.mu.Unlock()
	execution.node = asked.Node
}

// awaitResume waits until the execution is resumed. It returns false if the execution is killed or
// the client leaves.
func awaitResume(execution *session, r *http.Request) bool {
	select {
	case <-execution.resume:
		return true
	case <-execution.killed:
	case <-r.Context().Done():
	}
	return false
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Response json.RawMessage `json:"response"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Response == nil {
		http.Error(w, "missing field `response`", http.StatusUnprocessableEntity)
		return
	}
	id := r.PathValue("session")
	s.mu.Lock()
	defer s.mu.Unlock()
	execution := s.sessions[id]
	w.Header().Set("Content-Type", "application/json")
	if execution == nil || execution.node == "" {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": fmt.Sprintf("Session '%s' not found or not interrupted", id)})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "node_id": execution.node, "message": "Workflow resumed. Response: " + string(request.Response)})
	execution.node = ""
	execution.resume <- struct{}{}
}

func (s *Server) kill(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if execution := s.sessions[r.PathValue("session")]; execution != nil {
		close(execution.killed)
		delete(s.sessions, r.PathValue("session"))
	}
	_, _ = w.Write([]byte("ok"))
}
