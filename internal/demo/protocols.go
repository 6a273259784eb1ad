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

// protocol is the server and the client side of one kind of agent.
type protocol struct {
	serve func(*agent)                            // adds its routes
	ask   func(*question, string) ([]byte, error) // asks a question and returns the whole answer
}

// protocols maps each source to the protocol of its agent.
var protocols = map[string]protocol{
	"fire-briefing":     {serveADK, askADK},
	"tender-analysis":   {serveDeepAgents, askDeepAgents},
	"fire-weather":      {serveLooopy, askLooopy},
	"evacuation-notice": {serveStudio, askStudio},
	"burned-area":       {serveA2A, askA2A},
	"parcels":           {serveAGUI, askAGUI},
	"shelters":          {serveAISDK, askAISDK},
	"supplies":          {serveOpenAI, askOpenAI},
	"air":               {serveLangGraph, askLangGraph},
	"field-report":      {serveADK, askFieldReport},
}

type object map[string]any

// serveADK serves an agent of the Agent Development Kit: the answer to one request is a run.
func serveADK(a *agent) {
	a.routes.HandleFunc("POST /run_sse", func(w http.ResponseWriter, r *http.Request) {
		a.play(w, r, storyFor(a.source, body(w, r)).recording(), "")
	})
}

func askADK(q *question, question string) ([]byte, error) { return askApp(q, "coordinator", question) }

// askFieldReport asks the app whose root agent is a SequentialAgent. Its second step is a ParallelAgent.
func askFieldReport(q *question, question string) ([]byte, error) {
	return askApp(q, "field_report", question)
}

func askApp(q *question, app, question string) ([]byte, error) {
	return q.post("/run_sse", object{
		"appName": app, "userId": "demo", "sessionId": q.session,
		"newMessage": object{"role": "user", "parts": []object{{"text": question}}},
	})
}

// messageID matches the message id in the first frame of a DeepAgents stream.
var messageID = regexp.MustCompile(`"message_id":"([^"]+)"`)

// messageOf returns the id of the message that a recording answers, in the given chat.
func messageOf(r recording, chat string) string {
	return strings.ReplaceAll(string(messageID.FindSubmatch(r.frames[0].bytes)[1]), r.session, chat)
}

// threadPrefix precedes the chat id in the id of an interrupted thread.
const threadPrefix = "thread_"

// serveDeepAgents serves a DeepAgents server: a question, or the answer to the agent's question, creates a message
// with a stream URL of its own.
func serveDeepAgents(a *agent) {
	create := func(w http.ResponseWriter, r *http.Request) {
		chat := cmp.Or(r.PathValue("chat"), strings.TrimPrefix(r.PathValue("thread"), threadPrefix))
		message := messageOf(storyFor(a.source, body(w, r)).recording(), chat)
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
				a.play(w, r, s.recording(), chat)
				return
			}
		}
		http.NotFound(w, r)
	})
}

// threadID matches the id of an interrupted thread in JSON that is nested in a string.
var threadID = regexp.MustCompile(`\\"thread_id\\":\\"([^"\\]+)\\"`)

func askDeepAgents(q *question, question string) ([]byte, error) {
	address, wanted := "/api/chats/"+q.session+"/messages", object{"content": question}
	if found := threadID.FindSubmatch(q.lastAnswer); found != nil {
		address, wanted = "/api/threads/"+string(found[1])+"/resume", object{"command": object{"resume": object{"result": question}}}
	}
	answer, err := q.postAside(address, wanted)
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

// serveLooopy serves a Looopy server: the request for a turn is answered at the end of the turn. Its events are sent in the stream of the
// context, which stays open for the next turn.
func serveLooopy(a *agent) {
	a.routes.HandleFunc("POST /turns", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ ContextID, Prompt string }
		if err := json.Unmarshal(body(w, r), &request); err != nil || request.ContextID == "" {
			http.Error(w, "contextId is missing", http.StatusBadRequest)
			return
		}
		turns, leave := a.joinContext(request.ContextID)
		defer leave()
		t := turn{storyFor(a.source, []byte(request.Prompt)).recording(), make(chan struct{})}
		select {
		case turns.next <- t:
		case <-r.Context().Done():
			return
		}
		select {
		case <-t.played:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(object{"contextId": request.ContextID, "status": "completed"})
		case <-r.Context().Done():
		}
	})
	a.routes.HandleFunc("GET /events/{context}", func(w http.ResponseWriter, r *http.Request) {
		turns, leave := a.joinContext(r.PathValue("context"))
		defer leave()
		openStream(w)
		for {
			select {
			case t := <-turns.next:
				a.play(w, r, t.recording, r.PathValue("context"))
				close(t.played)
			case <-r.Context().Done():
				return
			}
		}
	})
}

