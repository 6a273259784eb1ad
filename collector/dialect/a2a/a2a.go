// Package a2a decodes the streams of agents that speak the Agent2Agent protocol
// (github.com/a2aproject/A2A), versions 0.3 and 1.0, over JSON-RPC and HTTP+JSON, including the
// metadata that agents of Google's ADK add. It also has the rules for what may pass the filter to
// readers (Dialect.Table), and marks frames internal that continue an internal one by its IDs.
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
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for the Agent2Agent protocol.
type Dialect struct{}

// Name returns "a2a".
func (Dialect) Name() string { return "a2a" }

// Paths returns the paths of HTTP+JSON and the usual paths of JSON-RPC servers. In 1.0, a tenant may precede a path of
// HTTP+JSON. JSON-RPC servers use the root or, if they are the ADK's own, /a2a/invoke in Go and /a2a/{app} in Python.
// Over HTTP+JSON, a client subscribes to a task on a path of its own. JSON-RPC has one path for all requests.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{
		{Method: http.MethodPost, Glob: "/", AllowOthers: true},
		{Glob: "/a2a"},
		{Glob: "/a2a/*"},
		{Glob: "/message:stream"},
		{Glob: "/*/message:stream"},          // also 0.3: /v1/message:stream
		{Glob: "/a2a/*/*/v1/message:stream"}, // Agno: /a2a/agents/{id}, teams and workflows
		{Glob: "/tasks/*:subscribe", MultipleRuns: true},
		{Glob: "/*/tasks/*:subscribe", MultipleRuns: true},
	}
}

// Detect recognizes an update by its required members. It returns Maybe for what another protocol could send too: a
// message without an envelope, an update next to other members, and an error that has a code and a message or names a
// class of A2A's SDK for Java. It returns No for other errors, because any server could send them.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	u := readUpdate(f)
	switch {
	case u.shape == shapeNone || u.shape == shapeOther, u.shape == shapeFailure && u.unwrapped:
		return dialect.No
	case u.shape == shapeFailure, u.shape == shapeMessage && u.unwrapped, u.extraMembers:
		return dialect.Maybe
	}
	return dialect.Sure
}

// sendMethods are the methods with which a client starts or continues a task and receives its
// stream.
var sendMethods = []string{"message/stream", "SendStreamingMessage"}

// subscribeMethods are the methods with which a client subscribes to a task that another request
// started.
var subscribeMethods = []string{"tasks/resubscribe", "SubscribeToTask"}

// Identify reads the message in the request. A message to a task answers the task's request for input, and the calls that it names. Servers
// that read Protobuf's JSON also accept the names of members in snake case. The user is not identified, because only the credentials name
// the user.
func (Dialect) Identify(r dialect.Request) event.Identity {
	params, requestDialect := r.Body.Get("params"), streamRequest(r.Body)
	if slices.ContainsFunc(subscribeMethods, r.Body.Get("method").Is) {
		return event.Identity{JoinedRun: dialect.Name(params.Get("id").String()), RequestDialect: requestDialect, InBackground: true}
	}
	if before, subscribes := strings.CutSuffix(r.Path, ":subscribe"); subscribes {
		return event.Identity{JoinedRun: dialect.Name(path.Base(before)), InBackground: true}
	}
	message := params.Get("message")
	if !message.Exists() {
		message = r.Body.Get("message")
	}
	id := event.Identity{Session: dialect.Name(message.First("contextId", "context_id").String()), RequestDialect: requestDialect, NewRun: startsTask(r)}
	id.InBackground = requestDialect != "" || path.Base(r.Path) == streamAction
	wire.AddAnswer(&id, message.First(taskIDs...))
	for p := range partsOf(message).all() {
		if p.kind == partResponse {
			wire.AddAnswer(&id, p.data.Get("id"))
		}
	}
	return id
}

// streamAction is the end of the path over HTTP+JSON.
const streamAction = "message:stream"

// startsTask reports whether a request certainly starts a task: its message names no task.
func startsTask(r dialect.Request) bool {
	var message strictjson.Value
	switch name := path.Base(r.Path); {
	case name == streamAction:
		message = r.Body.Get("message")
	case slices.ContainsFunc(sendMethods, r.Body.Get("method").Is) && !strings.Contains(name, ":"):
		message = r.Body.Get("params").Get("message")
	}
	return message.Kind() == strictjson.Object && !lenient.HasMember(message, taskIDs)
}

// streamRequest returns the dialect's name if the body is a JSON-RPC request for a method that only
// A2A has and that is answered by a stream, else "".
func streamRequest(body strictjson.Value) string {
	method := body.Get("method")
	if body.Get("jsonrpc").Is("2.0") && (slices.ContainsFunc(sendMethods, method.Is) || slices.ContainsFunc(subscribeMethods, method.Is)) {
		return Dialect{}.Name()
	}
	return ""
}

// New starts a stream. Most streams hold one task.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	tasks, _ := simplelru.NewLRU[string, *task](maxTasks, nil) // the only error is a size below one
	d := &decoder{tasks: tasks, answer: s.SingleRun, joined: s.JoinedRun != "", resumed: s.Live && !s.NewRun, isNew: s.NewRun}
	if s.Session == "" {
		d.answers = s.Answers
	}
	return d
}
