package adkstudio

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Types of traces: the protocol's own, and those of its graph library, which the server passes on.
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

	// Traces that repeat other frames or say nothing about the run.
	traceCustom = "custom"
	traceDebug  = "debug"
	traceStep   = "step_complete"
)

// toolFailures maps log messages of an agent to the failure of a call. No result follows such a message.
var toolFailures = map[string]event.Failure{
	"tool_error":                      event.ToolError,
	"tool execution failed, retrying": event.ToolError,
	"tool_timeout":                    event.FailureTimeout,
	"tool timed out, retrying":        event.FailureTimeout,
}

// stateOf returns the state that a trace shows: a node's output or input, else the state or its updates, else only the keys
// that the trace lists.
func stateOf(trace strictjson.Value) (s event.State, exists bool) {
	snapshot := trace.Get("state_snapshot")
	for _, state := range []strictjson.Value{snapshot.Get("output"), snapshot.Get("input"), trace.Get("state"), trace.Get("updates")} {
		if state.Kind() != strictjson.Object || state.Len() == 0 {
			continue
		}
		for key := range state.Members() {
			s.Keys = appendKey(s.Keys, key)
		}
		s.Bytes = event.Count{N: int64(len(state.Raw())), Known: true}
		return s, true
	}
	for key := range trace.Get("state_keys").Elements() {
		s.Keys = appendKey(s.Keys, key)
	}
	return s, len(s.Keys) > 0
}

func appendKey(keys []string, key strictjson.Value) []string {
	if name := dialect.Name(key.String()); name != "" && len(keys) < wire.MaxKeys {
		return append(keys, name)
	}
	return keys
}

// timeoutText is the server's error text for its own timeout.
const timeoutText = "Timeout"

// failureOf returns the class of the failure that an error text reports.
func failureOf(text []byte) event.Failure {
	if string(bytes.TrimSpace(text)) == timeoutText {
		return event.FailureTimeout
	}
	return event.AgentError
}
