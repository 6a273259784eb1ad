package openai

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Types of frames: values of the member `type`, and of `object` for chunks.
const (
	typeChunk        = "chat.completion.chunk"
	typeError        = "error"
	typeKeepAlive    = "keepalive" // sent in long silences
	typeCreated      = "response.created"
	typeQueued       = "response.queued"
	typeInProgress   = "response.in_progress"
	typeCompleted    = "response.completed"
	typeIncomplete   = "response.incomplete"
	typeFailed       = "response.failed"
	typeItemAdded    = "response.output_item.added"
	typeItemDone     = "response.output_item.done"
	typePartAdded    = "response.content_part.added"
	typePartDone     = "response.content_part.done"
	typeTextDelta    = "response.output_text.delta"
	typeTextDone     = "response.output_text.done"
	typeRefusalDelta = "response.refusal.delta"
	typeRefusalDone  = "response.refusal.done"
	typeAnnotation   = "response.output_text.annotation.added"
	typeAnnotation2  = "response.output_text_annotation.added" // the name in openai 1.84

	// Events of the Agents SDK. Source: agents/stream_events.py of openai-agents 0.24.
	typeRaw          = "raw_response_event"
	typeAgentUpdated = "agent_updated_stream_event"
	typeRunItem      = "run_item_stream_event"
	typeModel        = "raw_model_stream_event" // typeRaw of the SDK for JavaScript
)

// Types of frames that the protocol does not name.
const (
	typeDone        = "[DONE]"
	typeTrailer     = "trailer"          // a chunk that adds nothing to a completion that has finished
	typeFailedChunk = "failed chunk"     // a chunk with which choices fail
	typeResults     = "results of calls" // a chunk with messages of tools
	typeServerError = "server error"     // an error without a type
	typeFailedItem  = "failed run item"  // a run_item_stream_event with the result of a call that failed
	typeRefusedItem = "rejected item"    // the same, of a call that a person did not allow
	typeForeign     = "foreign message"  // a message that is not an assistant's
	typeAgentObject = "agent object"     // an agent_updated_stream_event with the agent as an object
	typeHandedOver  = "handed over"      // an agent_updated_stream_event that ends a handoff
	typeUnbegun     = "unbegun item"     // a part of an item whose start is not in the stream
)

// typeOf returns the type of an event without an internal mark: such an event continues the same item as one without the mark.
func typeOf(v strictjson.Value) []byte { return lenient.WithoutMark(v.Get("type").Text()) }

func isType(v strictjson.Value, name string) bool { return string(typeOf(v)) == name }

// kind describes an event of a response.
type kind struct {
	part   bool // it is part of an output item
	begins bool // it is the item's first event
	thinks bool // it is part of a thought
	starts bool // it is one of a response's first events
	decode func(*decoder, strictjson.Value, *event.Batch)
}

// kinds maps types of the events of a response to their descriptions.
//
// Source: openai/types/responses/response_stream_event.py of openai 3.54, and of 1.66 and 1.84 for older names;
// vllm/entrypoints/openai/responses/protocol.py for reasoning_part; Llama Stack for mcp_call.arguments.
var kinds map[string]kind

// init fills the table. Its functions refer to it, so a variable initializer would be a cycle.
func init() {
	kinds = map[string]kind{
		typeKeepAlive:  {decode: (*decoder).ignore},
		typeCreated:    {starts: true, decode: (*decoder).responseCreated},
		typeQueued:     {starts: true, decode: (*decoder).responseRepeated},
		typeInProgress: {starts: true, decode: (*decoder).responseRepeated},
		typeCompleted:  {decode: (*decoder).responseEnded},
		typeIncomplete: {decode: (*decoder).responseEnded},
		typeFailed:     {decode: (*decoder).responseEnded},
		typeItemAdded:  {part: true, begins: true, decode: (*decoder).itemAdded},
		typeItemDone:   {part: true, decode: (*decoder).itemDone},
		typePartAdded:  {part: true, decode: (*decoder).partAdded},
		typePartDone:   {part: true, decode: (*decoder).partDone},
		typeTextDelta:  {part: true, decode: (*decoder).textDelta}, typeRefusalDelta: {part: true, decode: (*decoder).textDelta},
		typeTextDone: {part: true, decode: (*decoder).textDone}, typeRefusalDone: {part: true, decode: (*decoder).textDone},
	}
	for _, name := range thoughtDeltas {
		kinds[name] = kind{part: true, thinks: true, decode: (*decoder).thoughtDelta}
	}
	for _, name := range thoughtsDone {
		kinds[name] = kind{part: true, thinks: true, decode: (*decoder).thoughtDone}
	}
	for _, name := range thoughtParts {
		kinds[name] = kind{part: true, thinks: true, decode: (*decoder).ignore}
	}
	for _, name := range slices.Concat(callProgress, callEnds, toolLists, callData, resultData, responseData, []string{typeAnnotation, typeAnnotation2}) {
		kinds[name] = kind{part: true, decode: (*decoder).ignore}
	}
}

var (
	thoughtDeltas = []string{"response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.reasoning_summary.delta", "response.reasoning.delta"}
	thoughtsDone  = []string{"response.reasoning_summary_text.done", "response.reasoning_text.done", "response.reasoning_summary.done", "response.reasoning.done"}
	thoughtParts  = []string{
		"response.reasoning_summary_part.added", "response.reasoning_summary_part.done",
		"response.reasoning_part.added", "response.reasoning_part.done",
	}

	// callProgress and callEnds are events with the state of a built-in tool's call. toolLists are those with the
	// state of a list of tools.
	callProgress = []string{
		"response.web_search_call.in_progress", "response.web_search_call.searching",
		"response.file_search_call.in_progress", "response.file_search_call.searching",
		"response.code_interpreter_call.in_progress", "response.code_interpreter_call.interpreting",
		"response.image_generation_call.in_progress", "response.image_generation_call.generating",
		"response.mcp_call.in_progress",
	}
	callEnds = []string{
		"response.web_search_call.completed", "response.file_search_call.completed", "response.code_interpreter_call.completed",
		"response.image_generation_call.completed", "response.mcp_call.completed", "response.mcp_call.failed",
	}
	toolLists = []string{"response.mcp_list_tools.in_progress", "response.mcp_list_tools.completed", "response.mcp_list_tools.failed"}

	// callData are events with arguments of a tool. resultData are those with results.
	callData = []string{
		"response.function_call_arguments.delta", "response.function_call_arguments.done",
		"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done",
		"response.mcp_call_arguments.delta", "response.mcp_call_arguments.done",
		"response.mcp_call.arguments.delta", "response.mcp_call.arguments.done",
		"response.mcp_call.arguments_delta", "response.mcp_call.arguments_done",
		"response.code_interpreter_call_code.delta", "response.code_interpreter_call_code.done",
		"response.code_interpreter_call.code.delta", "response.code_interpreter_call.code.done",
		"response.apply_patch_call_operation_diff.delta", "response.apply_patch_call_operation_diff.done",
		"response.shell_call_command.added", "response.shell_call_command.delta", "response.shell_call_command.done",
	}
	resultData = []string{
		"response.image_generation_call.partial_image",
		"response.shell_call_output_content.delta", "response.shell_call_output_content.done",
	}

	// responseData are other events. They are about the whole response unless they name an item.
	responseData = []string{
		"response.audio.delta", "response.audio.done", "response.audio.transcript.delta", "response.audio.transcript.done",
		"response.compaction.compacting",
	}
)