func askLooopy(q *question, question string) ([]byte, error) {
	return q.post("/turns", object{"contextId": q.session, "prompt": question})
}

// serveStudio serves ADK Studio: each request for the stream executes the workflow.
func serveStudio(a *agent) {
	a.routes.HandleFunc("GET /api/projects/{project}/stream", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		a.play(w, r, storyFor(a.source, []byte(query.Get("input"))).recording(), query.Get("session_id"))
	})
}

func askStudio(q *question, question string) ([]byte, error) {
	return q.get("/api/projects/evacuation/stream?" + url.Values{"input": {question}, "session_id": {q.session}}.Encode())
}

// serveA2A serves an A2A agent over JSON-RPC.
func serveA2A(a *agent) {
	a.routes.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Params struct {
				Message struct{ ContextID string }
			}
		}
		read := body(w, r)
		_ = json.Unmarshal(read, &request) // storyFor has a default
		a.play(w, r, storyFor(a.source, read).recording(), request.Params.Message.ContextID)
	})
}

func askA2A(q *question, question string) ([]byte, error) {
	return q.post("/", object{
		"jsonrpc": "2.0", "id": "req-adk-legacy-transfer", "method": "SendStreamingMessage",
		"params": object{"message": object{
			"messageId": "m-adk-legacy-transfer", "contextId": q.session, "role": "ROLE_USER", "parts": []object{{"text": question}},
		}},
	})
}

// serveAGUI serves an agent of the Agent-User Interaction protocol.
func serveAGUI(a *agent) {
	a.routes.HandleFunc("POST /agui", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ ThreadID string }
		read := body(w, r)
		_ = json.Unmarshal(read, &request) // storyFor has a default
		a.play(w, r, storyFor(a.source, read).recording(), request.ThreadID)
	})
}

func askAGUI(q *question, question string) ([]byte, error) {
	return q.post("/agui", object{
		"threadId": q.session, "runId": q.session + "-1", "state": object{}, "tools": []object{}, "context": []object{}, "forwardedProps": object{},
		"messages": []object{{"id": "u1", "role": "user", "content": question}},
	})
}

// serveAISDK serves a chat of the AI SDK.
func serveAISDK(a *agent) {
	a.routes.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		a.play(w, r, storyFor(a.source, body(w, r)).recording(), "")
	})
}

func askAISDK(q *question, question string) ([]byte, error) {
	return q.post("/api/chat", object{
		"id": q.session, "trigger": "submit-message",
		"messages": []object{{"id": "u1", "role": "user", "parts": []object{{"type": "text", "text": question}}}},
	})
}

// serveOpenAI serves an application of the OpenAI Agents SDK.
func serveOpenAI(a *agent) {
	a.routes.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) {
		a.play(w, r, storyFor(a.source, body(w, r)).recording(), "")
	})
}

func askOpenAI(q *question, question string) ([]byte, error) {
	return q.post("/v1/responses", object{"model": "dispatcher", "conversation": q.session, "input": question, "stream": true})
}

// serveLangGraph serves an agent of a LangGraph server.
func serveLangGraph(a *agent) {
	a.routes.HandleFunc("POST /threads/{thread}/runs/stream", func(w http.ResponseWriter, r *http.Request) {
		a.play(w, r, storyFor(a.source, body(w, r)).recording(), r.PathValue("thread"))
	})
}

func askLangGraph(q *question, question string) ([]byte, error) {
	return q.post("/threads/"+q.session+"/runs/stream", object{
		"assistant_id": "air_desk", "stream_mode": "updates", "stream_subgraphs": true,
		"input": object{"messages": []object{{"role": "user", "content": question}}},
	})
}

// encode returns an object as JSON.
func encode(o object) *bytes.Reader {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // impossible for strings and objects of strings
	}
	return bytes.NewReader(text)
}
