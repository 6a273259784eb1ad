package adk

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// frame is an ADK event. Python, JavaScript, Go and Java spell its members in camelCase, Rust and
// stored sessions in snake_case; if both are present, camelCase wins.
type frame struct {
	ID             strictjson.Value
	Parts          strictjson.Value
	Model          strictjson.Value
	FinishReason   strictjson.Value
	ErrorCode      strictjson.Value
	errorMessage   strictjson.Value
	errorType      strictjson.Value // the error's class
	LongRunning    strictjson.Value
	Usage          event.Usage
	actions        actions
	parts          []part          // read from Parts after the limits are checked
	longRunningIDs map[string]bool // the ids in LongRunning
	hasUsage       bool
	isNode         bool // the speaker is a function or a workflow, which has no model
	isStep         bool // the author is an unnamed step of the container that the path names
	notPartial     bool // partial is explicitly false; without streaming it is usually absent
	isThought      bool // the whole frame is a thought
	otherRole      bool // the content's role is not the model's: tool responses, the user's text, or instructions
}

// members holds the members of an event that are used. They are found in one pass.
type members struct {
	id, invocation, author, branch, timestamp, partial, content, actions strictjson.Value
	model, finish, code, long, usage, details, node, scope, message      strictjson.Value
	layer, custom, grounding, citations                                  strictjson.Value
	output, nodeError, errorType                                         strictjson.Value // JavaScript only
	thought                                                              strictjson.Value // the protocol defines it for parts only
	failure                                                              strictjson.Value // `error`, of a frame that is not an event
}

func (m *members) read(v strictjson.Value) {
	for name, value := range v.Members() {
		if value.Kind() <= strictjson.Null {
			continue
		}
		switch string(name.Text()) {
		case "id":
			m.id = value
		case "invocationId":
			m.invocation = value
		case "invocation_id":
			m.invocation = firstOf(m.invocation, value)
		case "author":
			if !wire.IsUser(m.author) {
				m.author = value
			}
		case "branch":
			m.branch = value
		case "timestamp":
			m.timestamp = value
		case "partial":
			m.partial = value
		case "content":
			m.content = value
		case "error":
			m.failure = value
		case "thought":
			m.thought = value
		case "actions":
			m.actions = value
		case "modelVersion":
			m.model = value
		case "model_version":
			m.model = firstOf(m.model, value)
		case "finishReason":
			m.finish = value
		case "finish_reason":
			m.finish = firstOf(m.finish, value)
		case "errorCode":
			m.code = value
		case "error_code":
			m.code = firstOf(m.code, value)
		case "longRunningToolIds":
			m.long = value
		case "long_running_tool_ids":
			m.long = firstOf(m.long, value)
		case "usageMetadata":
			m.usage = value
		case "usage_metadata":
			m.usage = firstOf(m.usage, value)
		case "nodeInfo":
			m.node = value
		case "node_info":
			m.node = firstOf(m.node, value)
		case "isolationScope":
			m.scope = value
		case "isolation_scope":
			m.scope = firstOf(m.scope, value)
		case "errorMessage":
			m.message = value
		case "error_message":
			m.message = firstOf(m.message, value)
		case "proofLayer":
			m.layer = value
		case "proof_layer":
			m.layer = firstOf(m.layer, value)
		case "customMetadata":
			m.custom = value
		case "custom_metadata":
			m.custom = firstOf(m.custom, value)
		case "groundingMetadata":
			m.grounding = value
		case "grounding_metadata":
			m.grounding = firstOf(m.grounding, value)
		case "citationMetadata":
			m.citations = value
		case "citation_metadata":
			m.citations = firstOf(m.citations, value)
		case "output":
			m.output = value
		case "isNodeError":
			m.nodeError = value
		case "errorType":
			m.errorType = value
		case "errorDetails":
			m.details = value
		case "error_details":
			m.details = firstOf(m.details, value)
		default: // a reader that ignores case may take it for the author
			if wire.IsUser(value) && lenient.MatchesAny(name.Text(), authorMember) {
				m.author = value
			}
		}
	}
}

