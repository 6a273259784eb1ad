package adkstudio

import "github.com/delegraph/delegraph/collector/event"

// The types of frames: the SSE event names of the protocol, and one for traces that are not meant for its client.
const (
	typeSession    = "session"
	typeChunk      = "chunk"
	typeAgent      = "agent"
	typeTrace      = "trace"
	typeToolCall   = "tool_call"
	typeToolResult = "tool_result"
	typeThinking   = "thinking"
	typeInterrupt  = "interrupt"
	typeResume     = "resume"
	typeLog        = "log"
	typeDebug      = "debug"
	typeError      = "error"
	typeEnd        = "end"
	typeRaw        = "raw"
)

var table = event.Table{
	Discriminators: []string{"type", "kind"},
	Envelopes:      []string{"result", "event", "rawEvent", "raw_event"},
	Named:          true,
	Failure:        "the run failed",
	Oversize:       event.Withheld,
	FailureType:    typeError,
	Types: map[string]event.Type{
		// The data of these is text, whatever it looks like. Whoever knows a session's id may end or resume it.
		typeSession: {Text: true, Client: true},
		typeChunk:   {Text: true, Client: true, Public: &event.Rule{Fact: event.KindText, Form: event.FormText}},
		typeAgent:   {Text: true, Client: true, Public: &scalar},
		typeError:   {Text: true, Client: true, Public: &event.Rule{Instead: "the run failed", Fact: event.KindError}},
		typeEnd:     {Text: true, Client: true, Public: &scalar, Words: &event.Words{}}, // some servers repeat the whole answer

		typeTrace: {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{
			"type":           &scalar,
			"node":           &scalar,
			"step":           &number,
			"duration_ms":    &number,
			"total_steps":    &number,
			"state_snapshot": {Members: map[string]*event.Rule{"input": &state, "output": &state}},
			"state":          &state,
		}}},
		typeToolCall:   {Client: true, Public: &event.Rule{Members: named, Fact: event.KindToolStarted}},
		typeToolResult: {Client: true, Public: &event.Rule{Members: named, Fact: event.KindToolEnded}},
		typeThinking: {Client: true, Public: &event.Rule{Fact: event.KindThought, Thought: []string{"content"}, Members: map[string]*event.Rule{
			"content": {Fact: event.KindThought, Form: event.FormText},
			"agent":   &scalar,
		}}},
		// The message is the question; the data beside it are the workflow's, and the ids of thread and checkpoint its innards.
		typeInterrupt: {Client: true, Public: &event.Rule{Fact: event.KindInputRequested, Members: map[string]*event.Rule{
			"type": &scalar, "node_id": &scalar, "message": {Form: event.FormText}, "timestamp": &moment,
		}}},
		typeResume: {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{
			"type": &scalar, "node_id": &scalar, "timestamp": &moment,
		}}},
		typeLog: {Client: true}, // names models

		// What traces call themselves. No frame is of these types.
		traceNodeStart: {}, traceNodeEnd: {}, traceState: {}, traceDone: {},

		// Not here, so that they stay in: debug, which repeats every other frame with all that its program knows, and the traces
		// of the graph library, which hold the whole state and whole events of agents.
	},
}

// Table is what may leave a stream of ADK Studio.
func (Dialect) Table() *event.Table { return &table }

var (
	scalar = event.Rule{}
	moment = event.Rule{Form: event.FormTime}
	number = event.Rule{Form: event.FormPlain}
	state  = event.Rule{State: true, Fact: event.KindState}
	named  = map[string]*event.Rule{"name": &scalar}
)
