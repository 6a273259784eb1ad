package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The types of events.
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

	// Before 1.0, by reasoning's first name.
	typeThinkingStart       = "THINKING_START"
	typeThinkingEnd         = "THINKING_END"
	typeThinkingTextStart   = "THINKING_TEXT_MESSAGE_START"
	typeThinkingTextContent = "THINKING_TEXT_MESSAGE_CONTENT"
	typeThinkingTextEnd     = "THINKING_TEXT_MESSAGE_END"
)

// kind is a type of event.
type kind struct {
	name   string
	needs  []string // members that are strings
	common bool     // others could have a type of this name
	lane   bool     // it ends what its agent sends in chunks
	run    bool     // and what all agents do
	of     thing    // that it is part of
	id     string   // the member that names it
	begins bool     // it is its first
	chunk  bool     // it is its first, or the next, of what its owner sends in chunks
	ends   bool     // it is its last
	state  func(*decoder, strictjson.Value, *event.Batch)
}

var kinds map[string]*kind

// The table is filled here since what is in it looks into it.
func init() {
	kinds = byName(
		kind{name: typeRunStarted, needs: []string{"threadId", "runId"}, lane: true, run: true, state: (*decoder).runStarted},
		kind{name: typeRunFinished, needs: []string{"threadId", "runId"}, lane: true, run: true, state: (*decoder).runFinished},
		kind{name: typeRunError, needs: []string{"message"}, common: true, state: (*decoder).runError},
		kind{name: typeStepStarted, needs: []string{"stepName"}, lane: true, of: aStep, id: "stepName", begins: true, state: (*decoder).stepStarted},
		kind{name: typeStepFinished, needs: []string{"stepName"}, lane: true, of: aStep, id: "stepName", ends: true, state: (*decoder).stepFinished},
		kind{name: typeSubagentStarted, needs: []string{"subagentRunId", "name"}, of: aSubagent, id: "subagentRunId", begins: true, state: (*decoder).subagentStarted},
		kind{name: typeSubagentFinished, needs: []string{"subagentRunId"}, lane: true, of: aSubagent, id: "subagentRunId", state: (*decoder).subagentFinished},
		kind{name: typeSubagentError, needs: []string{"subagentRunId"}, lane: true, of: aSubagent, id: "subagentRunId", state: (*decoder).subagentError},
		kind{name: typeTextStart, needs: []string{"messageId"}, lane: true, of: aMessage, id: "messageId", begins: true, state: (*decoder).textStart},
		kind{name: typeTextContent, needs: []string{"messageId"}, lane: true, of: aMessage, id: "messageId", state: (*decoder).textContent},
		kind{name: typeTextEnd, needs: []string{"messageId"}, lane: true, of: aMessage, id: "messageId", state: (*decoder).textEnd},
		kind{name: typeTextChunk, of: aMessage, id: "messageId", chunk: true, state: (*decoder).textChunk},
		kind{name: typeToolStart, needs: []string{"toolCallId", "toolCallName"}, lane: true, of: aCall, id: "toolCallId", begins: true, state: (*decoder).toolStart},
		kind{name: typeToolArgs, needs: []string{"toolCallId"}, lane: true, of: aCall, id: "toolCallId", state: (*decoder).toolArgs},
		kind{name: typeToolEnd, needs: []string{"toolCallId"}, lane: true, of: aCall, id: "toolCallId", state: (*decoder).toolEnd},
		kind{name: typeToolChunk, of: aCall, id: "toolCallId", chunk: true, state: (*decoder).toolChunk},
		kind{name: typeToolResult, needs: []string{"toolCallId"}, lane: true, of: aCall, id: "toolCallId", state: (*decoder).toolResult},
		kind{name: typeReasoningStart, lane: true, of: aPhase, id: "messageId", begins: true, state: (*decoder).other},
		kind{name: typeReasoningMessageStart, lane: true, of: aThought, id: "messageId", begins: true, state: (*decoder).other},
		kind{name: typeReasoningMessageContent, lane: true, of: aThought, id: "messageId", state: (*decoder).thought},
		kind{name: typeReasoningMessageEnd, lane: true, of: aThought, id: "messageId", ends: true, state: (*decoder).other},
		kind{name: typeReasoningMessageChunk, lane: true, of: aThought, id: "messageId", chunk: true, state: (*decoder).thought},
		kind{name: typeReasoningEnd, lane: true, of: aPhase, id: "messageId", ends: true, state: (*decoder).other},
		kind{name: typeReasoningEncryptedValue, state: (*decoder).other},
		kind{name: typeStateSnapshot, lane: true, state: (*decoder).stateSnapshot},
		kind{name: typeStateDelta, lane: true, state: (*decoder).stateDelta},
		kind{name: typeMessagesSnapshot, lane: true, run: true, state: (*decoder).messagesSnapshot},
		kind{name: typeActivitySnapshot, needs: []string{"messageId"}, of: anActivity, id: "messageId", begins: true, state: (*decoder).activitySnapshot},
		kind{name: typeActivityDelta, needs: []string{"messageId"}, of: anActivity, id: "messageId", state: (*decoder).activityDelta},
		kind{name: typeRaw, common: true, state: (*decoder).raw},
		kind{name: typeCustom, common: true, lane: true, state: (*decoder).custom},
		kind{name: typeThinkingStart, lane: true, of: aPhase, begins: true, state: (*decoder).other},
		kind{name: typeThinkingEnd, lane: true, of: aPhase, ends: true, state: (*decoder).other},
		kind{name: typeThinkingTextStart, lane: true, of: aThinking, begins: true, state: (*decoder).other},
		kind{name: typeThinkingTextContent, lane: true, of: aThinking, state: (*decoder).thought},
		kind{name: typeThinkingTextEnd, lane: true, of: aThinking, ends: true, state: (*decoder).other},
	)
}

func byName(all ...kind) map[string]*kind {
	named := make(map[string]*kind, len(all))
	for i := range all {
		named[all[i].name] = &all[i]
	}
	return named
}
