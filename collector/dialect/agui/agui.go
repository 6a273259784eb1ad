// Package agui decodes the streams of agents that speak the Agent-User Interaction protocol
// (github.com/ag-ui-protocol/ag-ui), version 1.0 and earlier.
package agui

import (
	"net/http"
	"path"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for the Agent-User Interaction protocol.
type Dialect struct{}

// Name returns "agui".
func (Dialect) Name() string { return "agui" }

// Paths returns the default paths of most of the project's integrations. The protocol itself
// defines none.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Method: http.MethodPost, Glob: "/", AllowOthers: true}, {Method: http.MethodPost, Glob: "/invocations", AllowOthers: true}, {Glob: "/agui"}}
}

// Detect recognizes an event by its type and required members. It returns Maybe for types that
// other protocols could use too.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	k := kinds[string(f.JSON.Get("type").Text())]
	if k == nil {
		if isBareError(f.JSON) {
			return dialect.Maybe
		}
		return dialect.No
	}
	for _, name := range k.required {
		if f.JSON.Get(name).Kind() != strictjson.String {
			return dialect.No
		}
	}
	if k.ambiguous {
		return dialect.Maybe
	}
	return dialect.Sure
}

// isBareError reports whether v is the error that ADK middleware sends when it cannot encode
// anything else.
func isBareError(v strictjson.Value) bool {
	return v.Len() == 1 && v.Get("error").Kind() == strictjson.String
}

// Identify reads a RunAgentInput. Its resume entries answer interrupts. The tool results at the end
// of its messages answer calls that an earlier run left to the client. A runtime of CopilotKit continues a
// run when the client leaves. It repeats all runs of a thread to a client that connects again.
func (Dialect) Identify(r dialect.Request) event.Identity {
	method, input := copilotRequest(r)
	id := event.Identity{Session: dialect.Name(input.Get("threadId").String())}
	id.InBackground = method != "" && id.Session != ""
	if method == copilotConnect {
		id.JoinedSession, id.Replays = id.Session, true
		return id
	}
	for entry := range input.Get("resume").Elements() {
		wire.AddAnswer(&id, entry.Get("interruptId"))
	}
	if input.Get("forwardedProps").Get("command").Get("resume").Kind() > strictjson.Null && len(id.Answers) < wire.MaxAnswers {
		id.Answers = append(id.Answers, onInterrupt)
	}
	messages := input.Get("messages")
	last := 0 // number of tool results at the end
	for message := range messages.Elements() {
		if last++; !message.Get("role").Is("tool") {
			last = 0
		}
	}
	n := messages.Len() - last
	for message := range messages.Elements() {
		if n--; n < 0 {
			wire.AddAnswer(&id, message.Get("toolCallId"))
		}
	}
	return id
}

// Methods of CopilotKit's runtime that are answered by a stream.
const (
	copilotRun     = "agent/run"
	copilotConnect = "agent/connect"
)

// copilotRequest returns the method of a request to CopilotKit's runtime, or "", and the RunAgentInput. The method
// is in the path, which ends with agent/ID/run or agent/ID/connect, or in an envelope around the input.
//
// Source: CopilotKit, packages/runtime/src/v2/runtime/core/fetch-router.ts and endpoints/single-route-helpers.ts.
func copilotRequest(r dialect.Request) (method string, input strictjson.Value) {
	agent, action := path.Split(r.Path)
	byPath := path.Base(path.Dir(path.Dir(agent))) + "/" + action
	for _, known := range []string{copilotRun, copilotConnect} {
		switch {
		case r.Body.Get("method").Is(known):
			return known, r.Body.Get("body")
		case byPath == known:
			return known, r.Body
		}
	}
	return "", r.Body
}

// New starts a stream. It may hold several runs, one after the other.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{ownName: s.ConfiguredAgent, configured: s.ConfiguredAgent, wholeCalls: s.WholeCalls, shared: s.InBackground}
}