var authorMember = []string{"author"}

// statements returns what the event states about its answer besides the content.
func (m *members) statements() event.Statements {
	layer := m.layer
	if !layer.Exists() {
		layer = m.custom.First("proofLayer", "proof_layer")
	}
	return event.Statements{Layer: layer, Grounding: m.grounding, Citations: m.citations}
}

// isEvent reports whether the members are those of an event. One of them suffices: JavaScript may leave out
// the author, and Python may send an empty invocation id.
func (m *members) isEvent() bool {
	return m.author.Kind() == strictjson.String || m.invocation.Kind() == strictjson.String ||
		m.content.Kind() == strictjson.Object || m.actions.Kind() == strictjson.Object
}

func readFrame(m *members) frame {
	partial, isSet := m.partial.Bool()
	parts, role, thought := readContent(m.content)
	return frame{
		isThought:  isTrue(m.thought) || isTrue(thought),
		notPartial: isSet && !partial, otherRole: !isModel(role),
		ID: m.id, Parts: parts, actions: readActions(m.actions), Model: m.model, FinishReason: m.finish,
		ErrorCode: m.code, errorType: m.errorType, errorMessage: m.message, LongRunning: m.long, longRunningIDs: idSet(m.long), Usage: wire.GeminiUsage(m.usage), hasUsage: m.usage.Len() > 0,
	}
}

// isPlugin reports whether an event, the first of its run, is the answer of a plugin. Then no agent runs.
// Such an event has no data of a model, and its author is a role ("model").
//
// Source: google/adk/runners.py of google-adk 2.13.
func (m *members) isPlugin() bool {
	return m.author.Is("model") && len(m.node.Get("path").Text()) == 0 && !m.branch.Exists() &&
		!m.model.Exists() && !m.finish.Exists() && m.usage.Len() == 0 && !m.code.Exists()
}

// isFunction reports whether an event is from a function in a JavaScript workflow: the function
// raised, or the event has an output that is not a model's.
func (m *members) isFunction() bool {
	if raised, _ := m.nodeError.Bool(); raised {
		return true
	}
	isMessage, _ := m.node.Get("messageAsOutput").Bool()
	return m.output.Exists() && !isMessage && !m.usage.Exists() && !m.finish.Exists()
}

// isModel reports whether a role is the model's, or absent.
func isModel(role strictjson.Value) bool {
	return role.Kind() <= strictjson.Null || role.Is("") || role.Is("model") || role.Is("assistant")
}

// hasErrorCode reports whether the event has an error code that means failure.
func (f *frame) hasErrorCode() bool { return wire.IsFailureCode(f.ErrorCode) }

// failure returns the class of the failure that an error code reports. pending is the number of the
// agent's calls without a response.
//
//   - The code of a function is an agent error.
//   - After a final answer, an exception is an agent error: it comes from a callback or, if the path names
//     only a container, from another step of that container.
//   - If a call has no response yet, the code is a tool error, because the model is asked only after the
//     response. Python reports a tool that raised an exception by the exception's name, and JavaScript a
//     tool that does not exist.
//   - Any other code is a model error.
func (f *frame) failure(r *response, pending int) event.Failure {
	switch {
	case !f.hasErrorCode():
		return event.NoFailure
	case f.isNode && !wire.IsStatus(f.ErrorCode.String()):
		return event.AgentError
	case r.answered && f.isBare() && (f.isStep && !wire.IsStatus(f.ErrorCode.String()) || isClass(f.ErrorCode.Text())):
		return event.AgentError
	case pending > 0 && !r.open && !f.hasUsage && !f.FinishReason.Exists() && f.Parts.Len() == 0:
		return event.ToolError
	}
	return event.ModelError
}

// isBare reports whether the frame has an error code and nothing else of a model response.
func (f *frame) isBare() bool {
	return f.hasErrorCode() && !f.hasUsage && !f.FinishReason.Exists() && !f.Model.Exists() && f.Parts.Len() == 0
}

