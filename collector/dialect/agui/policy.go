package agui

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// Types of frames that the protocol does not define.
const (
	typeRunWithInput    = "prompted run"  // the start of a run whose request contains instructions for models
	typeRunWithQuestion = "asking run"    // the end of a run with a question about something withheld
	typeNonAnswer       = "foreign text"  // not an assistant's: the user's text, or instructions for models
	typeThoughtMessage  = "reasoned text" // a thought sent as a message
	typeOrphan          = "stray text"    // a piece of a message whose start was not seen; it is withheld because the table does not list it
	typeInterrupt       = "on_interrupt"  // a framework's own event that asks a question
	typeStateCopy       = "copied state"  // the event with which LangGraph's application sets the state
	typeError           = "error"         // an error of the server around the agent
)

// failure replaces the error of a run without saying why it failed.
const failure = `{"type":"RUN_ERROR","message":"the run failed"}`

var table = event.Table{
	// A kind belongs to another protocol. It may appear in an event of the agent's framework.
	Discriminators: []string{"type", "kind"},
	// Other protocols name their events in "event". No event of this protocol that leaves has it.
	Labels: []string{"activityType", "activity_type", "event"},
	// Applications put arbitrary data into CUSTOM and ACTIVITY events.
	Envelopes:     []string{"event", "rawEvent", "raw_event", "metadata"},
	DeepMembers:   []string{"value", "content", "patch"},
	OpaqueMembers: argumentMembers,
	FreeMembers: []string{
		"state", "snapshot", "delta", "patch", "tools", "context", "forwardedProps", "forwarded_props", "rawEvent", "raw_event", "event",
		"value", "content", "result", "resume", "payload", "metadata", "responseSchema", "response_schema",
	},
	IgnoreEventName: true,                              // the protocol's client reads only the data
	KeptEvents:      []string{"error"},                 // the ADK middleware names its errors
	InternalMembers: []string{"rawEvent", "raw_event"}, // like RAW: the framework's event, with the instructions for models
	FailureData:     failure,
	// The run goes on, but after RUN_ERROR the protocol's client accepts no more of its events.
	OversizeData: `{"type":"CUSTOM","name":"delegraph.oversize","value":"` + event.OversizeMessage + `"}`,
	Types: map[string]event.Type{
		typeRunStarted:      {Client: true, Public: publicRun, Words: &requestWords},
		typeRunWithInput:    {Client: true, InternalMembers: inputMembers, Public: publicRun},
		typeRunFinished:     {Client: true, Words: &resultWords, Public: frame(rules{"threadId": &scalar, "runId": &scalar, "outcome": &publicOutcome, "interrupt": &publicInterrupts})},
		typeRunWithQuestion: {Client: true, Words: &resultWords, InternalMembers: outcomeMembers, Public: frame(rules{"threadId": &scalar, "runId": &scalar})},
		typeRunError:        {Client: true, Public: frame(rules{"message": &publicFailure})},
		typeError:           {Client: true, Public: &event.Rule{Fact: event.KindError, Replacement: failure}}, // this error is not an event of the protocol

		typeStepStarted:  {Client: true, Public: frame(rules{"stepName": &scalar})},
		typeStepFinished: {Client: true, Public: frame(rules{"stepName": &scalar})},
		typeSubagentStarted: {Client: true, Public: frame(rules{
			"name": &scalar, "parentSubagentRunId": &scalar, "parentToolCallId": &id, "parentMessageId": &id,
		})},
		typeSubagentFinished: {Client: true, Words: &resultWords, Public: frame(rules{
			"outcome": {String: &outcomeName, Members: rules{"type": &outcomeName, "interruptIds": {Elements: &scalar}}},
		})},
		typeSubagentError: {Client: true, Public: frame(rules{"message": {Replacement: `"the subagent failed"`}})},

		typeTextStart:      {Client: true, Public: frame(rules{"messageId": &id, "role": &publicRole, "name": &scalar})},
		typeTextContent:    {Client: true, Public: frame(rules{"messageId": &id, "delta": &publicText})},
		typeTextEnd:        {Client: true, Public: frame(rules{"messageId": &id})},
		typeTextChunk:      {Client: true, Public: frame(rules{"messageId": &id, "role": &publicRole, "name": &scalar, "delta": &publicText})},
		typeNonAnswer:      {Client: true, Words: &userWords},
		typeThoughtMessage: {Client: true, Public: &publicThought},

		typeToolStart: {Client: true, Public: &publicCall},
		typeToolArgs:  {Client: true, Shows: callKinds},
		typeToolEnd:   {Client: true, Shows: callKinds, Public: frame(rules{"toolCallId": &id})}, // the end of the arguments
		typeToolChunk: {Client: true, Shows: callKinds, Public: &publicCall},
		typeToolResult: {Client: true, Public: frame(rules{
			"messageId": &id, "toolCallId": {Fact: event.KindToolEnded, Form: event.FormID}, "role": &publicRole, "content": {Replacement: `""`},
		})},

		typeReasoningStart:          {Client: true, Public: &publicThought},
		typeReasoningMessageStart:   {Client: true, Public: &publicThought},
		typeReasoningMessageContent: {Client: true, Public: &publicThought},
		typeReasoningMessageEnd:     {Client: true, Public: &publicThought},
		typeReasoningMessageChunk:   {Client: true, Public: &publicThought},
		typeReasoningEnd:            {Client: true, Public: &publicThought},
		typeThinkingStart:           {Client: true, Public: &publicThought},
		typeThinkingEnd:             {Client: true, Public: &publicThought},
		typeThinkingTextStart:       {Client: true, Public: &publicThought},
		typeThinkingTextContent:     {Client: true, Public: &publicThought},
		typeThinkingTextEnd:         {Client: true, Public: &publicThought},
		typeReasoningEncryptedValue: {Client: true, Shows: []event.Kind{event.KindThought}}, // the client must send it back with the next request

		// For the policy public, the configured keys are the whole state: a key that a snapshot
		// lacks was removed.
		typeStateSnapshot:    {Client: true, Public: frame(rules{"snapshot": {Fact: event.KindState, State: true, Fallback: "{}", Required: true}})},
		typeStateDelta:       {Client: true, Public: frame(rules{"delta": {Fact: event.KindState, Patch: true, Required: true}})},
		typeMessagesSnapshot: {Client: true, Messages: &conversationRule, Words: &conversationWords}, // the whole conversation
		typeActivitySnapshot: {Client: true, Deep: true, Words: &activityWords, Public: frame(rules{
			"messageId": &publicArtifact, "activityType": &publicArtifact, "content": {Replacement: "{}"}, "replace": &flag,
		})},
		typeActivityDelta: {Client: true, Deep: true, Words: &activityWords, Public: frame(rules{
			"messageId": &publicArtifact, "activityType": &publicArtifact, "patch": {Replacement: "[]"},
		})},

		typeCustom:    {Client: true, Deep: true, Labels: eventName},
		typeStateCopy: {Client: true, Labels: eventName, OpaqueMembers: []string{"value"}}, // STATE_SNAPSHOT is not searched either
		typeInterrupt: {Client: true, Deep: true, Labels: eventName, Public: frame(rules{"name": {Fact: event.KindInputRequested}, "value": {Replacement: `""`}})},

		// RAW (events of the agent's framework) and typeOrphan are left out, so that they are withheld.
	},
}

