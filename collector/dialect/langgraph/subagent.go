package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// subagentMember is the argument of a call that names the subagent.
//
// Source: deepagents/middleware/subagents.py, TaskToolSchema.
const subagentMember = "subagent_type"

var subagentMembers = []string{subagentMember}

// asksInternal reports whether a call is of an internal tool, or its arguments name an internal subagent. In a piece of a message, the
// arguments are a text. Some forms of calls have the tool's name in an object within the call.
func asksInternal(c strictjson.Value) bool {
	isCall := hasCallForm(c)
	if isCall && namesInternalTool(c) || asksInternalSubagent(c) {
		return true
	}
	return slices.ContainsFunc(wrappedBy(c), func(inner strictjson.Value) bool {
		return (isCall || hasCallForm(inner)) && namesInternalTool(inner) || asksInternalSubagent(inner)
	})
}

// hasCallForm reports whether a part of a message has the form of a call, even without arguments.
func hasCallForm(c strictjson.Value) bool {
	return c.First("args", "input", "arguments", "function").Exists() || lenient.HasSuffix(c.Get("type").Text(), "call", "call_chunk", "tool_use")
}

// wrappedBy returns the objects in a block or call that may have the call's members: those of OpenAI (function) and Gemini (functionCall),
// LangChain's extras, and the value of a block of a form that LangChain does not know.
func wrappedBy(c strictjson.Value) (inner []strictjson.Value) {
	if !c.First("type", "function").Exists() {
		return nil
	}
	for name, member := range c.Members() {
		if member.Kind() == strictjson.Object && !lenient.MatchesAny(name.Text(), callArguments) {
			inner = append(inner, member)
		}
	}
	return inner
}

func namesInternalTool(c strictjson.Value) bool {
	for name, value := range c.Members() {
		if lenient.MatchesAny(name.Text(), calledMembers) && lenient.ContainsInternal(value) {
			return true
		}
	}
	return false
}

// calledMembers are the members of a call that name its tool.
var calledMembers = []string{"name", "action", "tool_name", "toolName"}

func asksInternalSubagent(c strictjson.Value) bool {
	return slices.ContainsFunc([]strictjson.Value{c.Get("args"), c.Get("partial_json"), c.Get("input"), c.Get("arguments")}, func(args strictjson.Value) bool {
		return namesInternalSubagent(args) || new(argumentScan).add(args.Text())
	})
}

func namesInternalSubagent(args strictjson.Value) bool {
	for name, value := range args.Members() {
		if lenient.MatchesAny(name.Text(), subagentMembers) && lenient.ContainsInternal(value) {
			return true
		}
	}
	return false
}

// answeredMembers name the call of which a block of a message is the result. A model's server executes such a call itself.
//
// Source: langchain_core/messages/content.py, ServerToolResult, and langchain-core/src/messages/content/tools.ts; anthropic/types,
// WebSearchToolResultBlock.
var answeredMembers = []string{"tool_call_id", "tool_use_id", "toolCallId", "toolUseId"}

// withholdInternalCalls cuts calls of internal tools and subagents from a message, in each form in which the message has them. It also withholds
// their results, which repeat what the subagents say. It returns the IDs of the calls.
func (d *decoder) withholdInternalCalls(message strictjson.Value) (ids map[string]struct{}) {
	ids = make(map[string]struct{})
	var continued []strictjson.Value
	pieces := d.beginJoining(message)
	for form, c := range callsOf(message) {
		id, isInternal := d.name(c.First("call_id", "id")), asksInternal(c)
		switch {
		case isInternal:
			d.cutCall(c)
			d.withholdCallID(id)
			d.withheldCalls.beginCall(d, message, c)
			if id == "" {
				d.withholdUnnamedSiblings(message, c)
			}
			d.pieces.internal.Add(d.name(message.Get("id")))
			ids[id] = struct{}{}
		case id == "" && pieces.isWhole && !d.mayGrow && len(toolOf(c).Text()) > 0: // a whole call
			continue
		case isContinuation(message, c):
			continued = append(continued, c)
		}
		if joined := pieces.join(d, callPart{c, form, id, isInternal}); joined != "" {
			ids[joined] = struct{}{}
		}
	}
	d.cutContinuations(message, continued)
	for _, c := range callsOf(message) {
		if mayName(&d.withheld, c.First(answeredMembers...)) {
			d.cutCall(c)
		}
	}
	d.noteEmptied(message)
	return ids
}

// noteEmptied records the list of calls of a complete message if all were cut.
func (d *decoder) noteEmptied(message strictjson.Value) {
	calls := message.Get("tool_calls")
	isComplete := finishOf(message.Get("response_metadata")).Exists() || !d.mayGrow && message.Get("type").Is("ai")
	if isComplete && calls.Len() > 0 && !slices.ContainsFunc(elementsOf(calls), func(c strictjson.Value) bool { return !d.isCutCall(c) }) {
		d.emptied = append(d.emptied, calls)
	}
}

// withholdCallID records the ID of a call of an internal tool or subagent.
func (d *decoder) withholdCallID(id string) {
	add(&d.withheld, id, true)
	d.shown.remove(id)
}

// cutCall cuts a call from its message. After that, examine skips it.
func (d *decoder) cutCall(c strictjson.Value) {
	if d.cutCalls == nil {
		d.cutCalls = make(map[strictjson.Value]struct{})
	}
	if _, isCut := d.cutCalls[c]; !isCut {
		d.cutCalls[c] = struct{}{}
		d.cuts = append(d.cuts, c)
	}
}

func (d *decoder) isCutCall(v strictjson.Value) bool {
	_, isCut := d.cutCalls[v]
	return isCut
}
