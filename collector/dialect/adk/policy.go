package adk

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Types of frames. The protocol has no names for them.
const (
	typeEvent   = "event"
	typePauses  = "pauses"  // an event with nothing but requests that pause calls
	typeFailed  = "failed"  // an event with an error message and no error code
	typeRelayed = "relayed" // an event of a remote agent (see frame.isRelayed)
	typeEntries = "entries" // the same from Java's servers, with a list as custom metadata
	typeOutput  = "output"  // an event that repeats its output (see frame.showsStepOutput)
	typeSummary = "summary" // see frame.isSummary; the public gets nothing of it
	typeError   = "error"

	// The same in the envelope of Rust servers.
	typeWrapped        = "wrapped"
	typeWrappedPauses  = "wrapped pauses"
	typeWrappedFailed  = "wrapped failed"
	typeWrappedRelayed = "wrapped relayed"
	typeWrappedOutput  = "wrapped output"
)

var wrappedTypes = map[string]string{
	typeEvent: typeWrapped, typePauses: typeWrappedPauses, typeFailed: typeWrappedFailed, typeRelayed: typeWrappedRelayed, typeOutput: typeWrappedOutput,
}

// typeOf returns the type of an event.
func (f *frame) typeOf(isWrapped bool) string {
	kind := typeEvent
	switch {
	case f.isSummary():
		return typeSummary
	case f.showsStepOutput():
		kind = typeOutput
	case f.remote.Failure != event.NoFailure, f.hasOnlyErrorMessage():
		kind = typeFailed
	case f.pausesCalls():
		kind = typePauses
	case f.isRelayed():
		kind = typeRelayed
		if !isWrapped && f.customMetadata.Kind() == strictjson.Array {
			kind = typeEntries
		}
	}
	if isWrapped {
		return wrappedTypes[kind]
	}
	return kind
}

var table = event.Table{
	// ADK events have neither member. A frame with one of them belongs to another protocol, unless its
	// value is one of the types below.
	Discriminators: []string{"kind", "type"},
	NameMembers:    []string{"event"},
	// The custom metadata contains the request to a remote agent (A2A) and its answer. Both may contain
	// all that A2A allows.
	Envelopes: append([]string{
		"event", "result", "rawEvent", "raw_event", "customMetadata", "custom_metadata", "a2a:request", "a2a:response", "params",
		"task", "updateEvent", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "artifacts", "history", "parts", "metadata",
	}, wire.ADKCustom...),
	FreeMembers: []string{
		"args", "response", "stateDelta", "state_delta", "artifactDelta", "artifact_delta", "customMetadata", "custom_metadata", "output",
		"payload", "schema", "responseSchema", "response_schema",
	},
	EncodedMembers:  wire.ADKEncodedMembers,
	EntryKeys:       wire.EntryKeys,
	IgnoreEventName: true,              // the ADK's clients read only the data
	KeptEvents:      []string{"error"}, // the Go server names its error frames
	FailureData:     `{"error":"the run failed"}`,
	// The clients for Python and JavaScript stop at {"error":…}, although the run goes on. They accept this
	// event, and treat it neither as an answer nor as the end. No agent has the name "user".
	OversizeData: `{"author":"user","partial":true,"errorMessage":"` + event.OversizeMessage + `"}`,
	Types: map[string]event.Type{
		typeEvent:         {Client: true, Words: &words, Public: &publicEvent},
		typeWrapped:       {Client: true, Words: &words, Public: wrapped(&publicEvent)},
		typePauses:        {Client: true, Words: &words, Public: &publicPauses},
		typeWrappedPauses: {Client: true, Words: &words, Public: wrapped(&publicPauses)},
		// The error message of such an event is all that says that its agent failed.
		typeFailed:         {Client: true, Words: &words, Public: &publicFailed},
		typeWrappedFailed:  {Client: true, Words: &words, Public: wrapped(&publicFailed)},
		typeRelayed:        {Client: true, Words: &words, Public: &publicRelayed},
		typeWrappedRelayed: {Client: true, Words: &words, Public: wrapped(&publicRelayed)},
		typeEntries:        {Client: true, Words: &words, Public: &publicEntries},
		typeOutput:         {Client: true, Words: &words, Public: &publicOutput},
		typeWrappedOutput:  {Client: true, Words: &words, Public: wrapped(&publicOutput)},
		typeSummary:        {Client: true, AnyFact: true},
		typeError:          {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{"error": {Replacement: `"the run failed"`, Fact: event.KindError}}}},
	},
}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

// wrapped returns the rule for an event in the envelope of Rust servers.
func wrapped(rule *event.Rule) *event.Rule {
	return &event.Rule{Members: map[string]*event.Rule{"ui_protocol": &scalar, "event": rule}}
}

