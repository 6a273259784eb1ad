package adk

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// frame is an ADK event. Python, JavaScript, Go and Java spell its members in camelCase, Rust and
// stored sessions in snake_case. If both are present, camelCase wins.
type frame struct {
	// The members that are used. read finds them in one pass.
	id, invocation, author, branch, timestamp, partial, content, actionsValue strictjson.Value
	model, finishReason, longRunning, usageMetadata, nodeInfo, scope          strictjson.Value
	errorCode, errorMessage, errorDetails                                     strictjson.Value
	proofLayer, customMetadata, grounding, citations                          strictjson.Value
	output, nodeError, errorType, compacted                                   strictjson.Value // JavaScript only; errorType is an exception's class
	thought                                                                   strictjson.Value // the protocol defines it only for parts
	errorValue                                                                strictjson.Value // the member error; events do not have it

	// Set by interpret.
	usage          event.Usage
	actions        actions
	partList       strictjson.Value
	remote         remoteAnswer
	longRunningIDs map[string]bool // the ids in longRunning
	hasUsage       bool
	notPartial     bool // partial is explicitly false; without streaming it is usually absent
	isThought      bool // the whole frame is a thought
	otherRole      bool // the content's role is not the model's: tool responses, the user's text, or instructions

	// Set by the decoder.
	parts          []part // read from partList after the limits are checked
	waitsAgain     bool   // the event repeats a call for whose response a remote agent waits
	lacksModel     bool   // the speaker is a function or a workflow, or relays the answer of a remote agent
	isRecord       bool   // see readWorkflowRecord
	isRepeat       bool   // the event repeats an earlier one
	isStep         bool   // the author is an unnamed step of the container that the path names
	followsSection bool   // the last event was a section of the speaker's response, whose usage is still unknown (see lacksUsage)
}

func (f *frame) read(v strictjson.Value) {
	for name, value := range v.Members() {
		if value.Kind() <= strictjson.Null {
			continue
		}
		switch string(name.Text()) {
		case "id":
			f.id = value
		case "invocationId":
			f.invocation = value
		case "invocation_id":
			f.invocation = firstOf(f.invocation, value)
		case "author":
			if !wire.IsUser(f.author) {
				f.author = value
			}
		case "branch":
			f.branch = value
		case "timestamp":
			f.timestamp = value
		case "partial":
			f.partial = value
		case "content":
			f.content = value
		case "error":
			f.errorValue = value
		case "thought":
			f.thought = value
		case "actions":
			f.actionsValue = value
		case "modelVersion":
			f.model = value
		case "model_version":
			f.model = firstOf(f.model, value)
		case "finishReason":
			f.finishReason = wire.FinishReason(value)
		case "finish_reason":
			f.finishReason = firstOf(f.finishReason, wire.FinishReason(value))
		case "errorCode":
			f.errorCode = value
		case "error_code":
			f.errorCode = firstOf(f.errorCode, value)
		case "longRunningToolIds":
			f.longRunning = value
		case "long_running_tool_ids":
			f.longRunning = firstOf(f.longRunning, value)
		case "usageMetadata":
			f.usageMetadata = value
		case "usage_metadata":
			f.usageMetadata = firstOf(f.usageMetadata, value)
		case "nodeInfo":
			f.nodeInfo = value
		case "node_info":
			f.nodeInfo = firstOf(f.nodeInfo, value)
		case "isolationScope":
			f.scope = value
		case "isolation_scope":
			f.scope = firstOf(f.scope, value)
		case "errorMessage":
			f.errorMessage = value
		case "error_message":
			f.errorMessage = firstOf(f.errorMessage, value)
		case "proofLayer":
			f.proofLayer = value
		case "proof_layer":
			f.proofLayer = firstOf(f.proofLayer, value)
		case "customMetadata":
			f.customMetadata = value
		case "custom_metadata":
			f.customMetadata = firstOf(f.customMetadata, value)
		case "groundingMetadata":
			f.grounding = value
		case "grounding_metadata":
			f.grounding = firstOf(f.grounding, value)
		case "citationMetadata":
			f.citations = value
		case "citation_metadata":
			f.citations = firstOf(f.citations, value)
		case "output":
			f.output = value
		case "isNodeError":
			f.nodeError = value
		case "isCompacted", "is_compacted":
			if !wire.MayBeTrue(f.compacted) {
				f.compacted = value
			}
		case "errorType":
			f.errorType = value
		case "errorDetails":
			f.errorDetails = value
		case "error_details":
			f.errorDetails = firstOf(f.errorDetails, value)
		default: // a reader that ignores case may take it for the author
			if wire.IsUser(value) && lenient.MatchesAny(name.Text(), authorMember) {
				f.author = value
			}
		}
	}
}

