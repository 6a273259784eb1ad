package adkstudio

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
)

// Types of frames: the SSE event names of the protocol, and typeRaw for traces that are not meant for
// clients.
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
	Discriminators:  []string{"type", "kind"},
	Labels:          []string{"event"},                          // no frame of the protocol has this member; other protocols name their frames there
	Envelopes:       []string{"event", "rawEvent", "raw_event"}, // and resultTable's
	FreeMembers:     []string{"state_snapshot", "state", "input", "output", "args", "result", "data"},
	TypeIsEventName: true,
	FailureData:     "the run failed",
	OversizeData:    event.OversizeMessage,
	FailureType:     typeError,
	Types: map[string]event.Type{
		// The data of these types is text, even if it looks like JSON. The session does not leave
		// publicly: anyone who knows its id can end or resume it.
		typeSession: {Text: true, Client: true},
		typeChunk:   {Text: true, Answer: true, Client: true, Public: &event.Rule{Fact: event.KindText, Form: event.FormText}},
		typeAgent:   {Text: true, Client: true, Public: &scalar},
		typeError:   {Text: true, Client: true, Public: &event.Rule{Replacement: "the run failed", AllowedValues: []string{timeoutText}, Fact: event.KindError}},
		typeEnd:     {Text: true, Client: true, Public: &scalar, Words: &event.Words{}}, // the servers send it without text

		typeTrace: {Client: true, Words: &words, Public: &event.Rule{Members: map[string]*event.Rule{
			"type":           &scalar,
			"node":           &scalar,
			"step":           &number,
			"duration_ms":    &number,
			"total_steps":    &number,
			"state_snapshot": {Members: map[string]*event.Rule{"input": &publicState, "output": &publicState}},
			"state":          &publicState,
		}}},
		typeToolCall:   {Client: true, Words: &words, Public: &event.Rule{Members: publicCall, Fact: event.KindToolStarted}},
		typeToolResult: {Client: true, Words: &words, Public: &event.Rule{Members: publicCall, Fact: event.KindToolEnded}},
		typeThinking: {Client: true, Words: &thinkingWords, Public: &event.Rule{Fact: event.KindThought, ThoughtMarkers: []string{"content"}, Members: map[string]*event.Rule{
			"content": {Fact: event.KindThought, Form: event.FormText},
			"agent":   &scalar,
		}}},
		// The message is the question. The data next to it is the workflow's, and the ids of the
		// thread and checkpoint are internals of the server.
		typeInterrupt: {Client: true, Words: &words, Public: &event.Rule{Fact: event.KindInputRequested, Members: map[string]*event.Rule{
			"type": &scalar, "node_id": &scalar, "message": {Form: event.FormText}, "timestamp": &timestamp,
		}}},
		typeResume: {Client: true, Words: &words, Public: &event.Rule{Members: map[string]*event.Rule{
			"type": &scalar, "node_id": &scalar, "timestamp": &timestamp,
		}}},
		typeLog: {Client: true, Words: &words}, // names models

		// Values of the discriminator in traces. No frame has these types.
		traceNodeStart: {}, traceNodeEnd: {}, traceState: {}, traceDone: {},

		// Two types are left out, so that they are withheld: typeDebug, which repeats all other frames
		// with internal data, and typeRaw, traces of the graph library with the whole state and whole
		// events of agents.
	},
}

// resultTable also searches the member result. It applies to all frames except tool results, whose content is the
// user's data.
var resultTable = event.Table{Discriminators: table.Discriminators, NameMembers: table.Labels, Envelopes: append([]string{"result"}, table.Envelopes...)}

var prefilter = lenient.NewPrefilter(&table)

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

var (
	scalar      = event.Rule{}
	timestamp   = event.Rule{Form: event.FormTime}
	number      = event.Rule{Form: event.FormEnum}
	publicState = event.Rule{State: true, Fact: event.KindState}
	publicCall  = map[string]*event.Rule{"name": {Form: event.FormTool}}

	// words finds thoughts, and the texts of all nodes in the workflow's state.
	words = event.Words{
		Containers: []string{"state_snapshot", "state", "input", "output"}, AuthorMembers: authorMembers,
		Members: wire.WithThoughts(map[string]event.Kind{"state": event.KindText, "input": event.KindText, "output": event.KindText}),
	}
	thinkingWords = event.Words{AuthorMembers: authorMembers, Members: wire.WithThoughts(map[string]event.Kind{"content": event.KindThought})}
	authorMembers = []string{"node", "agent", "node_id"}
)
