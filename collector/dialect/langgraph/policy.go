package langgraph

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// publicFailure replaces the error of a run without saying why it failed.
const publicFailure = `"the run failed"`

// cancelMessages are the messages of the errors of canceled runs, unless the request says why it cancels.
//
// Source: langgraph_api/errors.py.
var cancelMessages = []string{"User interrupted the run", "User requested rollback of the run"}

var table = event.Table{
	// Only the event name determines what a frame is. The application chooses the data, so a member `type`
	// or `name` can have any meaning.
	Namespaces:         true,
	FreeMembers:        []string{strictjson.Everywhere},
	PartDiscriminators: []string{"type", "role"},
	Events: []string{
		modeMetadata, modeValues, modeUpdates, modeMessages, modeMessagesPartial, modeMessagesComplete, modeMessagesMetadata, modeEvents, modeTasks,
		modeCheckpoints, modeDebug, modeCustom, modeFeedback, modeStateUpdate, modeError, modeEnd,
	},
	FailureType:  modeError,
	FailureData:  `{"error":"Error","message":` + publicFailure + `}`,
	OversizeData: `{"error":"Error","message":"` + event.OversizeMessage + `"}`,
	Types: map[string]event.Type{
		modeMetadata:         {Client: true, Public: &event.Rule{Members: rules{"run_id": &scalar, "attempt": &number, "status": {AllowedValues: []string{"run_done"}, Form: event.FormEnum}}}},
		modeValues:           {Client: true, Answer: true, AnyJSON: true, Messages: &conversation, Words: &words, Public: &publicValues},
		modeUpdates:          {Client: true, Answer: true, AnyJSON: true, Words: &nodeWords, Public: &publicUpdates},
		modeMessages:         {Client: true, Answer: true, AnyJSON: true, Public: &event.Rule{Elements: &publicTuple}},
		modeMessagesPartial:  {Client: true, Answer: true, AnyJSON: true, Words: &words, Public: &publicMessages},
		modeMessagesComplete: {Client: true, Answer: true, AnyJSON: true, Words: &words, Public: &publicMessages},
		modeMessagesMetadata: {Client: true, Public: &event.Rule{AnyMember: &event.Rule{Members: rules{"metadata": {Members: publicMetadata}}}}},

		// These contain the application's own data, and all input of nodes and models.
		modeCustom:      {Client: true, AnyJSON: true, AnyFact: true},
		modeEvents:      {Client: true, AnyFact: true},
		modeTasks:       {Client: true, AnyFact: true},
		modeCheckpoints: {Client: true, AnyJSON: true, AnyFact: true},
		modeDebug:       {Client: true, AnyFact: true},
		modeStateUpdate: {Client: true, AnyJSON: true, AnyFact: true},
		modeFeedback:    {Client: true, AnyJSON: true}, // addresses with which anyone can rate the run

		modeError: {Client: true, AnyJSON: true, Public: &event.Rule{Fact: event.KindError, String: &event.Rule{Fact: event.KindError, Replacement: publicFailure}, Members: rules{
			"error": {Replacement: `"Error"`, AllowedValues: knownErrors}, "message": {Replacement: publicFailure, AllowedValues: cancelMessages},
		}}},
		modeEnd: {Client: true, AnyJSON: true, Public: &event.Rule{Replacement: "{}"}},
	},
}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

// conversation withholds the messages of a state that instruct models.
var conversation = event.Messages{
	ListMember: "messages", RoleMember: "type", RoleOptional: true, InternalRoles: instructionRoles, PartMembers: []string{"content", "tool_calls"},
}

// words finds texts that the decoder does not report: of the user, of messages from earlier frames, and of messages in
// any part of a state. nodeWords finds them in the updates of nodes. The decoder finds their authors.
var words, nodeWords = wordsOf(false), wordsOf(true)

func wordsOf(nodes bool) event.Words {
	return event.Words{
		Containers: slices.Concat([]string{"messages", "additional_kwargs"}, savedMembers),
		Lists:      []string{"messages"},
		OfNodes:    nodes,
		Anywhere:   slices.Concat(typeMembers, nameMembers, callMembers, resultMembers),
		Members: map[string]event.Kind{
			"content": event.KindText, "content_blocks": event.KindText, "reasoning_content": event.KindThought,
			"tool_calls": event.KindToolStarted, "tool_call_chunks": event.KindToolStarted, "invalid_tool_calls": event.KindToolStarted,
			"function_call": event.KindToolStarted,
		},
		RoleMember:   "type",
		UserRoles:    userTypes,
		RoleKinds:    roleKinds,
		TypedMembers: []string{"id", "name", "args", "input", "partial_json"},
	}
}

// roleKinds maps types of messages and of blocks to their kinds if they are not texts.
var roleKinds = map[string]event.Kind{
	"tool": event.KindToolEnded, "system": event.KindOther,
	"tool_use": event.KindToolStarted, "server_tool_use": event.KindToolStarted, "input_json_delta": event.KindToolStarted,
	"function_call": event.KindToolStarted, "tool_call": event.KindToolStarted, "tool_call_chunk": event.KindToolStarted,
	"invalid_tool_call": event.KindToolStarted, "server_tool_call": event.KindToolStarted, "server_tool_call_chunk": event.KindToolStarted,
	"server_tool_result": event.KindToolEnded,
}