var authorMember = []string{"author"}

// statements returns what the event states about its answer besides the content.
func (f *frame) statements(b *event.Batch) event.Statements {
	layer := firstOf(f.proofLayer, wire.CustomMember(b, f.customMetadata, "proofLayer", "proof_layer"))
	return event.Statements{Layer: layer, Grounding: f.grounding, Citations: f.citations}
}

// isEvent reports whether the members are those of an event. One of them suffices: JavaScript may leave out
// the author, and Python may send an empty invocation id.
func (f *frame) isEvent() bool {
	return f.author.Kind() == strictjson.String || f.invocation.Kind() == strictjson.String ||
		f.content.Kind() == strictjson.Object || f.actionsValue.Kind() == strictjson.Object
}

// interpret reads what the members contain.
func (f *frame) interpret() {
	var role, thought strictjson.Value
	f.partList, role, thought = readContent(f.content)
	f.actions, f.longRunningIDs = readActions(f.actionsValue), idSet(f.longRunning)
	f.usage, f.hasUsage = wire.GeminiUsage(f.usageMetadata), f.usageMetadata.Len() > 0
	f.isThought = isTrue(f.thought) || isTrue(thought)
	f.otherRole = !isModel(role)
	partial, isSet := f.partial.Bool()
	f.notPartial = isSet && !partial
}

// isPlugin reports whether an event, the first of its run, is the answer of a plugin. Then no agent runs.
// Such an event has no data of a model, and its author is a role ("model").
//
// Source: google/adk/runners.py of google-adk 2.13.
func (f *frame) isPlugin() bool {
	return f.author.Is("model") && len(f.nodeInfo.Get("path").Text()) == 0 && !f.branch.Exists() &&
		!f.model.Exists() && !f.finishReason.Exists() && f.usageMetadata.Len() == 0 && !f.errorCode.Exists()
}

// isModel reports whether a role is the model's, or absent.
func isModel(role strictjson.Value) bool {
	return role.Kind() <= strictjson.Null || role.Is("") || role.Is("model") || role.Is("assistant")
}

// reportsFailure reports whether the event has an error code that means failure, or only an error message.
func (f *frame) reportsFailure() bool {
	return f.remote.Failure != event.NoFailure || wire.IsFailureCode(f.errorCode) || f.hasOnlyErrorMessage()
}

// hasError reports whether the event has a failure or the message of an error, also of a remote agent.
func (f *frame) hasError() bool {
	return f.reportsFailure() || f.remote.IsError || f.errorMessage.Exists() && !f.errorMessage.Is("")
}

// hasOnlyErrorMessage reports whether the event has an error message and no code, as that of an agent that asks another one
// over A2A.
//
// Source: google/adk/agents/remote_a2a_agent.py; agent/remoteagent/a2a_agent.go of adk-go, toErrorEvent.
func (f *frame) hasOnlyErrorMessage() bool {
	return (f.errorCode.Kind() <= strictjson.Null || f.errorCode.Is("")) && len(f.errorMessage.Text()) > 0
}

// pausesCalls reports whether the frame has parts, all of them requests that pause calls.
func (f *frame) pausesCalls() bool {
	return len(f.parts) > 0 && !slices.ContainsFunc(f.parts, func(p part) bool { return p.kind != partCall || !wire.PausesCall(p.name.String()) })
}

