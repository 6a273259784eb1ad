package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// repeatScan cuts repeated calls of internal tools, and descriptions of such tools, from a model's message. Servers of models and LangChain's packages repeat
// calls in members and forms of their own.
//
// Source: @langchain/openai, converters/responses.ts (response_metadata.output); @langchain/google-genai, utils/common.ts (functionCall);
// langchain_google_genai/chat_models.py (function_call).
type repeatScan struct {
	d    *decoder
	ids  map[string]struct{} // of the message's withheld calls
	byID bool                // look for ids, else for names
}

// withholdRepeats cuts all that names an internal tool or repeats a withheld call from a message. ids are those of the withheld calls that are
// known.
func (d *decoder) withholdRepeats(message strictjson.Value, ids map[string]struct{}) {
	s := repeatScan{d: d, ids: ids}
	s.scan(message, false, 0)
	if len(s.ids) == 0 {
		return
	}
	s.byID = true
	s.scan(message, false, 0)
}

// scan cuts parts of a value. isOutput says that a tool has written the value.
func (s *repeatScan) scan(v strictjson.Value, isOutput bool, depth int) {
	if depth > maxScan { // examine withholds the frame
		return
	}
	isCall := len(toolOf(v).Text()) > 0
	for name, member := range v.Members() {
		switch text := name.Text(); {
		case s.byID && (s.hasID(name) || name.Is(joinedCalls) && member.Kind() == strictjson.Object):
			s.d.cutCall(member)
		case member.Kind() < strictjson.Array, lenient.MatchesAny(text, parsedMembers), isCall && lenient.MatchesAny(text, callArguments): // written by the model
		default:
			s.scanPart(member, isOutput || lenient.MatchesAny(text, outputMembers) && isExecuted(v), depth+1)
		}
	}
	for element := range v.Elements() {
		if element.Kind() >= strictjson.Array {
			s.scanPart(element, isOutput, depth+1)
		}
	}
}

func (s *repeatScan) scanPart(v strictjson.Value, isOutput bool, depth int) {
	switch {
	case s.d.isCutCall(v):
	case s.byID && s.repeats(v), !s.byID && isOfInternalTool(v, isOutput):
		s.withhold(v)
	default:
		s.scan(v, isOutput, depth)
	}
}

// withhold cuts a part, and withholds the results of the call with its ID.
func (s *repeatScan) withhold(v strictjson.Value) {
	s.d.cutCall(v)
	if !s.byID && hasCallForm(v) {
		id := s.d.name(v.First("call_id", "id"))
		s.d.withholdCallID(id)
		s.ids[id] = struct{}{}
	}
}

// repeats reports whether an object, or the call that it wraps, has the ID of a withheld call.
func (s *repeatScan) repeats(v strictjson.Value) bool {
	for name, member := range v.Members() {
		if lenient.MatchesAny(name.Text(), callIDs) && s.hasID(member) {
			return true
		}
	}
	return slices.ContainsFunc(wrappedBy(v), s.repeats)
}

func (s *repeatScan) hasID(id strictjson.Value) bool {
	_, is := s.ids[s.d.name(id)]
	return is && len(id.Text()) > 0
}

// joinedCalls is the member with a call in OpenAI's old form. If a message has several calls, its strings may be joined from those of all.
const joinedCalls = "function_call"

var (
	callIDs       = []string{"id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId"}
	outputMembers = []string{"output", "outputs", "result", "results", "content"}
	// toolMembers name a tool in an object that need not have the form of a call. Source: anthropic/types, ToolReferenceBlock.
	toolMembers = []string{"tool_name", "toolName"}
	// schemaForms are members of the description of a tool. Source: openai/types/responses, ResponseOutputItem.McpListTools; FunctionTool.
	schemaForms = []string{"input_schema", "inputSchema", "parameters", "args_schema"}
)

// isExecuted reports whether an object is a call that a model's server has executed, or the result of one.
func isExecuted(v strictjson.Value) bool {
	return lenient.HasSuffix(v.Get("type").Text(), "call", "result") || v.First(answeredMembers...).Exists()
}

// isOfInternalTool reports whether a part of a message is a call of an internal tool or subagent, or describes such a tool. What a tool has
// written may describe tools, but calls none.
func isOfInternalTool(v strictjson.Value, isOutput bool) bool {
	if !isOutput && asksInternal(v) {
		return true
	}
	isDescription := lenient.HasMember(v, schemaForms) || !isOutput && v.Get("type").Is("function")
	for name, value := range v.Members() {
		isName := lenient.MatchesAny(name.Text(), toolMembers) || isDescription && lenient.MatchesAny(name.Text(), nameMembers)
		if isName && lenient.ContainsInternal(value) {
			return true
		}
	}
	return false
}
