// Package adkstudio decodes the event stream of ADK Studio, versions 1 and 2, in which its server
// reports the execution of a workflow.
package adkstudio

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for ADK Studio.
type Dialect struct{}

// Name returns "adkstudio".
func (Dialect) Name() string { return "adkstudio" }

// Paths returns the path that executes a workflow. A request that resumes an execution is answered
// without a stream: the work continues in the open stream.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Glob: "/api/projects/*/stream"}}
}

// Identify reads the project and the session. The query also contains the user's text, an API key and a path on the
// server's disk, which it does not read.
func (Dialect) Identify(r dialect.Request) event.Identity {
	return event.Identity{App: dialect.Name(project(r.Path)), Session: dialect.Name(r.Query.Get("session_id"))}
}

// project returns the project in a stream's path, which may have any prefix, or "".
func project(path string) string {
	path, isStream := strings.CutSuffix(path, "/stream")
	i := strings.LastIndexByte(path, '/')
	if !isStream || i < 0 || !strings.HasSuffix(path[:i], "/projects") {
		return ""
	}
	return path[i+1:]
}

// Detect recognizes a frame by its SSE event name and the shape of its data. It returns Maybe for a
// frame that other protocols could send too. Every stream starts with a session id. Detect returns only Yes for it,
// because outside of an agent's path any text could be one.
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
		maybe = lenient.HasMember(v, debugMembers)
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
	case typeChunk:
		maybe = len(f.Data) > 0 // text, even if it looks like JSON
	case typeError:
		maybe = len(f.Data) > 0 && f.Data[0] != '{' // the Go ADK uses the same event name for errors, but sends objects
	}
	if maybe {
		return dialect.Maybe
	}
	return dialect.No
}

// debugMembers are members of a debug frame that the logs of other programs rarely have. A frame with one of them may be a debug frame of
// another version, so it must not leave before the dialect is certain.
var debugMembers = []string{"category", "summary"}

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

// maxID is the server's own limit for session ids, in bytes.
const maxID = 512

// isID reports whether a text could be a session id: one printable word.
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

// New returns a decoder. A stream contains one execution; a recording may contain several in sequence.
func (Dialect) New(*event.Stream) dialect.Decoder { return &decoder{} }
