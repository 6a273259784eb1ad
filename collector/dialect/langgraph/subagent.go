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
// arguments are a text.
func asksInternal(c strictjson.Value) bool {
	if inner := c.Get("value"); c.Get("type").Is("non_standard") && inner.Kind() == strictjson.Object {
		c = inner // LangChain has no form of its own for it
	}
	if hasCallForm(c) && lenient.ContainsInternal(toolOf(c)) {
		return true
	}
	for _, args := range []strictjson.Value{c.Get("args"), c.Get("partial_json"), c.Get("input"), c.Get("arguments"), c.Get("function").Get("arguments")} {
		if namesInternalSubagent(args) || new(argumentScan).add(args.Text()) {
			return true
		}
	}
	return false
}

// hasCallForm reports whether a part of a message has the form of a call, even without arguments.
func hasCallForm(c strictjson.Value) bool {
	return c.First("args", "input", "arguments", "function").Exists() || lenient.HasSuffix(c.Get("type").Text(), "call", "call_chunk", "tool_use")
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
// Source: langchain_core/messages/content.py, ServerToolResult; anthropic/types, WebSearchToolResultBlock.
var answeredMembers = []string{"tool_call_id", "tool_use_id"}

// withholdInternalCalls cuts calls of internal tools and subagents from a message, in each form in which the message has them. It also withholds
// their results, which repeat what the subagents say.
func (d *decoder) withholdInternalCalls(message strictjson.Value) {
	var ids []string
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
			ids = append(ids, id)
		case id == "" && pieces.isWhole && !d.mayGrow && len(toolOf(c).Text()) > 0: // a whole call
			continue
		case isContinuation(message, c):
			continued = append(continued, c)
		}
		if joined := pieces.join(d, callPart{c, form, id, isInternal}); joined != "" {
			ids = append(ids, joined)
		}
	}
	d.cutContinuations(message, continued)
	for _, c := range callsOf(message) {
		id := d.name(c.First("call_id", "id"))
		if id != "" && slices.Contains(ids, id) || mayName(&d.withheld, c.First(answeredMembers...)) {
			d.cutCall(c)
		}
	}
	d.noteEmptied(message)
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