// argumentMembers hold the arguments of a call in what an application asks or reports.
var argumentMembers = []string{"args", "arguments", "tool_args", "toolArgs"}

// eventName is the member that holds the name of a CUSTOM event.
var eventName = []string{"name"}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

// conversationRule describes the list of messages in a conversation. isInternalMessage also withholds those that instruct models.
var conversationRule = event.Messages{ListMember: "messages", RoleMember: "role", PartMembers: []string{"content", "toolCalls", "tool_calls"}}

var (
	callKinds = []event.Kind{event.KindToolStarted}

	// conversationWords finds the texts of messages that earlier events reported. requestWords also finds what else a request
	// states, and resultWords the text of a result, which may contain messages.
	conversationWords = wordsOf(nil)
	requestWords      = wordsOf(map[string]event.Kind{"state": event.KindState, "resume": event.KindInputAnswered})
	resultWords       = wordsOf(map[string]event.Kind{"result": event.KindText})
	activityWords     = func() event.Words {
		w := wordsOf(nil)
		w.OnlyNested = true // an activity is an artifact and may contain messages
		return w
	}()
	userWords = event.Words{Members: map[string]event.Kind{"delta": event.KindText}, FromUser: true}
)

// wordsOf returns the rules for an event that contains messages. own are members of the event itself.
func wordsOf(own map[string]event.Kind) event.Words {
	members := wire.WithThoughts(map[string]event.Kind{"content": event.KindText, "toolCalls": event.KindToolStarted, "tool_calls": event.KindToolStarted})
	for _, name := range encryptedMembers {
		members[name] = event.KindThought
	}
	maps.Copy(members, own)
	return event.Words{
		Containers: []string{"input", "messages", "content", "result", "toolCalls", "tool_calls", "function", "metadata"}, Members: members,
		Anywhere:      []string{"role"}, // applications put messages into activities and questions
		AuthorMembers: []string{"name", "subagentRunId", "subagent_run_id"},
		RoleMember:    "role",
		UserRoles:     []string{"user"},
		RoleKinds: map[string]event.Kind{
			"reasoning": event.KindThought, "tool": event.KindToolEnded, "activity": event.KindArtifact,
			"system": event.KindOther, "developer": event.KindOther,
			"assistant": event.KindText, "user": event.KindText, // also in an activity
		},
		TypeKinds: map[string]event.Kind{"reasoning": event.KindThought, "thinking": event.KindThought},
	}
}