// isClass reports whether an error code is the name of an exception. Statuses and finish reasons
// are all upper case.
func isClass(code []byte) bool { return !bytes.Equal(code, bytes.ToUpper(code)) }

// code returns the frame's error code. If it is a class, the message may have a more specific code
// from the model's API.
func (f *frame) code() string {
	return wire.MostSpecific(wire.Code(f.ErrorCode), wire.Code(f.errorType), wire.TextCode(f.errorMessage.Text()))
}

// isModelResponse reports whether a whole frame ends a model response. Tool responses, the ADK's
// own requests, and frames that repeat or continue a response do not.
func (f *frame) isModelResponse(r *response) bool {
	if f.isNode && !f.hasErrorCode() {
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
	case requests > 0 && requests == len(f.parts):
		return false
	case f.repeats(r), f.continues(r):
		return false
	case f.hasErrorCode():
		return true
	}
	return f.FinishReason.Exists() || f.hasUsage || (r.open || f.Model.Exists() || f.writesCode()) && len(f.parts) > 0
}

// writesCode reports whether the frame has code to execute. Only a model sends that.
func (f *frame) writesCode() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.kind == partCode })
}

// continues reports whether a frame belongs to a response that another frame started. A streaming
// JavaScript server sends one frame per kind of part; only the last has a finish reason, and that
// of a call is sent in an empty frame. All of them count the same prompt tokens.
func (f *frame) continues(r *response) bool {
	return (r.streamed || f.notPartial) && f.continuesUsage(r) && f.Usage.Output.N > r.lastUsage.Output.N
}

// isSection reports whether a frame has parts of a response that continues: no calls and no finish
// reason.
func (f *frame) isSection() bool {
	called := slices.ContainsFunc(f.parts, func(p part) bool { return p.kind == partCall })
	return len(f.parts) > 0 && !called && !f.FinishReason.Exists()
}

// continuesUsage reports whether the token counts of a frame, which may be partial, are equal to or
// extend those of a response without a finish reason.
func (f *frame) continuesUsage(r *response) bool {
	prompt, answer := f.Usage.Input, f.Usage.Output
	return !r.open && r.mayContinue && f.hasUsage && !f.hasErrorCode() &&
		prompt.Known && prompt == r.lastUsage.Input && answer.Known && r.lastUsage.Output.Known && answer.N >= r.lastUsage.Output.N
}

// repeats reports whether a streaming server sent the usage of the last response again: in an empty
// frame after the response or after its calls' responses, or in the second of two frames of a
// response (text, then calls; JavaScript also sends a refusal twice). Without streaming nothing is
// repeated, and equal usage belongs to another response.
func (f *frame) repeats(r *response) bool {
	return !r.open && (r.streamed || f.notPartial) && f.hasUsage && f.Usage == r.lastUsage &&
		(r.mayContinue || f.Parts.Len() == 0 && !f.hasErrorCode())
}

// isFinal reports whether the frame is a final response, as is_final_response() of the servers does. It is
// the same in Python, JavaScript, Go and Java.
func (f *frame) isFinal() bool {
	if f.actions.skipsSummary || f.LongRunning.Len() > 0 {
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
	return f.actions.skipsSummary || f.actions.escalates || f.actions.endsInvocation || f.LongRunning.Len() > 0
}

func (f *frame) isLongRunning(call strictjson.Value) bool {
	return call.Exists() && f.longRunningIDs[call.String()]
}

// maxParts bounds the parts, calls, artifacts and requests of one frame: each takes hundreds of bytes of
// memory in addition to its bytes on the wire.
const maxParts = 4096

// exceedsLimits reports whether a frame has more than maxParts parts, calls, artifacts and requests.
func (f *frame) exceedsLimits() bool {
	requests := f.actions.confirmations.Len() + f.actions.credentials.Len()
	return f.Parts.Len()+f.LongRunning.Len()+f.actions.artifacts.Len()+requests > maxParts
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