type rules = map[string]*event.Rule

var (
	scalar   = event.Rule{DropNull: true}
	id       = event.Rule{Form: event.FormID, DropNull: true}
	toolName = event.Rule{Form: event.FormTool, DropNull: true}
	number   = event.Rule{Form: event.FormEnum}
	text     = event.Rule{Fact: event.KindText, Form: event.FormText}
	thought  = event.Rule{Fact: event.KindThought, Form: event.FormText}
	question = event.Rule{Form: event.FormText, DropNull: true}
	decision = event.Rule{Form: event.FormEnum, AllowedValues: []string{"approve", "edit", "reject", "respond"}}

	// finishReason has the words of the models' servers.
	finishReason = event.Rule{Form: event.FormEnum, Fallback: `"other"`, DropNull: true, AllowedValues: append(slices.Concat(wire.FailedReasons(), wire.NoReasons),
		"stop", "length", "tool_calls", "function_call", "completed", "incomplete", "end_turn", "max_tokens", "max_output_tokens", "stop_sequence", "tool_use",
		"pause_turn", "STOP", "MAX_TOKENS", "COMPLETE", "load",
	)}

	// publicContent has the blocks of a message that contain text. A block with a thought counts as a
	// thought, whatever its type is.
	publicContent = event.Rule{String: &text, Fallback: `""`, Elements: &event.Rule{
		String: &text, AllowedTypes: []string{"text"}, ThoughtMarkers: []string{"thinking", "reasoning", "reasoning_content", "summary", "signature", "thought", "adk_thought"},
		Members: rules{"type": &scalar, "text": &text, "thinking": &thought, "reasoning": &thought, "index": &scalar},
		ByType: rules{
			"thinking": &publicThought, "reasoning": &publicThought, "reasoning_content": &publicThought,
			"redacted_thinking": &foundThought, "tool_use": &foundCall, "server_tool_use": &foundCall, "input_json_delta": &foundCall, "function_call": &foundCall,
			"tool_call": &foundCall, "tool_call_chunk": &foundCall, "invalid_tool_call": &foundCall, "server_tool_call": &foundCall, "server_tool_call_chunk": &foundCall,
			"server_tool_result": &foundResult,
		},
	}}
	publicThought = event.Rule{
		Fact: event.KindThought, AllowedTypes: []string{"thinking", "reasoning", "reasoning_content"},
		Members: rules{
			"type": &scalar, "text": &thought, "thinking": &thought, "reasoning": &thought, "index": &scalar,
			"summary": {Elements: &event.Rule{Members: rules{"type": &scalar, "text": &thought, "index": &number}}}, "reasoning_content": {Members: rules{"text": &thought}},
		},
	}
	foundThought = event.Rule{FindOnly: true, Fact: event.KindThought}
	foundCall    = event.Rule{FindOnly: true, Fact: event.KindToolStarted}
	foundResult  = event.Rule{FindOnly: true, Fact: event.KindToolEnded}

	publicCalls = event.Rule{Fact: event.KindToolStarted, Elements: &event.Rule{
		AllowedTypes: []string{"tool_call", "tool_call_chunk"}, Members: rules{"name": &toolName, "id": &id, "index": &number, "type": &scalar, "args": {Replacement: `{}`}},
	}}
	publicPieces = event.Rule{Fact: event.KindToolStarted, Elements: &event.Rule{
		AllowedTypes: []string{"tool_call_chunk"}, Members: rules{"name": &toolName, "id": &id, "index": &number, "type": &scalar, "args": {Replacement: `""`}},
	}}

	// publicMessageMembers is a model's message.
	publicMessageMembers = rules{
		"type": &scalar, "id": &id, "name": &scalar, "content": &publicContent, "tool_calls": &publicCalls, "tool_call_chunks": &publicPieces,
		"additional_kwargs": {Members: rules{
			"reasoning_content": &thought, "reasoning": &foundThought, "reasoning_details": &foundThought, "thinking_blocks": &foundThought,
			"tool_calls": &foundCall, "function_call": &foundCall,
		}},
		"invalid_tool_calls": &foundCall,
		"response_metadata":  {Members: mergeRules(publicHandoff, publicResponse)},
		"chunk_position":     {Form: event.FormEnum, AllowedValues: []string{"last"}},
	}
	publicTypes = []string{"ai", "AIMessageChunk"}

	// publicResponse has the members of modelMembers and finishMembers.
	publicResponse = rules{
		"model_name": &scalar, "model": &scalar, "model_id": &scalar, "status": {Form: event.FormEnum, AllowedValues: finalStates, DropNull: true},
		"finish_reason": &finishReason, "stop_reason": &finishReason, "done_reason": &finishReason, "stopReason": &finishReason, "finishReason": &finishReason,
		"incomplete_details": {Members: rules{"reason": &finishReason}, DropNull: true},
	}

	// publicMessage is a message. Only its type says that a model wrote it. Messages that instruct models do not leave.
	publicMessage = event.Rule{AllowedTypes: publicTypes, TypeRequired: true, Members: publicMessageMembers, ByType: mergeRules(publicResult, publicUser)}

	// publicUser is a message of the user without its words, in LangChain's form or in OpenAI's. It shows which of the other
	// messages are from earlier runs.
	publicUser = rules{
		"human": {AllowedTypes: userTypes, Members: rules{"type": &scalar, "id": &id, "content": {Replacement: `""`}}},
		"":      {AllowedTypes: userTypes, TypeRequired: true, Members: rules{"role": &scalar, "id": &id, "content": {Replacement: `""`}}},
	}

	// publicResult is the result of a tool, without its content.
	publicResult = map[string]*event.Rule{"tool": {Fact: event.KindToolEnded, AllowedTypes: []string{"tool"}, Members: rules{
		"type": &scalar, "id": &id, "name": &toolName, "tool_call_id": &id, "content": {Replacement: `""`},
		"status": {Form: event.FormEnum, AllowedValues: []string{"success", "error"}}, "response_metadata": {Members: publicHandoff},
	}}}

	// publicHandoff says that a message transfers control, and is neither an answer nor a call.
	publicHandoff = rules{destinationKey: &scalar, handoffBackKey: &number}

	// publicTarget is the agent to which a swarm transfers control. In other frames, the application decides what it is.
	publicTarget = event.Rule{Fact: event.KindTransfer, StatedOnly: true}

	publicMessages = event.Rule{Elements: &publicMessage, Fallback: `[]`}

	// publicWritten is what a node writes to the messages: a list, a single message, or an Overwrite. See messagesOf.
	publicWritten = event.Rule{
		Elements: &publicMessage, AllowedTypes: publicTypes, TypeRequired: true, Members: publicMessageMembers, Fallback: `[]`,
		ByType: mergeRules(publicResult, rules{"": {Members: publicOverwrite}, overwriteKey: {Members: mergeRules(publicOverwrite, rules{"type": &scalar})}}),
	}
	publicOverwrite = rules{overwriteValue: &publicMessages, overwriteKey: &publicMessages}

	publicMetadata = rules{
		"run_id": &scalar, "thread_id": &scalar, "graph_id": &scalar, "langgraph_node": &scalar, "langgraph_step": &number, "langgraph_checkpoint_ns": &scalar,
		"checkpoint_ns": &scalar, "lc_agent_name": &scalar, "ls_model_name": &scalar,
	}

	// publicTuple is either of the two elements of a frame of the mode messages-tuple: a message, which has a
	// type, or its metadata, to which applications add their own.
	publicTuple = event.Rule{AllowedTypes: publicTypes, Members: publicMetadata, ByType: mergeRules(publicResult, rules{
		"ai": &publicMessage, "AIMessageChunk": &publicMessage,
	})}

	publicInterrupts = event.Rule{Fact: event.KindInputRequested, Elements: &event.Rule{Members: rules{
		"id": &scalar, "value": {String: &question, Elements: &event.Rule{Members: publicRequest}, Members: mergeRules(publicRequest, rules{
			"question": &question, "prompt": &question, "message": &question, "options": {Elements: &question},
			"action_requests": {Elements: &event.Rule{Members: rules{"name": &toolName}}},
			"review_configs":  {Elements: &event.Rule{Members: rules{"action_name": &toolName, "allowed_decisions": {Elements: &decision}}}},
		})},
	}}}

	// publicRequest is a request for a decision about a tool call in the form of LangChain's inbox.
	publicRequest = rules{
		"action_request": {Members: rules{"action": &toolName}},
		"config":         {Members: rules{"allow_ignore": &number, "allow_respond": &number, "allow_edit": &number, "allow_accept": &number}},
	}

	// publicReturned has the messages that a node may return as they are, instead of in a state.
	publicReturned = mergeRules(publicResult, rules{"ai": &publicMessage, "AIMessageChunk": &publicMessage, "human": publicUser["human"]})

	// publicValues is a state: an object, a message or a list of messages.
	publicValues = event.Rule{
		Members: rules{"messages": &publicMessages, activeAgentKey: &publicTarget, interruptKey: &publicInterrupts}, Elements: &publicMessage, ByType: publicReturned,
	}

	// publicUpdates has the names of nodes, and what they return: a message, an update of the state, or a list of these.
	publicUpdates = event.Rule{Members: rules{interruptKey: &publicInterrupts, metadataKey: {Members: rules{"cached": &number}}}, AnyMember: &event.Rule{
		Members: publicUpdate, Elements: &event.Rule{Members: publicUpdate, ByType: publicReturned}, ByType: publicReturned, Fallback: "null",
	}}
	publicUpdate = rules{"messages": &publicWritten, activeAgentKey: &publicTarget}
)

// mergeRules returns the members of two rules. Those of b override those of a.
func mergeRules(a, b rules) rules {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
