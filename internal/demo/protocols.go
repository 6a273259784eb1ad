package demo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// protocol is how one kind of agent is spoken to.
type protocol struct {
	serve func(*agent)                          // adds its routes
	ask   func(*asking, string) ([]byte, error) // puts a question and brings the whole answer
}

// protocols are those of the agents, by source.
var protocols = map[string]protocol{
	"fire-briefing":     {serveADK, askADK},
	"tender-analysis":   {serveDeepAgents, askDeepAgents},
	"fire-weather":      {serveLooopy, askLooopy},
	"evacuation-notice": {serveStudio, askStudio},
	"burned-area":       {serveA2A, askA2A},
	"parcels":           {serveAGUI, askAGUI},
}

type object map[string]any

// serveADK is a server of the Agent Development Kit: the answer to one request is a run.
func serveADK(a *agent) {
	a.routes.HandleFunc("POST /run_sse", func(w http.ResponseWriter, r *http.Request) {
		a.tell(w, r, asked(a.source, body(w, r)).recording(), "")
	})
}

func askADK(q *asking, question string) ([]byte, error) {
	return q.post("/run_sse", object{
		"appName": "coordinator", "userId": "demo", "sessionId": q.session,
		"newMessage": object{"role": "user", "parts": []object{{"text": question}}},
	})
}

// started is what a DeepAgents stream says first.
var started = regexp.MustCompile(`"message_id":"([^"]+)"`)

// messageOf is the message that a recording answers in a chat.
func messageOf(r recording, chat string) string {
	return strings.ReplaceAll(string(started.FindSubmatch(r.frames[0].bytes)[1]), r.session, chat)
}

// threadOf stands before the chat in the name of what waits in it.
const threadOf = "thread_"

// serveDeepAgents makes a message of a question, or of the answer to one, which is answered at an address of its own.
func serveDeepAgents(a *agent) {
	create := func(w http.ResponseWriter, r *http.Request) {
		chat := cmp.Or(r.PathValue("chat"), strings.TrimPrefix(r.PathValue("thread"), threadOf))
		message := messageOf(asked(a.source, body(w, r)).recording(), chat)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(object{
			"message_id": message, "chat_id": chat, "role": "assistant", "status": "processing",
			"stream_url": "/api/chats/" + chat + "/messages/" + message + "/stream",
		})
	}
	a.routes.HandleFunc("POST /api/chats/{chat}/messages", create)
	a.routes.HandleFunc("POST /api/threads/{thread}/resume", create)
	a.routes.HandleFunc("GET /api/chats/{chat}/messages/{message}/stream", func(w http.ResponseWriter, r *http.Request) {
		chat := r.PathValue("chat")
		for _, s := range stories {
			if s.source == a.source && messageOf(s.recording(), chat) == r.PathValue("message") {
				a.tell(w, r, s.recording(), chat)
				return
			}
		}
		http.NotFound(w, r)
	})
}

// waiting names the thread that waits, in a text within a frame.
var waiting = regexp.MustCompile(`\\"thread_id\\":\\"([^"\\]+)\\"`)

func askDeepAgents(q *asking, question string) ([]byte, error) {
	address, wanted := "/api/chats/"+q.session+"/messages", object{"content": question}
	if found := waiting.FindSubmatch(q.before); found != nil {
		address, wanted = "/api/threads/"+string(found[1])+"/resume", object{"command": object{"resume": object{"result": question}}}
	}
	answer, err := q.aside(address, wanted)
	if err != nil {
		return nil, err
	}
	var message struct {
		Stream string `json:"stream_url"`
	}
	if err := json.Unmarshal(answer, &message); err != nil {
		return nil, err
	}
	return q.get(message.Stream)
}

// serveLooopy answers a turn when it is over. What happens in it can be heard meanwhile in the stream of its context, which stays
// open for the next turn.
func serveLooopy(a *agent) {
	a.routes.HandleFunc("POST /turns", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ ContextID, Prompt string }
		if err := json.Unmarshal(body(w, r), &request); err != nil || request.ContextID == "" {
			http.Error(w, "contextId is missing", http.StatusBadRequest)
			return
		}
		turns, leave := a.join(request.ContextID)
		defer leave()
		t := turn{asked(a.source, []byte(request.Prompt)).recording(), make(chan struct{})}
		select {
		case turns.next <- t:
		case <-r.Context().Done():
			return
		}
		select {
		case <-t.over:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(object{"contextId": request.ContextID, "status": "completed"})
		case <-r.Context().Done():
		}
	})
	a.routes.HandleFunc("GET /events/{context}", func(w http.ResponseWriter, r *http.Request) {
		turns, leave := a.join(r.PathValue("context"))
		defer leave()
		openStream(w)
		for {
			select {
			case t := <-turns.next:
				a.tell(w, r, t.recording, r.PathValue("context"))
				close(t.over)
			case <-r.Context().Done():
				return
			}
		}
	})
}

func askLooopy(q *asking, question string) ([]byte, error) {
	return q.post("/turns", object{"contextId": q.session, "prompt": question})
}

// serveStudio executes a workflow for whoever asks for its stream.
func serveStudio(a *agent) {
	a.routes.HandleFunc("GET /api/projects/{project}/stream", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		a.tell(w, r, asked(a.source, []byte(query.Get("input"))).recording(), query.Get("session_id"))
	})
}

func askStudio(q *asking, question string) ([]byte, error) {
	return q.get("/api/projects/evacuation/stream?" + url.Values{"input": {question}, "session_id": {q.session}}.Encode())
}

// serveA2A takes messages over JSON-RPC.
func serveA2A(a *agent) {
	a.routes.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Params struct {
				Message struct{ ContextID string }
			}
		}
		read := body(w, r)
		_ = json.Unmarshal(read, &request) // whatever it asks for, there is one thing to tell
		a.tell(w, r, asked(a.source, read).recording(), request.Params.Message.ContextID)
	})
}

func askA2A(q *asking, question string) ([]byte, error) {
	return q.post("/", object{
		"jsonrpc": "2.0", "id": "req-adk-legacy-transfer", "method": "SendStreamingMessage",
		"params": object{"message": object{
			"messageId": "m-adk-legacy-transfer", "contextId": q.session, "role": "ROLE_USER", "parts": []object{{"text": question}},
		}},
	})
}

// serveAGUI runs an agent of the Agent-User Interaction protocol.
func serveAGUI(a *agent) {
	a.routes.HandleFunc("POST /agui", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ ThreadID string }
		read := body(w, r)
		_ = json.Unmarshal(read, &request) // whatever it asks for, there is one thing to tell
		a.tell(w, r, asked(a.source, read).recording(), request.ThreadID)
	})
}

func askAGUI(q *asking, question string) ([]byte, error) {
	return q.post("/agui", object{
		"threadId": q.session, "runId": q.session + "-1", "state": object{}, "tools": []object{}, "context": []object{}, "forwardedProps": object{},
		"messages": []object{{"id": "u1", "role": "user", "content": question}},
	})
}

// encoded is a request's body.
func encoded(o object) *bytes.Reader {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings and objects of them
	}
	return bytes.NewReader(text)
}
