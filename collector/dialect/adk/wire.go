package adk

import (
	"bytes"
	"hash/maphash"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// frame names the fields of an ADK event in either spelling: camelCase of Python, JavaScript, Go and Java, snake_case of Rust
// and of stored sessions; where both stand, camelCase counts.
type frame struct {
	ID           strictjson.Value
	Parts        strictjson.Value
	Model        strictjson.Value
	FinishReason strictjson.Value
	ErrorCode    strictjson.Value
	message      strictjson.Value // of the error
	errorType    strictjson.Value // its class
	LongRunning  strictjson.Value
	Usage        event.Usage
	actions      actions
	parts        []part          // of Parts, once it is known that there are not too many
	long         map[string]bool // of LongRunning
	hasUsage     bool
	isNode       bool // it speaks for a function or a workflow, which has no model
	isStep       bool // its author is an unnamed step of the container that its path names
	notPartial   bool // says so; a frame of a run without streaming says neither
	thinks       bool // it is a thought as a whole
	foreign      bool // its content is in another role than the model's: responses of tools, the human's own words, or instructions
}

// members are those of an event that anything is read of, found in one pass.
type members struct {
	id, invocation, author, branch, timestamp, partial, content, actions strictjson.Value
	model, finish, code, long, usage, details, node, scope, message      strictjson.Value
	layer, custom, grounding, citations                                  strictjson.Value
	output, nodeError, errorType                                         strictjson.Value // JavaScript's only
	thought                                                              strictjson.Value // the protocol has it in parts only
}

func readMembers(v strictjson.Value) (m members) {
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
			m.invocation = first(m.invocation, value)
		case "author":
			m.author = value
		case "branch":
			m.branch = value
		case "timestamp":
			m.timestamp = value
		case "partial":
			m.partial = value
		case "content":
			m.content = value
		case "thought":
			m.thought = value
		case "actions":
			m.actions = value
		case "modelVersion":
			m.model = value
		case "model_version":
			m.model = first(m.model, value)
		case "finishReason":
			m.finish = value
		case "finish_reason":
			m.finish = first(m.finish, value)
		case "errorCode":
			m.code = value
		case "error_code":
			m.code = first(m.code, value)
		case "longRunningToolIds":
			m.long = value
		case "long_running_tool_ids":
			m.long = first(m.long, value)
		case "usageMetadata":
			m.usage = value
		case "usage_metadata":
			m.usage = first(m.usage, value)
		case "nodeInfo":
			m.node = value
		case "node_info":
			m.node = first(m.node, value)
		case "isolationScope":
			m.scope = value
		case "isolation_scope":
			m.scope = first(m.scope, value)
		case "errorMessage":
			m.message = value
		case "error_message":
			m.message = first(m.message, value)
		case "proofLayer":
			m.layer = value
		case "proof_layer":
			m.layer = first(m.layer, value)
		case "customMetadata":
			m.custom = value
		case "custom_metadata":
			m.custom = first(m.custom, value)
		case "groundingMetadata":
			m.grounding = value
		case "grounding_metadata":
			m.grounding = first(m.grounding, value)
		case "citationMetadata":
			m.citations = value
		case "citation_metadata":
			m.citations = first(m.citations, value)
		case "output":
			m.output = value
		case "isNodeError":
			m.nodeError = value
		case "errorType":
			m.errorType = value
		case "errorDetails":
			m.details = value
		case "error_details":
			m.details = first(m.details, value)
		}
	}
	return m
}

// statements returns what the event states of its answer beside its content.
func (m members) statements() event.Statements {
	layer := m.layer
	if !layer.Exists() {
		layer = m.custom.First("proofLayer", "proof_layer")
	}
	return event.Statements{Layer: layer, Grounding: m.grounding, Citations: m.citations}
}