// failure returns the class of the failure that an error code reports. pending is the number of the
// agent's calls without a response.
//
//   - A failure of a remote agent keeps its class.
//   - A message without a code, usage and finish reason is an agent error, because no model sends it.
//   - A code that says that ADK canceled the run is event.FailureCanceled.
//   - The code of a function, workflow or relayed answer is an agent error. The name of a gRPC status is one only if the
//     answer is relayed.
//   - After a final answer, an exception is an agent error: it comes from a callback or, if the path names
//     only a container, from another step of that container.
//   - If a call has no response yet, the code is a tool error, because the model is asked only after the
//     response. Python sends the name of the exception that the tool raised. JavaScript sends such a code
//     for a tool that does not exist.
//   - The class of one of ADK's own exceptions is an agent error, unless a response has begun.
//   - Any other code is a model error.
func (f *frame) failure(r *response, pending int) event.Failure {
	switch {
	case !f.reportsFailure():
		return event.NoFailure
	case f.remote.Failure != event.NoFailure:
		return f.remote.Failure
	case f.hasOnlyErrorMessage() && !f.hasUsage && !f.finishReason.Exists():
		return event.AgentError
	case wire.OwnFailure(f.errorCode) == event.FailureCanceled:
		return event.FailureCanceled
	case f.lacksModel && (f.isRelayed() || !wire.IsStatus(f.errorCode.String())):
		return event.AgentError
	case r.wasFinal && f.isBare() && (f.isStep && !wire.IsStatus(f.errorCode.String()) || wire.IsClass(f.errorCode.Text())):
		return event.AgentError
	case pending > 0 && !r.open && !f.hasUsage && !f.finishReason.Exists() && f.partList.Len() == 0:
		return event.ToolError
	case !r.open && wire.OwnFailure(f.errorCode) != event.NoFailure:
		return event.AgentError
	}
	return event.ModelError
}

// isBare reports whether the frame has an error code and nothing else of a model response.
func (f *frame) isBare() bool {
	return f.reportsFailure() && !f.hasUsage && !f.finishReason.Exists() && !f.model.Exists() && f.partList.Len() == 0
}

// code returns the frame's most specific error code. The message may have one from the model's API,
// while the error code is only the class of an exception.
func (f *frame) code() string {
	return wire.MostSpecific(wire.Code(f.errorCode), wire.Code(f.remote.Code), wire.Code(f.errorType), wire.TextCode(f.errorMessage.Text()))
}

// isModelResponse reports whether a whole frame ends a model response. Tool responses, the ADK's
// own requests, and frames that repeat or continue a response do not. A model may call the tool that requests input. Its frame has data of the model.
//
// Source: google/adk/tools/_request_input_tool.py and flows/llm_flows/functions.py of google-adk 2.13.
func (f *frame) isModelResponse(r *response) bool {
	if f.lacksModel && !f.reportsFailure() {
		return false
	}
	requests := 0
	for _, p := range f.parts {
		if p.kind == partResponse {
			return false
		}
		if p.kind == partCall && wire.IsInputRequest(p.name.String()) {
			requests++
		}
	}
	switch {
	case requests > 0 && requests == len(f.parts) && !f.hasModelData():
		return false
	case f.repeats(r), f.continues(r), f.completes():
		return false
	case f.reportsFailure():
		return true
	}
	return f.finishReason.Exists() || f.hasUsage || (r.open || f.model.Exists() || f.writesCode()) && len(f.parts) > 0
}

// writesCode reports whether the frame has code to execute. Only a model sends that.
func (f *frame) writesCode() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.kind == partCode })
}

// continues reports whether a frame belongs to a response that another frame started. A streaming
// JavaScript server sends one frame per kind of part. Only the last frame has a finish reason. After a
// call, the last frame is empty. All frames count the same prompt tokens.
func (f *frame) continues(r *response) bool {
	return (r.streamed || f.notPartial) && f.continuesUsage(r) && f.usage.Output.N > r.lastUsage.Output.N
}

