// Package a2a decodes the streams of agents that speak the Agent2Agent protocol (github.com/a2aproject/A2A), versions 0.3 and 1.0,
// over JSON-RPC and over HTTP+JSON, with what agents of Google's ADK add to them.
package a2a

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect is that of the Agent2Agent protocol.
type Dialect struct{}

// Name is "a2a".
func (Dialect) Name() string { return "a2a" }

// Paths are those of HTTP+JSON, for 1.0 below a tenant too, and those at which servers of JSON-RPC mostly stand: the root, and
// where the ADK's own servers put agents (/a2a/invoke in Go, /a2a/{app} in Python). Who subscribes to a task over HTTP+JSON does
// not ask for a run; JSON-RPC has one path for both.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{
		{Method: http.MethodPost, Glob: "/", Shared: true},
		{Glob: "/a2a"},
		{Glob: "/a2a/*"},
		{Glob: "/message:stream"},
		{Glob: "/*/message:stream"},          // of 0.3 too: /v1/message:stream
		{Glob: "/a2a/*/*/v1/message:stream"}, // of Agno: /a2a/agents/{id}, teams and workflows
		{Glob: "/tasks/*:subscribe", Continues: true},
		{Glob: "/*/tasks/*:subscribe", Continues: true},
	}
}

// Detect knows an update by the members that it must have. A message without an envelope could be another protocol's, and so
// could an update that stands among other members; an error could be any server's.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	u := readUpdate(f.JSON)
	switch {
	case u.shape == shapeNone || u.shape == shapeOther:
		return dialect.No
	case u.shape == shapeFailure, u.shape == shapeMessage && u.bare, u.crowded:
		return dialect.Maybe
	}
	return dialect.Sure
}

// sending are the methods by which clients begin a task, or continue it, and listen to it.
var sending = []string{"message/stream", "SendStreamingMessage"}

// listening are the methods by which clients listen to a task that another request began.
var listening = []string{"tasks/resubscribe", "SubscribeToTask"}

// Identify reads the message that is sent. One that is sent to a task answers it, if it waits, and the calls that it names. Who
// sends stands only in the credentials.
func (Dialect) Identify(r dialect.Request) event.Identity {
	params, asks := r.Body.Get("params"), asksForStream(r.Body)
	if slices.ContainsFunc(listening, r.Body.Get("method").Is) {
		return event.Identity{Joins: dialect.Name(params.Get("id").String()), Asks: asks}
	}
	if before, subscribes := strings.CutSuffix(r.Path, ":subscribe"); subscribes {
		return event.Identity{Joins: dialect.Name(path.Base(before))}
	}
	message := params.Get("message")
	if !message.Exists() {
		message = r.Body.Get("message")
	}
	id := event.Identity{Session: dialect.Name(message.Get("contextId").String()), Asks: asks}
	wire.AddAnswer(&id, message.Get("taskId"))
	for p := range partsOf(message).all() {
		if p.kind == partResponse {
			wire.AddAnswer(&id, p.data.Get("id"))
		}
	}
	return id
}

// asksForStream returns the dialect's name if a JSON-RPC request calls a method that only A2A has and that is answered by a stream.
func asksForStream(body strictjson.Value) string {
	method := body.Get("method")
	if body.Get("jsonrpc").Is("2.0") && (slices.ContainsFunc(sending, method.Is) || slices.ContainsFunc(listening, method.Is)) {
		return Dialect{}.Name()
	}
	return ""
}

// New starts a stream. Most hold one task.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	tasks, _ := simplelru.NewLRU[string, *task](maxTasks, nil) // the only error is a size below one
	d := &decoder{tasks: tasks}
	if s.Session == "" {
		d.answers = s.Answers
	}
	return d
}
