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
	// What a remote agent was asked and answered over A2A stands in the custom metadata, with all that may stand within an update.
	Envelopes: []string{
		"event", "result", "rawEvent", "raw_event", "customMetadata", "custom_metadata", "a2a:request", "a2a:response", "params",
		"task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "artifacts", "history", "parts", "metadata", "adk_custom_metadata",
	},
	Events:   []string{"message", "error"}, // Go names its error frames
	Failure:  `{"error":"the run failed"}`,
	Oversize: `{"error":"` + event.Withheld + `"}`,
	Types: map[string]event.Type{
		typeEvent:   {Client: true, Public: &publicEvent, Words: &words},
		typeWrapped: {Client: true, Words: &words, Public: &event.Rule{Members: map[string]*event.Rule{"ui_protocol": &scalar, "event": &publicEvent}}},
		typeError:   {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{"error": {Instead: `"the run failed"`, Fact: event.KindError}}}},
	},
}

// Table is what may leave an ADK stream.
func (Dialect) Table() *event.Table { return &table }

// words are what an event says outside of its content: in transcripts, a node's output, and the answers of remote agents.
var words = event.Words{
	Members: map[string]event.Kind{
		"output": event.KindText, "text": event.KindText,
	},
	Within: []string{
		"event", "outputTranscription", "output_transcription", "inputTranscription", "input_transcription", "customMetadata", "custom_metadata",
		"a2a:request", "a2a:response", "params", "result", "task", "message", "statusUpdate", "artifactUpdate", "status", "artifact",
		"artifacts", "history", "parts",
	},
	Authors:  []string{"author", "adk_author"},
	Thought:  thoughtSigns,
	Metadata: []string{"metadata"},
}

var (
	scalar = event.Rule{}
	flag   = event.Rule{Form: event.FormPlain}
	moment = event.Rule{Form: event.FormTime}

	// Who speaks. Words in another role are no answer's.
	publicRole = event.Rule{Form: event.FormPlain, Values: []string{"model", "user", "assistant"}}

	// publicReason is why a model stopped; in the place of any other, which might be a message, stands that it is another.
	publicReason = event.Rule{Instead: `"OTHER"`, Values: reasons}
)

// reasons are those for which a model of Gemini stops, and those of models that speak OpenAI's or Anthropic's protocol.
var reasons = []string{
	"", "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT",
	"SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL", "IMAGE_PROHIBITED_CONTENT", "NO_IMAGE",
	"IMAGE_RECITATION", "IMAGE_OTHER", "TOO_MANY_TOOL_CALLS",
	"stop", "length", "tool_calls", "function_call", "content_filter", "end_turn", "max_tokens", "stop_sequence", "tool_use",
}

// publicEvent is an event without thoughts, arguments, results, state, usage, secrets, and the words of errors and of the user:
// the decoder takes none of these for text of an answer. Both spellings stand here, since both are sent.
var publicEvent = event.Rule{Thought: thoughtSigns, Members: map[string]*event.Rule{
	"thought":       &publicSign,
	"id":            &scalar,
	"invocationId":  &scalar,
	"invocation_id": &scalar,
	"author":        &scalar,
	"branch":        &scalar,
	"timestamp":     &moment,
	"partial":       &flag,
	"turnComplete":  &flag,
	"turn_complete": &flag,
	"interrupted":   &flag,
	"finishReason":  &publicReason,
	"finish_reason": &publicReason,
	"errorCode":     &publicCode,
	"error_code":    &publicCode,
	"content": {Thought: thoughtSigns, Members: map[string]*event.Rule{
		"role":    &publicRole,
		"thought": &publicSign,
		"parts":   {Each: &publicPart},
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
		"escalate":       &flag,
		"endInvocation":  &flag,
		"end_invocation": &flag,
		// The hint is the question that somebody is to answer; the payload beside it is the tool's.
		"requestedToolConfirmations":   {Names: &publicQuestion},
		"requested_tool_confirmations": {Names: &publicQuestion},
	}},
}}

// publicCode is a reason for which a model ended; servers put the names of their exceptions there too.
var publicCode = event.Rule{
	Instead: `"ERROR"`, Fact: event.KindError, Values: reasons,
}

// thoughtSigns mark a thought. The protocol has them in parts; an agent, or a converter, may have set them around or within them.
var thoughtSigns = []string{"thought", "thinking", "adk_thought"}

// publicSign leaves where a thought may, which says that it is one.
var publicSign = event.Rule{Form: event.FormPlain, Else: "true"}

var publicMetadata = event.Rule{Members: map[string]*event.Rule{"thought": &publicSign, "adk_thought": &publicSign}}

var publicPart = event.Rule{
	Thought: thoughtSigns,
	Signed:  partMetadata,
	Members: map[string]*event.Rule{
		"text":              {Fact: event.KindText, Form: event.FormText},
		"thought":           &publicSign,
		"adk_thought":       &publicSign,
		"partMetadata":      &publicMetadata,
		"part_metadata":     &publicMetadata,
		"thinking":          {Form: event.FormText}, // stands in no part that is not a thought
		"functionCall":      {Members: publicCall, Fact: event.KindToolStarted},
		"function_call":     {Members: publicCall, Fact: event.KindToolStarted},
		"functionResponse":  {Members: publicCall, Fact: event.KindToolEnded},
		"function_response": {Members: publicCall, Fact: event.KindToolEnded},
		"name":              {Fact: event.KindToolStarted}, // Rust: a call without its wrapper
		"id":                &scalar,
	},
}

var publicCall = map[string]*event.Rule{"id": &scalar, "name": &scalar}

var publicQuestion = event.Rule{Members: map[string]*event.Rule{"hint": {Form: event.FormText}}, Fact: event.KindInputRequested}
