package adkstudio

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The types of trace that the protocol has for its client, and those of its graph library that it lets through.
const (
	traceNodeStart   = "node_start"
	traceNodeEnd     = "node_end"
	traceState       = "state"
	traceDone        = "done"
	traceUpdates     = "updates"
	traceMessage     = "message"
	traceInterrupted = "interrupted"
	traceResumed     = "resumed"
	traceError       = "error"

	// They repeat what other frames say, or say nothing of the run.
	traceCustom = "custom"
	traceDebug  = "debug"
	traceStep   = "step_complete"
)

// toolFailures are the words by which the log of an agent says that a call came to nothing. No result follows then.
var toolFailures = map[string]event.Failure{
	"tool_error":                      event.ToolError,
	"tool execution failed, retrying": event.ToolError,
	"tool_timeout":                    event.FailureTimeout,
	"tool timed out, retrying":        event.FailureTimeout,
}

// readState is what a trace shows of the state: what a node has put out, else what it was given.
func readState(trace strictjson.Value) (s event.State, shown bool) {
	snapshot := trace.Get("state_snapshot")
	var state strictjson.Value
	for _, candidate := range []strictjson.Value{snapshot.Get("output"), snapshot.Get("input"), trace.Get("state"), trace.Get("updates")} {
		if candidate.Kind() == strictjson.Object && candidate.Len() > 0 {
			state = candidate
			break
		}
	}
	if state.Exists() {
		s.Bytes = event.Count{N: int64(len(state.Raw())), Known: true}
	}
	for key := range state.Members() {
		s.Keys = appendKey(s.Keys, key)
	}
	if !state.Exists() {
		for key := range trace.Get("state_keys").Elements() {
			s.Keys = appendKey(s.Keys, key)
		}
	}
	return s, state.Exists() || len(s.Keys) > 0
}

// maxKeys bounds the names of state that a frame is said to show.
const maxKeys = 64

func appendKey(keys []string, key strictjson.Value) []string {
	if name := dialect.Name(key.String()); name != "" && len(keys) < maxKeys {
		return append(keys, name)
	}
	return keys
}

// maxStep bounds a number of a step that is believed.
const maxStep = 1 << 32

func step(v strictjson.Value) event.Count {
	n, ok := v.Int()
	if !ok || n < 0 || n > maxStep {
		return event.Count{}
	}
	return event.Count{N: n, Known: true}
}

// errorOf is what a text of the server says that went wrong. One of them is its word for having waited too long.
func errorOf(text []byte) event.Failure {
	if string(bytes.TrimSpace(text)) == "Timeout" {
		return event.FailureTimeout
	}
	return event.AgentError
}
