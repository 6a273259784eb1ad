package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// areResults reports whether all choices of a chunk are messages of tools, or may continue such messages. Servers that run a loop send
// them between two completions. In a completion that is open, such a role is only a mark of its message.
//
// Source: packages/tiny-agents/src/lib/webServer.ts of huggingface/huggingface.js.
func (d *decoder) areResults(chunk strictjson.Value) bool {
	choices := chunk.Get("choices")
	for one := range choices.Elements() {
		delta := one.Get("delta")
		role := delta.Get("role").Text()
		continues := d.inResults && len(role) == 0 && isBlank(delta.Get("tool_calls")) && isBlank(delta.Get("function_call"))
		if !continues && !lenient.MatchesAny(role, toolRoles) {
			return false
		}
	}
	return choices.Len() > 0 && (!d.chat.started || d.chat.finished)
}

// chunkResults reads a chunk with the results of calls, which belongs to no completion. The chunk or its choice names the call.
func (d *decoder) chunkResults(id string, chunk strictjson.Value, m marks, b *event.Batch) {
	b.Type = typeResults
	if namesRole(chunk) {
		d.results = results{choice: choice{nature: answer}}
	}
	b.Internal = b.Internal || d.results.withheld
	for one := range chunk.Get("choices").Elements() {
		d.choice(&d.results.choice, one, m, false, b)
	}
	d.results.withheld = b.Internal
	if b.Internal || !d.begun || d.ended || d.chat.ended {
		return
	}
	for one := range chunk.Get("choices").Elements() {
		delta := one.Get("delta")
		call := d.name(delta.Get("tool_call_id"))
		if call == "" && d.calls.indexOf(id) >= 0 {
			call = id
		}
		if content := delta.Get("content"); call != "" && !isBlank(content) {
			e := b.Add(event.KindToolEnded)
			e.CallID, e.Name = call, d.calls.end(call, nil).tool
			e.SetPayload(content)
		}
	}
}

// results is the message of a tool that the last chunks have.
type results struct {
	choice
	withheld bool
}

// chunkCalls holds the calls that a chunk begins or continues, and those of which it has the result or a copy.
type chunkCalls struct{ begun, answered place }

// callsOf reads the calls and results of a chunk. LiteLLM calls MCP tools itself, and sends the calls and the results in a member of its own.
//
// Source: litellm/responses/mcp/chat_completions_handler.py of litellm 1.106.
func callsOf(chunk strictjson.Value) (calls chunkCalls) {
	add := func(v strictjson.Value) {
		own := v.Get("provider_specific_fields")
		calls.answered.addID(v.Get("tool_call_id"))
		for piece := range v.Get("tool_calls").Elements() {
			calls.begun.addID(piece.Get("id"))
		}
		for call := range own.Get("mcp_tool_calls").Elements() {
			calls.answered.addID(call.Get("id"))
		}
		for result := range own.Get("mcp_call_results").Elements() {
			calls.answered.addID(result.Get("tool_call_id"))
		}
	}
	add(chunk)
	for one := range chunk.Get("choices").Elements() {
		add(one)
		add(one.Get("delta"))
		add(one.Get("message"))
	}
	return calls
}

// isWithheldCall reports whether one of the calls is withheld. A call that neither this chunk nor an earlier one begins may have begun in an
// unreadable frame.
func (d *decoder) isWithheldCall(calls chunkCalls) bool {
	isWithheld := func(key string) bool { return d.isIDWithheld(key, ofResponse) }
	isLost := func(key string) bool {
		return (d.unreadable > 0 || d.items.withheld.IsFull()) && !d.items.seen.Contains(key) && !slices.Contains(calls.begun.keys, key)
	}
	return slices.ContainsFunc(slices.Concat(calls.begun.keys, calls.answered.keys), isWithheld) || slices.ContainsFunc(calls.answered.keys, isLost)
}