// completes reports whether a frame is the rest of a response that began with frames without usage.
func (f *frame) completes() bool {
	return f.followsSection && (f.hasUsage || f.finishReason.Exists())
}

// isSection reports whether a frame has parts of a response that continues: it has neither calls nor a finish
// reason.
func (f *frame) isSection() bool {
	return len(f.parts) > 0 && !f.usesTool() && !f.finishReason.Exists()
}

// usesTool reports whether the frame has a call or the response to one.
func (f *frame) usesTool() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.kind == partCall || p.kind == partResponse })
}

// continuesUsage reports whether the token counts of a frame continue those of a response without a finish reason: as many
// prompt tokens, and as many output tokens or more. The frame may be partial.
func (f *frame) continuesUsage(r *response) bool {
	prompt, answer := f.usage.Input, f.usage.Output
	return !r.open && r.mayContinue && f.hasUsage && !f.reportsFailure() &&
		prompt.Known && prompt == r.lastUsage.Input && answer.Known && r.lastUsage.Output.Known && answer.N >= r.lastUsage.Output.N
}

// repeats reports whether a streaming server sent the usage of the last response again. It does so in an empty
// frame after the response or after the results of its calls, and in the second frame of a response with text and then
// calls. JavaScript also sends a refusal twice. Without streaming, no usage is repeated, and equal usage belongs to
// another response.
func (f *frame) repeats(r *response) bool {
	return !r.open && (r.streamed || f.notPartial) && f.hasUsage && f.usage == r.lastUsage &&
		(r.mayContinue || f.partList.Len() == 0 && !f.reportsFailure())
}

// isFinal reports whether the frame is a final response, as is_final_response() does in the servers for Python,
// JavaScript, Go and Java.
func (f *frame) isFinal() bool {
	if f.actions.skipsSummary || f.longRunning.Len() > 0 {
		return true
	}
	trailingCode := false
	for _, p := range f.parts {
		if p.kind == partCall || p.kind == partResponse {
			return false
		}
		trailingCode = p.kind == partCodeResult
	}
	return !trailingCode
}

// mayEndTurn reports whether the agent's turn can end with this tool response, without another
// model response.
func (f *frame) mayEndTurn() bool {
	return f.actions.skipsSummary || f.actions.escalates || f.actions.endsInvocation || f.longRunning.Len() > 0
}

func (f *frame) isLongRunning(call strictjson.Value) bool {
	return call.Exists() && f.longRunningIDs[call.String()]
}

// maxParts bounds the parts, calls, artifacts and requests of one frame: each takes hundreds of bytes of
// memory in addition to its bytes on the wire.
const maxParts = 4096

// exceedsLimits reports whether a frame has more than maxParts parts, calls, artifacts and requests.
func (f *frame) exceedsLimits() bool {
	requests := 0
	for _, asked := range f.pauses() {
		requests += asked.Len()
	}
	return f.partList.Len()+f.longRunning.Len()+f.actions.artifacts.Len()+requests > maxParts
}

// idSet returns a set of ids, so that looking up each call takes constant time.
func idSet(ids strictjson.Value) map[string]bool {
	if ids.Len() == 0 || ids.Len() > maxParts {
		return nil
	}
	set := make(map[string]bool, ids.Len())
	for id := range ids.Elements() {
		if id.Kind() == strictjson.String {
			set[id.String()] = true
		}
	}
	return set
}

// transferCall returns the id of the call with which the agent transferred control.
func (f *frame) transferCall() strictjson.Value {
	for _, p := range f.parts {
		if p.kind == partResponse && p.name.Is(wire.TransferTool) {
			return p.id
		}
	}
	return strictjson.Value{}
}

func firstOf(v, fallback strictjson.Value) strictjson.Value {
	if v.Exists() {
		return v
	}
	return fallback
}
