// Package adk decodes the event stream of Google's Agent Development Kit, as its Python, JavaScript, Go, Java and Rust servers answer POST /run_sse.
package adk

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect is the ADK's.
type Dialect struct{}

// Name is "adk".
func (Dialect) Name() string { return "adk" }

// Paths are the run endpoints: at the root for Python, JavaScript and Java, below /api for Go's web launcher.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Glob: "/run_sse"}, {Glob: "/api/run_sse"}}
}

// Detect knows an event by its author and invocation id. An error frame could be any server's, so it is a Maybe.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	v := unwrap(f.JSON)
	author := v.Get("author").Kind() == strictjson.String
	invocation := v.First("invocationId", "invocation_id").Kind() == strictjson.String
	actions := v.Get("actions").Kind() == strictjson.Object
	switch {
	case invocation && (author || actions):
		return dialect.Sure
	case author && (actions || v.Get("content").Kind() == strictjson.Object):
		return dialect.Maybe
	case isErrorFrame(v) || !v.Exists() && isBrokenError(f.Data):
		return dialect.Maybe
	}
	return dialect.No
}

// Identify reads the body of POST /run_sse, in the spelling of either Python or the others.
func (Dialect) Identify(r dialect.Request) event.Identity {
	body := r.Body
	id := event.Identity{
		App:     dialect.Name(body.First("appName", "app_name").String()),
		User:    dialect.Name(body.First("userId", "user_id").String()),
		Session: dialect.Name(body.First("sessionId", "session_id").String()),
	}
	for part := range body.First("newMessage", "new_message").Get("parts").Elements() {
		wire.AddAnswer(&id, part.First("functionResponse", "function_response").Get("id"))
	}
	return id
}

// New starts a stream. One that answers a run request holds one run, whatever its ids say.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{
		oneRun:    s.Answer,
		responses: make(map[string]*response),
		branches:  make(map[string]string),
	}
}

// unwrap returns the event inside the envelope that Rust servers put around it for a chosen UI protocol.
func unwrap(v strictjson.Value) strictjson.Value {
	if v.Get("ui_protocol").Kind() == strictjson.String {
		return v.Get("event")
	}
	return v
}

// isErrorFrame knows {"error":…} and {"error":…,"error_details":…}: objects that are no events.
func isErrorFrame(v strictjson.Value) bool {
	e := v.Get("error")
	return e.Exists() && e.Kind() != strictjson.Null &&
		!v.Get("author").Exists() && !v.Get("content").Exists() && !v.First("invocationId", "invocation_id").Exists()
}

// isBrokenError knows the error frame of Python servers of 2025, whose text was pasted between quotes without escaping.
func isBrokenError(data []byte) bool { return bytes.HasPrefix(data, brokenError) }

// brokenError is what stands before that text.
var brokenError = []byte(`{"error": "`)
