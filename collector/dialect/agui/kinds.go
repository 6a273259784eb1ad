package agui

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Types of events.
const (
	typeRunStarted              = "RUN_STARTED"
	typeRunFinished             = "RUN_FINISHED"
	typeRunError                = "RUN_ERROR"
	typeStepStarted             = "STEP_STARTED"
	typeStepFinished            = "STEP_FINISHED"
	typeSubagentStarted         = "SUBAGENT_STARTED"
	typeSubagentFinished        = "SUBAGENT_FINISHED"
	typeSubagentError           = "SUBAGENT_ERROR"
	typeTextStart               = "TEXT_MESSAGE_START"
	typeTextContent             = "TEXT_MESSAGE_CONTENT"
	typeTextEnd                 = "TEXT_MESSAGE_END"
	typeTextChunk               = "TEXT_MESSAGE_CHUNK"
	typeToolStart               = "TOOL_CALL_START"
	typeToolArgs                = "TOOL_CALL_ARGS"
	typeToolEnd                 = "TOOL_CALL_END"
	typeToolChunk               = "TOOL_CALL_CHUNK"
	typeToolResult              = "TOOL_CALL_RESULT"
	typeReasoningStart          = "REASONING_START"
	typeReasoningMessageStart   = "REASONING_MESSAGE_START"
	typeReasoningMessageContent = "REASONING_MESSAGE_CONTENT"
	typeReasoningMessageEnd     = "REASONING_MESSAGE_END"
	typeReasoningMessageChunk   = "REASONING_MESSAGE_CHUNK"
	typeReasoningEnd            = "REASONING_END"
	typeReasoningEncryptedValue = "REASONING_ENCRYPTED_VALUE"
	typeStateSnapshot           = "STATE_SNAPSHOT"
	typeStateDelta              = "STATE_DELTA"
	typeMessagesSnapshot        = "MESSAGES_SNAPSHOT"
	typeActivitySnapshot        = "ACTIVITY_SNAPSHOT"
	typeActivityDelta           = "ACTIVITY_DELTA"
	typeRaw                     = "RAW"
	typeCustom                  = "CUSTOM"

	// Names of reasoning events before 1.0.
	typeThinkingStart       = "THINKING_START"
	typeThinkingEnd         = "THINKING_END"
	typeThinkingTextStart   = "THINKING_TEXT_MESSAGE_START"
	typeThinkingTextContent = "THINKING_TEXT_MESSAGE_CONTENT"
	typeThinkingTextEnd     = "THINKING_TEXT_MESSAGE_END"
)

// kind describes a type of event, and its part in an entity.
type kind struct {
	name          string
	required      []string // required string members
	ambiguous     bool     // other protocols could use this type
	endsChunks    bool     // it ends the message that its agent sends in chunks
	endsAllChunks bool     // it ends the messages that all agents send in chunks
	entity        entity   // the entity that it is part of
	idMember      string   // the member with the id of that entity
	begins        bool     // it is the entity's first event
	chunk         bool     // it is the first or the next event of an entity that is sent in chunks
	firstMember   string   // of a chunk: the member that only a first chunk must have, or ""
	ends          bool     // it ends the entity, or its pieces, and has nothing else
	state         bool     // it states the session's state, or changes it
	piece         bool     // a runtime of CopilotKit joins it with others in what it repeats
	decode        func(*decoder, strictjson.Value, *event.Batch)
}

var kinds map[string]*kind