// words finds the texts outside of an event's content: transcripts, a node's output, and the
// answers of remote agents.
var words = event.Words{
	Members: map[string]event.Kind{
		"output": event.KindText, "text": event.KindText,
	},
	Containers: []string{
		"event", "outputTranscription", "output_transcription", "inputTranscription", "input_transcription", "customMetadata", "custom_metadata",
		"a2a:request", "a2a:response", "params", "result", "task", "updateEvent", "message", "statusUpdate", "artifactUpdate", "status", "artifact",
		"artifacts", "history", "parts", "actions", "compaction", "compactedContent", "compacted_content",
	},
	AuthorMembers:   append([]string{"author"}, wire.ADKAuthors...),
	ThoughtMarkers:  thoughtMarkers,
	MetadataMembers: []string{"metadata"},
	TypedMembers:    []string{"data"},
	TypeMembers:     wire.ADKTypes,
	TypeKinds:       wire.ADKPartKinds,
}

var (
	scalar    = event.Rule{}
	id        = event.Rule{Form: event.FormID}
	toolName  = event.Rule{Form: event.FormTool}
	flag      = event.Rule{Form: event.FormEnum}
	timestamp = event.Rule{Form: event.FormTime}

	// publicRole lets only the roles of answers leave.
	publicRole = event.Rule{Form: event.FormEnum, AllowedValues: []string{"model", "user", "assistant"}}

	// publicReason is why a model stopped. Any other value might be a message and is replaced by
	// "OTHER".
	publicReason = event.Rule{Replacement: `"OTHER"`, AllowedValues: slices.Concat(finishReasons, wire.FailedReasons(), wire.NoReasons), EndsResponse: true}
)

// finishReasons are the finish reasons of Gemini, and of models that use the protocols of OpenAI or
// Anthropic.
var finishReasons = []string{
	"", "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT",
	"SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL", "IMAGE_PROHIBITED_CONTENT", "NO_IMAGE",
	"IMAGE_RECITATION", "IMAGE_OTHER", "TOO_MANY_TOOL_CALLS",
	"stop", "length", "tool_calls", "function_call", "content_filter", "end_turn", "max_tokens", "stop_sequence", "tool_use",
}

// publicEvent keeps an event without thoughts, arguments, results, state, usage, secrets, error
// messages and the user's text. The decoder reports none of these as text of an answer. The rule lists
// both spellings of a member, because servers send both.
var publicEvent = event.Rule{ThoughtMarkers: thoughtMarkers, ThoughtMarkersIn: metadataMembers, Members: map[string]*event.Rule{
	"thought":       &publicThoughtMarker,
	"id":            &scalar,
	"invocationId":  &scalar,
	"invocation_id": &scalar,
	"author":        &scalar,
	"branch":        &scalar,
	"timestamp":     &timestamp,
	"partial":       &flag,
	"turnComplete":  &flag,
	"turn_complete": &flag,
	"interrupted":   &flag,
	"finishReason":  &publicReason,
	"finish_reason": &publicReason,
	"errorCode":     &publicCode,
	"error_code":    &publicCode,
	"content": {ThoughtMarkers: thoughtMarkers, ThoughtMarkersIn: metadataMembers, Members: map[string]*event.Rule{
		"role":    &publicRole,
		"thought": &publicThoughtMarker,
		"parts":   {Elements: &publicPart},
	}},
	"longRunningToolIds":    {Elements: &id},
	"long_running_tool_ids": {Elements: &id},
	"actions": {Members: map[string]*event.Rule{
		"transferToAgent":   {Fact: event.KindTransfer},
		"transfer_to_agent": {Fact: event.KindTransfer},
		// The value of each artifact is its version. An artifact's content would be removed.
		"artifactDelta":  {AnyMember: &event.Rule{Fact: event.KindArtifact}},
		"artifact_delta": {AnyMember: &event.Rule{Fact: event.KindArtifact}},
		"stateDelta":     {State: true, Fact: event.KindState},
		"state_delta":    {State: true, Fact: event.KindState},
		// A run that ends with a tool's response is over only if the event says so.
		"skipSummarization":  &flag,
		"skip_summarization": &flag,
		"escalate":           &flag,
		"endInvocation":      &flag,
		"end_invocation":     &flag,
		// The hint is the question to the user. The payload next to it is the tool's.
		"requestedToolConfirmations":   {AnyMember: &publicQuestion},
		"requested_tool_confirmations": {AnyMember: &publicQuestion},
		// The widget of an MCP app has the arguments of the call.
		"renderUiWidgets":   &foundCall,
		"render_ui_widgets": &foundCall,
	}},
}}

