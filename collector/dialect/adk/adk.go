// Package adk decodes the event stream of Google's Agent Development Kit: the answers of its
// Python, JavaScript, Go, Java and Rust servers to POST /run_sse.
package adk

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for the ADK.
type Dialect struct{}

// Name returns "adk".
func (Dialect) Name() string { return "adk" }

// Paths returns the run endpoints: at the root for Python, JavaScript and Java, below /api for Go's
// web launcher.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Glob: "/run_sse"}, {Glob: "/api/run_sse"}}
}

// Detect recognizes an event by its invocation id and its author or actions. It returns Maybe for an event without an
// invocation id, and for an error frame, which any server could send.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	v := unwrap(f.JSON)
	author := v.Get("author").Kind() == strictjson.String
	invocation := v.First("invocationId", "invocation_id").Kind() == strictjson.String
	actions := v.Get("actions").Kind() == strictjson.Object
	switch {
	case invocation && (author || actions):
		return dialect.Sure
	case author && (actions || v.Get("content").Kind() == strictjson.Object), isErrorFrame(v), !v.Exists() && isBrokenError(f.Data):
		return dialect.Maybe
	}
	return dialect.No
}

// Identify reads the body of POST /run_sse, in camelCase or in Python's snake_case.
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

// New returns a decoder. A stream that answers a run request contains one run, whatever ids its frames
// have.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{
		singleRun:    s.SingleRun,
		responses:    make(map[string]*response),
		lastBranches: make(map[string]string),
		remoteTasks:  make(map[string]string),
		history:      eventHistory{isTail: s.Live && !s.SingleRun},
	}
}

// unwrap returns the event in the envelope that Rust servers add if the client asks for a UI
// protocol.
func unwrap(v strictjson.Value) strictjson.Value {
	if v.Get("ui_protocol").Kind() == strictjson.String {
		return v.Get("event")
	}
	return v
}

// isErrorFrame reports whether v is {"error":…}, possibly with error_details, and has no member of an event.
func isErrorFrame(v strictjson.Value) bool {
	return v.Get("error").Kind() > strictjson.Null &&
		!v.Get("author").Exists() && !v.Get("content").Exists() && !v.First("invocationId", "invocation_id").Exists()
}

// isBrokenError reports whether data is an error frame of Python servers of 2025, which put the
// error's text between quotes without escaping it.
func isBrokenError(data []byte) bool { return bytes.HasPrefix(data, brokenError) }

// brokenError is the start of an error frame, up to the text.
var brokenError = []byte(`{"error": "`)
