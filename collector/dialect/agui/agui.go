// Package agui decodes the streams of agents that speak the Agent-User Interaction protocol (github.com/ag-ui-protocol/ag-ui):
// version 1.0, and the versions before it.
package agui

import (
	"net/http"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect is that of the Agent-User Interaction protocol.
type Dialect struct{}

// Name is "agui".
func (Dialect) Name() string { return "agui" }

// Paths are those at which most of the project's integrations stand unless they are told otherwise; the protocol has none.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Method: http.MethodPost, Glob: "/", Shared: true}, {Method: http.MethodPost, Glob: "/invocations", Shared: true}, {Glob: "/agui"}}
}

// Detect knows an event by its type, and by the members that it must have. What bears a name that others could use as well is a
// Maybe.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	k := kinds[string(f.JSON.Get("type").Text())]
	if k == nil {
		if isBareError(f.JSON) {
			return dialect.Maybe
		}
		return dialect.No
	}
	for _, name := range k.needs {
		if f.JSON.Get(name).Kind() != strictjson.String {
			return dialect.No
		}
	}
	if k.common {
		return dialect.Maybe
	}
	return dialect.Sure
}

// isBareError knows what ADK middleware sends when nothing else can be encoded.
func isBareError(v strictjson.Value) bool {
	return v.Len() == 1 && v.Get("error").Kind() == strictjson.String
}

// Identify reads a RunAgentInput. It answers interrupts, and with the results at the end of its messages the calls that an earlier
// run left to its client.
func (Dialect) Identify(r dialect.Request) event.Identity {
	id := event.Identity{Session: dialect.Name(r.Body.Get("threadId").String())}
	for entry := range r.Body.Get("resume").Elements() {
		wire.AddAnswer(&id, entry.Get("interruptId"))
	}
	if r.Body.Get("forwardedProps").Get("command").Get("resume").Kind() > strictjson.Null && len(id.Answers) < wire.MaxAnswers {
		id.Answers = append(id.Answers, onInterrupt)
	}
	messages := r.Body.Get("messages")
	last := 0 // results at the end
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

// New starts a stream. It may hold several runs, one after the other.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{self: s.Agent, configured: s.Agent}
}