// publicFailed is publicEvent with a fixed error message instead of the agent's.
var publicFailed = func() event.Rule {
	message := &event.Rule{Replacement: `"the agent failed"`, Fact: event.KindError, AllowedValues: []string{""}}
	failed := publicEvent
	failed.Members = maps.Clone(failed.Members)
	failed.Members["errorMessage"], failed.Members["error_message"] = message, message
	// The metadata may be all that says that a remote agent failed.
	camel, snake := *message, *message
	camel.RenameTo, snake.RenameTo = "errorMessage", "error_message"
	failed.Members["customMetadata"], failed.Members["custom_metadata"] = &camel, &snake
	return failed
}()

// publicOutput is publicEvent without the content.
var publicOutput = func() event.Rule {
	output := publicEvent
	output.Members = maps.Clone(output.Members)
	delete(output.Members, "content")
	return output
}()

// publicRelayed and publicEntries are publicEvent with the mark of a remote agent's event. Without it, the event looks like that of
// a model. The mark has the form that the server's clients expect.
var (
	publicRelayed = withMark(`{"` + wire.A2AResponse + `":{}}`)
	publicEntries = withMark(`[{"key":"` + wire.A2AResponse + `","stringValue":"{}"}]`)
)

func withMark(custom string) event.Rule {
	relayed := publicEvent
	relayed.Members = maps.Clone(relayed.Members)
	mark := &event.Rule{Replacement: custom}
	relayed.Members["customMetadata"], relayed.Members["custom_metadata"] = mark, mark
	return relayed
}

// publicPauses is publicEvent with the IDs of the calls that are paused.
var publicPauses = func() event.Rule {
	call := &event.Rule{Members: maps.Clone(publicCall), Fact: event.KindToolStarted}
	call.Members["args"] = &wire.PublicPause
	part, content, pauses := publicPart, *publicEvent.Members["content"], publicEvent
	part.Members, content.Members, pauses.Members = maps.Clone(part.Members), maps.Clone(content.Members), maps.Clone(pauses.Members)
	part.Members["functionCall"], part.Members["function_call"] = call, call
	content.Members["parts"] = &event.Rule{Elements: &part}
	pauses.Members["content"] = &content
	return pauses
}()

// publicCode is an error code. Servers put finish reasons there, but also names of exceptions,
// which are replaced.
var publicCode = event.Rule{Replacement: `"ERROR"`, Fact: event.KindError, AllowedValues: finishReasons}

// thoughtMarkers are the members that mark a thought. The protocol defines them for parts; an agent
// or a converter may put them into the objects around or within parts.
var thoughtMarkers = []string{"thought", "thinking", "adk_thought"}

// metadataMembers are the members that hold an agent's or a converter's own data. They may mark the object
// around them as a thought.
var metadataMembers = slices.Concat(partMetadata, []string{"metadata", "customMetadata", "custom_metadata"})

// publicThoughtMarker keeps the mark of a thought that may leave.
var publicThoughtMarker = event.Rule{Form: event.FormEnum, Fallback: "true"}

var publicMetadata = event.Rule{Members: map[string]*event.Rule{"thought": &publicThoughtMarker, "adk_thought": &publicThoughtMarker}}

var publicPart = event.Rule{
	ThoughtMarkers:   thoughtMarkers,
	ThoughtMarkersIn: metadataMembers,
	Members: map[string]*event.Rule{
		"text":              {Fact: event.KindText, Form: event.FormText},
		"thought":           &publicThoughtMarker,
		"adk_thought":       &publicThoughtMarker,
		"partMetadata":      &publicMetadata,
		"part_metadata":     &publicMetadata,
		"thinking":          {Form: event.FormText}, // appears only in thoughts
		"functionCall":      {Members: publicCall, Fact: event.KindToolStarted},
		"function_call":     {Members: publicCall, Fact: event.KindToolStarted},
		"functionResponse":  {Members: publicResponse, Fact: event.KindToolEnded},
		"function_response": {Members: publicResponse, Fact: event.KindToolEnded},
		"name":              {Fact: event.KindToolStarted, Form: event.FormTool}, // Rust: a call without its wrapper
		"id":                &id,

		"executableCode": &foundCall, "executable_code": &foundCall, "toolCall": &foundCall, "tool_call": &foundCall,
		"codeExecutionResult": &foundResult, "code_execution_result": &foundResult, "toolResponse": &foundResult, "tool_response": &foundResult,
	},
}

// Rules for calls and results of tools that the model's server runs. The decoder reports none in partial frames.
var (
	foundCall   = event.Rule{FindOnly: true, Fact: event.KindToolStarted}
	foundResult = event.Rule{FindOnly: true, Fact: event.KindToolEnded}
)

var (
	publicCall     = map[string]*event.Rule{"id": &id, "name": &toolName}
	publicResponse = map[string]*event.Rule{"id": &id, "name": &toolName, "response": &wire.PublicResponse}
)

var publicQuestion = event.Rule{Members: map[string]*event.Rule{"hint": {Form: event.FormText}}, Fact: event.KindInputRequested}
