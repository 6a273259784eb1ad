// Package adkstudio decodes the event stream of ADK Studio, in which its server tells of the execution of a workflow: versions 1 and 2.
package adkstudio

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect is ADK Studio's.
type Dialect struct{}

// Name is "adkstudio".
func (Dialect) Name() string { return "adkstudio" }

// Paths is the one on which a workflow is executed. A request that resumes an execution is no stream: its work goes on in the
// stream that is open.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Glob: "/api/projects/*/stream"}}
}

// Identify reads the project and the session. In the query stand the user's words, an API key and a path of the server's disk
// too, of which nothing is read.
func (Dialect) Identify(r dialect.Request) event.Identity {
	return event.Identity{App: dialect.Name(project(r.Path)), Session: dialect.Name(r.Query.Get("session_id"))}
}

// project is the last but one segment of the path of a stream, wherever the server is mounted.
func project(path string) string {
	path, isStream := strings.CutSuffix(path, "/stream")
	i := strings.LastIndexByte(path, '/')
	if !isStream || i < 0 || !strings.HasSuffix(path[:i], "/projects") {
		return ""
	}
	return path[i+1:]
}

// Detect knows a frame by its SSE event name and the shape of its data. What others could send too is a Maybe. A session with an id,
// with which each stream begins, is a Yes: on a path that is no agent's it could be anything.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	v := f.JSON
	is := func(kind strictjson.Kind, name string) bool { return v.Get(name).Kind() == kind }
	maybe := false
	switch string(f.Event) {
	case typeSession:
		if isID(f.Data) && v.Kind() != strictjson.Object {
			return dialect.Yes
		}
	case typeTrace:
		return detectTrace(v)
	case typeDebug:
		if is(strictjson.String, "level") && is(strictjson.String, "category") && is(strictjson.String, "summary") && is(strictjson.Number, "timestamp") {
			return dialect.Sure
		}
	case typeToolCall:
		maybe = is(strictjson.String, "name") && v.Get("args").Exists()
	case typeToolResult:
		maybe = is(strictjson.String, "name") && v.Get("result").Exists()
	case typeLog:
		maybe = is(strictjson.String, "message")
	case typeThinking:
		maybe = is(strictjson.String, "content")
	case typeInterrupt:
		maybe = is(strictjson.String, "node_id")
	case typeChunk, typeError:
		maybe = len(f.Data) > 0 && f.Data[0] != '{' // the Go ADK names its errors so, and sends objects
	}
	if maybe {
		return dialect.Maybe
	}
	return dialect.No
}

func detectTrace(v strictjson.Value) dialect.Match {
	kind := v.Get("type")
	node := v.Get("node").Kind() == strictjson.String
	counted := v.Get("total_steps").Kind() == strictjson.Number || v.Get("state_snapshot").Kind() == strictjson.Object
	switch {
	case node && (kind.Is(traceNodeStart) || kind.Is(traceNodeEnd)), counted && (kind.Is(traceDone) || kind.Is(traceState)):
		return dialect.Sure
	case kind.Kind() == strictjson.String:
		return dialect.Maybe
	}
	return dialect.No
}

// maxID is that of the server's own session ids.
const maxID = 512

// isID says whether a text could be a session's id: one word.
func isID(text []byte) bool {
	if len(text) == 0 || len(text) > maxID || !utf8.Valid(text) {
		return false
	}
	for _, c := range string(text) {
		if unicode.IsSpace(c) || !unicode.IsPrint(c) {
			return false
		}
	}
	return true
}

// New starts a stream. It holds one execution; a capture may hold several, one after the other.
func (Dialect) New(*event.Stream) dialect.Decoder { return &decoder{} }
