// Package adkserver starts real ADK API servers (Python's and JavaScript's) with a scripted fake
// model on loopback. It is for tests only.
package adkserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// FakeModel is a Gemini API on 127.0.0.1 that plays scripts. It keeps no state between requests:
// the request's last user text names the script ("case:NAME"), its system instruction names the
// agent ("agent:NAME"), and the number of contents with function calls since that text is the turn.
type FakeModel struct {
	URL string

	mu    sync.Mutex
	gates map[string]<-chan struct{}
}

// NewFakeModel starts a fake model that lives as long as the test.
func NewFakeModel(t testing.TB) *FakeModel {
	m := &FakeModel{gates: map[string]<-chan struct{}{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

// environment returns the variables that make a server use this model instead of Gemini.
func (m *FakeModel) environment() []string {
	return []string{"GOOGLE_API_KEY=none", "GOOGLE_GENAI_USE_VERTEXAI=FALSE", "GOOGLE_GEMINI_BASE_URL=" + m.URL}
}

// GateChunks makes each streamed answer of the case wait before every chunk except its first. A value sent
// to gate releases one chunk; closing gate releases all that follow. A send blocks until the model is
// ready to write, so a test needs no clock.
func (m *FakeModel) GateChunks(name string, gate <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gates[name] = gate
}

func (m *FakeModel) gate(name string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gates[name]
}

// ServeHTTP answers POST …/models/MODEL:generateContent and POST …/models/MODEL:streamGenerateContent?alt=sse.
func (m *FakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, method, _ := strings.Cut(r.URL.Path, ":")
	streamed := method == "streamGenerateContent"
	if r.Method != http.MethodPost || !streamed && method != "generateContent" {
		writeError(w, http.StatusNotFound, "no such method")
		return
	}
	var request modelRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<20)).Decode(&request); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	asked, err := request.position()
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	played, err := asked.turn()
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	if played.status != 0 {
		writeError(w, played.status, "the model is out of order")
		return
	}
	chunks := played.responses(path[strings.LastIndex(path, "/")+1:], asked.turns)
	if streamed {
		m.stream(w, r, asked.name, chunks)
	}
	if played.cut {
		panic(http.ErrAbortHandler)
	}
	if !streamed {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(merge(chunks)) // the client may be gone
	}
}

func (m *FakeModel) stream(w http.ResponseWriter, r *http.Request, name string, chunks []answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	gate := m.gate(name)
	for i, a := range chunks {
		if i > 0 && gate != nil {
			select {
			case <-gate:
			case <-r.Context().Done():
				return
			}
		}
		data, err := json.Marshal(a)
		if err != nil {
			panic(err) // scripts are constants of this package
		}
		fmt.Fprintf(w, "data: %s\r\n\r\n", data)
		w.(http.Flusher).Flush()
	}
}

func writeError(w http.ResponseWriter, status int, message string) {
	names := map[int]string{400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]any{"code": status, "message": message, "status": names[status]},
	})
}

// modelRequest holds the members of a Gemini request that select a response.
type modelRequest struct {
	Contents          []content
	SystemInstruction content
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts,omitempty"`
}

type part struct {
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	ThoughtSignature []byte            `json:"thoughtSignature,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
}

type functionCall struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

type functionResponse struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
}

// position identifies a turn: a script, one of its agents, and how many turns that agent has had.
type position struct {
	name, agent string
	turns       int
}

var (
	casePattern  = regexp.MustCompile(`\bcase:(\w+)`)
	agentPattern = regexp.MustCompile(`\bagent:(\w+)`)
)

func (r modelRequest) position() (position, error) {
	var p position
	for _, c := range r.Contents {
		called := false // parallel calls are in one content
		for _, part := range c.Parts {
			if found := casePattern.FindStringSubmatch(part.Text); found != nil && c.Role == "user" {
				p.name, p.turns = found[1], 0
			}
			called = called || part.FunctionCall != nil
		}
		if called {
			p.turns++
		}
	}
	for _, part := range r.SystemInstruction.Parts {
		if found := agentPattern.FindStringSubmatch(part.Text); found != nil {
			p.agent = found[1]
		}
	}
	if p.name == "" || p.agent == "" {
		return p, fmt.Errorf("the request names no case (%q) or no agent (%q)", p.name, p.agent)
	}
	return p, nil
}

func (p position) turn() (turn, error) {
	turns := scripts[p.name][p.agent]
	if p.turns >= len(turns) {
		return turn{}, fmt.Errorf("script %s has no turn %d for %s", p.name, p.turns, p.agent)
	}
	return turns[p.turns], nil
}

// answer is a GenerateContentResponse, whole or as one chunk of a stream.
type answer struct {
	Candidates    []candidate    `json:"candidates"`
	UsageMetadata map[string]int `json:"usageMetadata"`
	ModelVersion  string         `json:"modelVersion"`
	ResponseID    string         `json:"responseId"`
}

type candidate struct {
	Content      *content `json:"content,omitempty"`
	FinishReason string   `json:"finishReason,omitempty"`
	Index        int      `json:"index"`
}

// responses returns the turn as the chunks of a stream. Usage is cumulative, as in Gemini.
func (t turn) responses(model string, ordinal int) []answer {
	prompt, thoughts, candidates := 100+10*ordinal, 0, 0
	var out []answer
	for i, parts := range t.chunks {
		for _, p := range parts {
			if p.Thought {
				thoughts += 2
			} else {
				candidates += 3
			}
		}
		a := answer{ModelVersion: model, ResponseID: fmt.Sprintf("response-%d", ordinal)}
		a.UsageMetadata = map[string]int{
			"promptTokenCount": prompt, "candidatesTokenCount": candidates, "totalTokenCount": prompt + candidates + thoughts,
		}
		if thoughts > 0 {
			a.UsageMetadata["thoughtsTokenCount"] = thoughts
		}
		c := candidate{}
		if len(parts) > 0 {
			c.Content = &content{Role: "model", Parts: parts}
		}
		if i == len(t.chunks)-1 && !t.cut {
			c.FinishReason = t.finish
		}
		a.Candidates = []candidate{c}
		out = append(out, a)
	}
	return out
}

// merge combines the chunks into the answer to a request without streaming.
func merge(chunks []answer) answer {
	last := chunks[len(chunks)-1]
	var parts []part
	for _, a := range chunks {
		if a.Candidates[0].Content == nil {
			continue
		}
		for _, p := range a.Candidates[0].Content.Parts {
			end := len(parts) - 1
			if end >= 0 && p.Text != "" && parts[end].Text != "" && parts[end].Thought == p.Thought {
				parts[end].Text += p.Text
				continue
			}
			parts = append(parts, p)
		}
	}
	if len(parts) > 0 {
		last.Candidates[0].Content = &content{Role: "model", Parts: parts}
	}
	return last
}