// isEvent is no stricter than the servers are: JavaScript may leave the author out, Python the invocation id empty.
func (m members) isEvent() bool {
	return m.author.Kind() == strictjson.String || m.invocation.Kind() == strictjson.String ||
		m.content.Kind() == strictjson.Object || m.actions.Kind() == strictjson.Object
}

func readFrame(m members) frame {
	partial, said := m.partial.Bool()
	return frame{
		thinks:     isOn(m.thought) || isOn(m.content.Get("thought")),
		notPartial: said && !partial, foreign: !isModel(m.content.Get("role")),
		ID: m.id, Parts: m.content.Get("parts"), actions: readActions(m.actions), Model: m.model, FinishReason: m.finish,
		ErrorCode: m.code, errorType: m.errorType, message: m.message, LongRunning: m.long, long: longSet(m.long), Usage: wire.GeminiUsage(m.usage), hasUsage: m.usage.Len() > 0,
	}
}

// isPlugin reports whether the first event of a run is the answer of a plugin that ran no agent: it has no model's data, and the role as
// its author.
//
// Source: google/adk/runners.py of google-adk 2.13.
func (m members) isPlugin() bool {
	return m.author.Is("model") && len(m.node.Get("path").Text()) == 0 && !m.branch.Exists() &&
		!m.model.Exists() && !m.finish.Exists() && m.usage.Len() == 0 && !m.code.Exists()
}

// isFunction reports whether an event is of a function of a JavaScript workflow: it raised, or it has an output that no model gave.
func (m members) isFunction() bool {
	if raised, _ := m.nodeError.Bool(); raised {
		return true
	}
	said, _ := m.node.Get("messageAsOutput").Bool()
	return m.output.Exists() && !said && !m.usage.Exists() && !m.finish.Exists()
}

// isModel reports whether a role is the model's, or absent.
func isModel(role strictjson.Value) bool {
	return role.Kind() <= strictjson.Null || role.Is("") || role.Is("model") || role.Is("assistant")
}

// hasErrorCode reports whether something failed.
func (f *frame) hasErrorCode() bool { return wire.IsFailure(f.ErrorCode) }

// failure says what an error code is about: a function where the frame speaks for one, and a tool where a call of the agent's waits
// for its answer, since the model is not asked before. Python says so, by the name of an exception, of a tool that raised,
// JavaScript of a tool that is not there. After a final answer an exception is not the model's: a callback raised it, or, where the path
// names only a container, another step of that failed.
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

// isBare reports whether the frame has nothing of a model's response but an error code.
func (f *frame) isBare() bool {
	return f.hasErrorCode() && !f.hasUsage && !f.FinishReason.Exists() && !f.Model.Exists() && f.Parts.Len() == 0
}

// isClass reports whether an error code is the name of an exception: statuses and finish reasons are in capitals.
func isClass(code []byte) bool { return !bytes.Equal(code, bytes.ToUpper(code)) }

// code returns the frame's error code. Its message may have a more specific one: that of the model's API where the code is a class.
func (f *frame) code() string {
	return wire.Specific(wire.Code(f.ErrorCode), wire.Code(f.errorType), wire.TextCode(f.message.Text()))
}

// errorEvent is what is remembered of an event with an error code.
type errorEvent struct {
	code    string
	message uint64 // its hash; 0 if there is none
}

var seed = maphash.MakeSeed()

func newErrorEvent(code string, message strictjson.Value) errorEvent {
	e := errorEvent{code: code}
	if text := message.Text(); len(text) > 0 {
		e.message = maphash.Bytes(seed, text)
	}
	return e
}

// refine returns the most specific code of an error frame. ADK 2 writes most errors twice, first into an event: both have one message, and
// the frame has only the class of the exception.
func (e errorEvent) refine(code string, message strictjson.Value) string {
	if frame := newErrorEvent(code, message); frame.message != e.message || e.message == 0 {
		return code
	}
	return wire.Specific(e.code, code)
}