// init fills the table: its functions refer to it, so a variable initializer would be a cycle.
func init() {
	kinds = wire.IndexByName(func(k *kind) string { return k.name },
		kind{name: typeRunStarted, required: []string{"threadId", "runId"}, endsChunks: true, endsAllChunks: true, decode: (*decoder).runStarted},
		kind{name: typeRunFinished, required: []string{"threadId", "runId"}, endsChunks: true, endsAllChunks: true, decode: (*decoder).runFinished},
		kind{name: typeRunError, required: []string{"message"}, ambiguous: true, decode: (*decoder).runError},
		kind{name: typeStepStarted, required: []string{"stepName"}, endsChunks: true, entity: entityStep, idMember: "stepName", begins: true, decode: (*decoder).stepStarted},
		kind{name: typeStepFinished, required: []string{"stepName"}, endsChunks: true, entity: entityStep, idMember: "stepName", ends: true, decode: (*decoder).stepFinished},
		kind{name: typeSubagentStarted, required: []string{"subagentRunId", "name"}, entity: entitySubagent, idMember: "subagentRunId", begins: true, decode: (*decoder).subagentStarted},
		kind{name: typeSubagentFinished, required: []string{"subagentRunId"}, endsChunks: true, entity: entitySubagent, idMember: "subagentRunId", decode: (*decoder).subagentFinished},
		kind{name: typeSubagentError, required: []string{"subagentRunId"}, endsChunks: true, entity: entitySubagent, idMember: "subagentRunId", decode: (*decoder).subagentError},
		kind{name: typeTextStart, required: []string{"messageId"}, endsChunks: true, entity: entityMessage, idMember: "messageId", begins: true, decode: (*decoder).textStart},
		kind{name: typeTextContent, required: []string{"messageId"}, endsChunks: true, entity: entityMessage, idMember: "messageId", piece: true, decode: (*decoder).textContent},
		kind{name: typeTextEnd, required: []string{"messageId"}, endsChunks: true, entity: entityMessage, idMember: "messageId", ends: true, decode: (*decoder).textEnd},
		kind{name: typeTextChunk, entity: entityMessage, idMember: "messageId", chunk: true, firstMember: "role", decode: (*decoder).textChunk},
		kind{name: typeToolStart, required: []string{"toolCallId", "toolCallName"}, endsChunks: true, entity: entityCall, idMember: "toolCallId", begins: true, decode: (*decoder).toolStart},
		kind{name: typeToolArgs, required: []string{"toolCallId"}, endsChunks: true, entity: entityCall, idMember: "toolCallId", piece: true, decode: (*decoder).toolArgs},
		kind{name: typeToolEnd, required: []string{"toolCallId"}, endsChunks: true, entity: entityCall, idMember: "toolCallId", ends: true, decode: (*decoder).toolEnd},
		kind{name: typeToolChunk, entity: entityCall, idMember: "toolCallId", chunk: true, firstMember: "toolCallName", decode: (*decoder).toolChunk},
		kind{name: typeToolResult, required: []string{"toolCallId"}, endsChunks: true, entity: entityCall, idMember: "toolCallId", decode: (*decoder).toolResult},
		kind{name: typeReasoningStart, endsChunks: true, entity: entityPhase, idMember: "messageId", begins: true, decode: (*decoder).other},
		kind{name: typeReasoningMessageStart, endsChunks: true, entity: entityThought, idMember: "messageId", begins: true, decode: (*decoder).other},
		kind{name: typeReasoningMessageContent, endsChunks: true, entity: entityThought, idMember: "messageId", decode: (*decoder).thought},
		kind{name: typeReasoningMessageEnd, endsChunks: true, entity: entityThought, idMember: "messageId", ends: true, decode: (*decoder).other},
		kind{name: typeReasoningMessageChunk, endsChunks: true, entity: entityThought, idMember: "messageId", chunk: true, decode: (*decoder).thought},
		kind{name: typeReasoningEnd, endsChunks: true, entity: entityPhase, idMember: "messageId", ends: true, decode: (*decoder).other},
		kind{name: typeReasoningEncryptedValue, decode: (*decoder).other},
		kind{name: typeStateSnapshot, endsChunks: true, state: true, piece: true, decode: (*decoder).stateSnapshot},
		kind{name: typeStateDelta, endsChunks: true, state: true, piece: true, decode: (*decoder).stateDelta},
		kind{name: typeMessagesSnapshot, endsChunks: true, endsAllChunks: true, decode: (*decoder).messagesSnapshot},
		kind{name: typeActivitySnapshot, required: []string{"messageId"}, entity: entityActivity, idMember: "messageId", begins: true, decode: (*decoder).activitySnapshot},
		kind{name: typeActivityDelta, required: []string{"messageId"}, entity: entityActivity, idMember: "messageId", decode: (*decoder).activityDelta},
		kind{name: typeRaw, ambiguous: true, decode: (*decoder).raw},
		kind{name: typeCustom, ambiguous: true, endsChunks: true, decode: (*decoder).custom},
		kind{name: typeThinkingStart, endsChunks: true, entity: entityPhase, begins: true, decode: (*decoder).other},
		kind{name: typeThinkingEnd, endsChunks: true, entity: entityPhase, ends: true, decode: (*decoder).other},
		kind{name: typeThinkingTextStart, endsChunks: true, entity: entityThinking, begins: true, decode: (*decoder).other},
		kind{name: typeThinkingTextContent, endsChunks: true, entity: entityThinking, decode: (*decoder).thought},
		kind{name: typeThinkingTextEnd, endsChunks: true, entity: entityThinking, ends: true, decode: (*decoder).other},
	)
}

// kindOf returns the kind of an event, or nil if the protocol has none of its type. A mark before the type counts as one in the event:
// internal:RUN_STARTED is read as RUN_STARTED.
func kindOf(v strictjson.Value) *kind {
	name := v.Get("type").Text()
	if unmarked := lenient.WithoutMark(name); len(unmarked) < len(name) {
		return kinds[strings.ToUpper(string(unmarked))]
	}
	return kinds[string(name)]
}