type rules = map[string]*event.Rule

// frame returns the rule for an event. It adds to m the members that every event may have, except for rawEvent and
// metadata, which are for the client only.
func frame(m rules) *event.Rule {
	m["type"], m["timestamp"], m["subagentRunId"] = &scalar, &timestamp, &scalar
	return &event.Rule{Members: m}
}

var (
	scalar             = event.Rule{DropNull: true} // integrations write null for members that they leave out
	id                 = event.Rule{Form: event.FormID, DropNull: true}
	timestamp          = event.Rule{Form: event.FormTime, DropNull: true}
	flag               = event.Rule{Form: event.FormEnum, DropNull: true}
	publicRole         = event.Rule{Form: event.FormEnum, DropNull: true, AllowedValues: []string{"assistant", "user", "tool", "reasoning"}}
	publicText         = event.Rule{Fact: event.KindText, Form: event.FormText, DropNull: true}
	thoughtRole        = event.Rule{Form: event.FormEnum, DropNull: true, AllowedValues: []string{"reasoning"}, Fallback: `"reasoning"`}
	publicQuestionText = event.Rule{Form: event.FormText, DropNull: true}
	publicReason       = event.Rule{Form: event.FormCode, DropNull: true, Fallback: `"other"`} // clients require it; agents of LangGraph choose it freely
	publicArtifact     = event.Rule{Fact: event.KindArtifact}
	publicFailure      = event.Rule{Fact: event.KindError, Replacement: `"the run failed"`}

	publicRun  = frame(rules{"threadId": &scalar, "runId": &scalar, "protocolVersion": &scalar, "parentRunId": &scalar})
	publicCall = *frame(rules{"toolCallId": &id, "toolCallName": {Fact: event.KindToolStarted, Form: event.FormTool, DropNull: true}, "parentMessageId": &id})

	// publicThought treats every event about reasoning as a thought, so that a thought leaves with
	// its start and end or not at all.
	publicThought = event.Rule{ThoughtMarkers: []string{"type"}, Members: frame(rules{
		"messageId": &id, "role": &thoughtRole, "title": {Fact: event.KindThought, Form: event.FormText, DropNull: true}, "delta": {Fact: event.KindThought, Form: event.FormText, DropNull: true},
	}).Members}

	// publicOutcome keeps the members of questions that a person needs to answer them.
	publicOutcome = event.Rule{
		String: &outcomeName, Members: publicOutcomeMembers, ByType: map[string]*event.Rule{"interrupt": {Fact: event.KindInputRequested, Members: publicOutcomeMembers}},
	}
	publicOutcomeMembers = rules{
		"type": &outcomeName, "pendingToolCallIds": {Elements: &id}, "interrupts": {Fact: event.KindInputRequested, Elements: publicInterrupts.Elements},
	}
	publicInterrupts = event.Rule{Fact: event.KindInputRequested, Members: publicQuestion, Elements: &event.Rule{Members: publicQuestion}}
	publicQuestion   = rules{
		"id": &scalar, "reason": &publicReason, "message": &publicQuestionText, "toolCallId": &id, "subagentRunId": &scalar,
		"responseSchema": schema(4), "expiresAt": &timestamp,
	}

	// outcomeName keeps that an outcome is unknown, because a reader takes an event without an outcome for a success.
	outcomeName = event.Rule{Form: event.FormEnum, DropNull: true, AllowedValues: slices.Sorted(maps.Keys(outcomes)), Fallback: `"unknown"`}
)

// schema returns the rule for the schema of an answer, down to a depth. It leaves out defaults and
// examples, because they may contain state.
func schema(depth int) *event.Rule {
	m := rules{
		"type": &scalar, "title": &publicQuestionText, "description": &publicQuestionText, "enum": {Elements: &publicQuestionText}, "required": {Elements: &scalar},
	}
	if depth > 0 {
		m["properties"], m["items"] = &event.Rule{AnyMember: schema(depth - 1)}, schema(depth-1)
	}
	return &event.Rule{Members: m}
}