// isModelResponse says whether a non-partial frame ends a response of the model. Not so: answers to calls, the ADK's own
// requests, and what repeats a response.
func (f *frame) isModelResponse(r *response) bool {
	if f.isNode && !f.hasErrorCode() {
		return false
	}
	requests := 0
	for _, p := range f.parts {
		if p.kind == partResponse {
			return false
		}
		if p.kind == partCall && wire.IsRequest(p.name.String()) {
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

// writesCode reports whether the frame has code that the model wants to be executed: only a model says so.
func (f *frame) writesCode() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.kind == partCode })
}

// continues reports whether a frame is of a response that another frame began: JavaScript, when it streams, writes a frame for each kind
// of part, without a finish reason but for the last, and gives that of a call to an empty frame. All have the same prompt.
func (f *frame) continues(r *response) bool {
	return (r.streamed || f.notPartial) && f.goesOn(r) && f.Usage.Output.N > r.last.Output.N
}

// isSection reports whether a frame has parts of a response that goes on: no calls and no finish reason.
func (f *frame) isSection() bool {
	called := slices.ContainsFunc(f.parts, func(p part) bool { return p.kind == partCall })
	return len(f.parts) > 0 && !called && !f.FinishReason.Exists()
}

// goesOn reports whether the tokens of a frame, which may be partial, are those of a response without a finish reason, or more.
func (f *frame) goesOn(r *response) bool {
	prompt, answer := f.Usage.Input, f.Usage.Output
	return !r.open && r.half && f.hasUsage && !f.hasErrorCode() &&
		prompt.Known && prompt == r.last.Input && answer.Known && r.last.Output.Known && answer.N >= r.last.Output.N
}

// repeats knows the frames with the usage of the last response again that servers send when they stream: an empty one after it,
// or after the answers to its calls, and the second of a response in two (text, then calls; in JavaScript a refusal twice).
// Without streaming nothing is repeated: there, the same usage is another response's.
func (f *frame) repeats(r *response) bool {
	return !r.open && (r.streamed || f.notPartial) && f.hasUsage && f.Usage == r.last &&
		(r.half || f.Parts.Len() == 0 && !f.hasErrorCode())
}

// isFinal is is_final_response() of the servers themselves, the same in Python, JavaScript, Go and Java.
func (f *frame) isFinal() bool {
	if f.actions.skips || f.LongRunning.Len() > 0 {
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

// settles says whether the agent's turn can end with an answer to a call, without the model being asked again.
func (f *frame) settles() bool {
	return f.actions.skips || f.actions.escalates || f.actions.ends || f.LongRunning.Len() > 0
}

func (f *frame) isLongRunning(call strictjson.Value) bool {
	return call.Exists() && f.long[call.String()]
}

// maxParts bounds how much one frame can state: each part and name costs hundreds of bytes beyond its own.
const maxParts = 4096

// tooMuch says whether a frame states more than any agent does.
func (f *frame) tooMuch() bool {
	asked := f.actions.confirmations.Len() + f.actions.credentials.Len()
	return f.Parts.Len()+f.LongRunning.Len()+f.actions.artifacts.Len()+asked > maxParts
}

// longSet makes the look-up of each call as cheap as it is for one.
func longSet(ids strictjson.Value) map[string]bool {
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

// transferCall is the id of the call that a transfer answers.
func (f *frame) transferCall() strictjson.Value {
	for _, p := range f.parts {
		if p.kind == partResponse && p.name.Is(wire.TransferTool) {
			return p.id
		}
	}
	return strictjson.Value{}
}

func first(v, otherwise strictjson.Value) strictjson.Value {
	if v.Exists() {
		return v
	}
	return otherwise
}

// reportedTime reads the five forms: a float of seconds, an integer of seconds or milliseconds, RFC 3339 text, none at all (Go).
func reportedTime(v strictjson.Value) time.Time {
	switch v.Kind() {
	case strictjson.Number:
		return wire.NumberTime(v)
	case strictjson.String:
		return dialect.TextTime(v)
	}
	return time.Time{}
}
