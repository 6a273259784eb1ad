package adk

import "github.com/delegraph/delegraph/collector/event"

// The types of an ADK stream's frames. The protocol itself has no names for them.
const (
	typeEvent   = "event"
	typeWrapped = "wrapped" // an event in the envelope of Rust servers
	typeError   = "error"
)

var table = event.Table{
	// An ADK event has neither; one that has is something else, unless it says that it is one of the types below.
	Discriminators: []string{"kind", "type"},
	// What a remote agent answered over A2A stands in the custom metadata.
	Envelopes: []string{"event", "result", "rawEvent", "raw_event", "customMetadata", "custom_metadata", "a2a:response"},
	Events:    []string{"message", "error"}, // Go names its error frames
	Failure:   `{"error":"the run failed"}`,
	Types: map[string]event.Type{
		typeEvent:   {Client: true, Public: &publicEvent},
		typeWrapped: {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{"ui_protocol": &scalar, "event": &publicEvent}}},
		typeError:   {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{"error": {Instead: `"the run failed"`, Fact: event.KindError}}}},
	},
}

// Table is what may leave an ADK stream.
func (Dialect) Table() *event.Table { return &table }

var scalar = event.Rule{}

// publicEvent is an event without thoughts, arguments, results, state, usage, secrets, and the words of errors and of the user:
// the decoder takes none of these for text of an answer. Both spellings stand here, since both are sent.
var publicEvent = event.Rule{Members: map[string]*event.Rule{
	"id":            &scalar,
	"invocationId":  &scalar,
	"invocation_id": &scalar,
	"author":        &scalar,
	"branch":        &scalar,
	"timestamp":     &scalar,
	"partial":       &scalar,
	"turnComplete":  &scalar,
	"turn_complete": &scalar,
	"interrupted":   &scalar,
	"finishReason":  &scalar,
	"finish_reason": &scalar,
	"errorCode":     &publicCode,
	"error_code":    &publicCode,
	"content": {Members: map[string]*event.Rule{
		"role":  &scalar,
		"parts": {Each: &publicPart},
	}},
	"longRunningToolIds":    {Each: &scalar},
	"long_running_tool_ids": {Each: &scalar},
	"actions": {Members: map[string]*event.Rule{
		"transferToAgent":   {Fact: event.KindTransfer},
		"transfer_to_agent": {Fact: event.KindTransfer},
		// Beside an artifact's name stands its version. Should the artifact itself stand there, it stays in.
		"artifactDelta":  {Names: &event.Rule{Fact: event.KindArtifact}},
		"artifact_delta": {Names: &event.Rule{Fact: event.KindArtifact}},
		"stateDelta":     {State: true, Fact: event.KindState},
		"state_delta":    {State: true, Fact: event.KindState},
		"escalate":       &scalar,
		"endInvocation":  &scalar,
		"end_invocation": &scalar,
		// The hint is the question that somebody is to answer; the payload beside it is the tool's.
		"requestedToolConfirmations":   {Names: &publicQuestion},
		"requested_tool_confirmations": {Names: &publicQuestion},
	}},
}}

// publicCode is a reason for which a model ended; servers put the names of their exceptions there too.
var publicCode = event.Rule{
	Instead: `"ERROR"`, Fact: event.KindError,
	Values: []string{
		"", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL",
	},
}

var publicPart = event.Rule{
	Thought: []string{"thought", "thinking"},
	Members: map[string]*event.Rule{
		"text":              {Fact: event.KindText},
		"thought":           &scalar, // where a thought may leave, it says that it is one
		"thinking":          &scalar, // stands in no part that is not a thought
		"functionCall":      {Members: publicCall, Fact: event.KindToolStarted},
		"function_call":     {Members: publicCall, Fact: event.KindToolStarted},
		"functionResponse":  {Members: publicCall, Fact: event.KindToolEnded},
		"function_response": {Members: publicCall, Fact: event.KindToolEnded},
		"name":              {Fact: event.KindToolStarted}, // Rust: a call without its wrapper
		"id":                &scalar,
	},
}

var publicCall = map[string]*event.Rule{"id": &scalar, "name": &scalar}

var publicQuestion = event.Rule{Members: map[string]*event.Rule{"hint": &scalar}, Fact: event.KindInputRequested}
