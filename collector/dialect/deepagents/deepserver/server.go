// Package deepserver is a DeepAgents server for tests: the documented HTTP API, with recorded answers to messages.
package deepserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"sync"

	"github.com/delegraph/delegraph/collector/sse"
)

// Server answers a message by playing a capture. A message with the content NAME is answered with the file
// NAME.sse. The ids of the chat and the message in the file are replaced. Resuming a thread that waits creates a
// message that is answered with resumeCapture.
type Server struct {
	mux           http.ServeMux
	captures      fs.FS
	resumeCapture string // name of the capture that answers after any interrupt

	mu       sync.Mutex
	lastID   int
	messages map[string]message
	threads  map[string]string // maps a thread that waits to its chat
}

type message struct{ chat, capture string }

// New returns a server of the captures in a folder. resumeCapture names the one that answers after an interrupt.
func New(captures fs.FS, resumeCapture string) *Server {
	s := &Server{resumeCapture: resumeCapture, captures: captures, messages: make(map[string]message), threads: make(map[string]string)}
	s.mux.HandleFunc("POST /api/users/{user}/chats", s.createChat)
	s.mux.HandleFunc("POST /api/chats/{chat}/messages", s.createMessage)
	s.mux.HandleFunc("GET /api/chats/{chat}/messages/{message}/stream", s.stream)
	s.mux.HandleFunc("POST /api/threads/{thread}/resume", s.resume)
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) createChat(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	writeCreated(w, map[string]any{"chat_id": s.newID("chat"), "user_id": r.PathValue("user"), "title": "", "created_at": "2025-10-14T10:30:00Z", "message_count": 0})
}

func (s *Server) createMessage(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Content string `json:"content"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, "content is missing", http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addMessage(w, r.PathValue("chat"), request.Content)
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Command struct {
			Resume struct {
				Result *string `json:"result"`
			} `json:"resume"`
		} `json:"command"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, waits := s.threads[r.PathValue("thread")]
	switch err := json.NewDecoder(r.Body).Decode(&request); {
	case err != nil || request.Command.Resume.Result == nil:
		http.Error(w, "command.resume.result is missing", http.StatusUnprocessableEntity)
	case !waits:
		http.NotFound(w, r)
	default:
		delete(s.threads, r.PathValue("thread"))
		s.addMessage(w, chat, s.resumeCapture)
	}
}

func (s *Server) addMessage(w http.ResponseWriter, chat, capture string) {
	id := s.newID("message")
	s.messages[id] = message{chat, capture}
	writeCreated(w, map[string]any{
		"message_id": id, "chat_id": chat, "role": "assistant", "status": "processing",
		"stream_url": fmt.Sprintf("/api/chats/%s/messages/%s/stream", chat, id),
	})
}

func (s *Server) newID(kind string) string {
	s.lastID++
	return fmt.Sprintf("%s-%d", kind, s.lastID)
}

func writeCreated(w http.ResponseWriter, what map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(what)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	asked := s.messages[r.PathValue("message")]
	s.mu.Unlock()
	wire, err := fs.ReadFile(s.captures, asked.capture+".sse")
	if err != nil || asked.chat != r.PathValue("chat") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	frames := sse.NewReader(bytes.NewReader(wire), 0)
	for {
		frame, err := frames.Next()
		if err != nil {
			return
		}
		out, err := sse.AppendFrame(nil, sse.Frame{Data: s.replaceIDs(frame.Data, asked.chat, r.PathValue("message"))})
		if err != nil {
			return
		}
		if _, err := w.Write(out); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// replaceIDs puts the ids of this chat and message into a frame, and records the thread that the
// frame says waits.
func (s *Server) replaceIDs(data []byte, chat, id string) []byte {
	var frame map[string]any
	if json.Unmarshal(data, &frame) != nil {
		return data
	}
	if frame["type"] == "start" {
		frame["chat_id"], frame["message_id"] = chat, id
	}
	if details, is := frame["md"].(string); is && frame["type"] == "status" {
		var asked struct {
			Thread string `json:"thread_id"`
		}
		_ = json.Unmarshal([]byte(details), &asked) // not every status is JSON
		s.mu.Lock()
		s.threads[asked.Thread] = chat
		s.mu.Unlock()
	}
	out, err := json.Marshal(frame)
	if err != nil {
		return data
	}
	return out
}