// recordCalls records the calls of a chunk, which is withheld or not.
func (d *decoder) recordCalls(calls chunkCalls, isWithheld bool) {
	if isWithheld {
		d.withhold(calls.begun)
		d.withhold(calls.answered)
		return
	}
	d.addSeen(calls.begun)
}

// toolOfOutput returns the tool of an item with a result, if its type says it. The call may be in an earlier stream, whose run waited for
// an approval. The SDK for JavaScript also repeats the name of a function.
//
// Source: packages/agents-core/src/types/protocol.ts, FunctionCallResultItem and ComputerCallResultItem, of @openai/agents 0.17.
func toolOfOutput(item strictjson.Value) string {
	kind := strings.TrimSuffix(strings.TrimSuffix(item.Get("type").String(), "_output"), "_result")
	return cmp.Or(clientTools[kind], clientTools[kind+"_call"])
}

// beginMissedCall reports a client's call that the end of a resumed response repeats, unless the response may have the call's output too.
func (d *decoder) beginMissedCall(item strictjson.Value, answered *wire.Set[string], b *event.Batch) {
	tool, client := clientTools[item.Get("type").String()]
	if client && !answered.MayContain(d.name(callID(item))) {
		d.callDone(tool, item, b)
	}
}

// answeredCalls returns the IDs of the calls that have an output in a response.
func (d *decoder) answeredCalls(output strictjson.Value) (answered wire.Set[string]) {
	for item := range output.Elements() {
		if isOutput(item.Get("type").String()) {
			answered.Add(d.name(callID(item)))
		}
	}
	return answered
}

// outcomeOf returns the failure that the item with a tool's result states, if any, and the failure's code. An exit code is a result, not a
// failure.
//
// Source: the items in openai/types/responses/response_item.py of openai 3.54, and agents/run_internal/tool_actions.py of openai-agents
// 0.24.
func outcomeOf(item, output strictjson.Value, tool string) (failure event.Failure, code string) {
	status, fault := item.Get("status"), cmp.Or(item.Get("error"), item.Get("providerData").Get("error"))
	failure = toolFailure(output, tool)
	if failure == event.NoFailure && (status.Is("failed") || fault.Kind() > strictjson.Null) {
		failure = event.ToolError
		code, _ = errorCode(fault)
	}
	for piece := range item.Get("output").Elements() { // of a shell
		if piece.Get("outcome").Get("type").Is("timeout") {
			failure = event.FailureTimeout
		}
	}
	return failure, code
}

// toolFailed begins the output of a function that failed in the Agents SDK.
const toolFailed = "An error occurred while running the tool. Please try again."

// toolRejected is the output of a function that a person did not allow, unless the application sets another one.
//
// Source: agents/tool.py, DEFAULT_APPROVAL_REJECTION_MESSAGE, of openai-agents 0.24; packages/agents-core/src/runner/approvalRejection.ts of
// @openai/agents 0.20.
const toolRejected = "Tool execution was not approved."

// handoffIgnored is the output of a handoff that was not the first one of its response.
//
// Source: agents/run_internal/turn_resolution.py of openai-agents 0.24.
const handoffIgnored = "Multiple handoffs detected, ignoring this one."

func isRejection(output strictjson.Value) bool { return outputText(output) == toolRejected }

// outputText returns the text of a function's output. In the SDK for JavaScript, it may be in an object.
func outputText(output strictjson.Value) string {
	if output.Kind() == strictjson.Object {
		return output.Get("text").String()
	}
	return output.String()
}

// toolFailure returns the failure that a function's output states in the words of the Agents SDK.
//
// Source: agents/tool.py, default_tool_error_function and default_tool_timeout_error_message, of
// openai-agents 0.24.
func toolFailure(output strictjson.Value, tool string) event.Failure {
	said := outputText(output)
	switch {
	case strings.HasPrefix(said, toolFailed), isRejection(output), said == handoffIgnored:
		return event.ToolError
	case tool != "" && strings.HasPrefix(said, "Tool '"+tool+"' timed out after "):
		return event.FailureTimeout
	}
	return event.NoFailure
}
