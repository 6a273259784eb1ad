package adk

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var prefilter = lenient.NewPrefilter(&table)

// withhold marks an event as internal if it is about a call of a withheld event. ADK's servers mark only the call itself.
func (d *decoder) withhold(fr *frame, b *event.Batch) {
	var calls namedCalls
	calls.add(fr)
	b.Internal = d.calls.Check(calls.begun, calls.continued, wire.IsFiltered(b, prefilter))
}

// namedCalls holds the IDs of the calls in an event: those that begin, and those of which it has the result, about which it asks, or that it
// only names.
type namedCalls struct{ begun, continued []string }

func (n *namedCalls) add(fr *frame) {
	for part := range fr.partList.Elements() {
		for name, value := range part.Members() {
			n.addMember(name, value, part)
		}
	}
	for _, requests := range fr.pauses() {
		for id := range requests.Members() {
			addID(&n.continued, id)
		}
	}
	for id := range fr.longRunning.Elements() {
		addID(&n.continued, id)
	}
	for widget := range fr.actionsValue.First("renderUiWidgets", "render_ui_widgets").Elements() { // of an MCP app, with the call's arguments
		addID(&n.continued, widget.Get("id"))
	}
}

// addMember adds the calls that a member of a part names.
func (n *namedCalls) addMember(name, value, part strictjson.Value) {
	switch string(name.Text()) {
	case "functionCall", "function_call", "toolCall", "tool_call", "executableCode", "executable_code":
		n.addCall(value)
	case "args": // Rust: a call without its wrapper
		n.addCall(part)
	case "functionResponse", "function_response", "toolResponse", "tool_response", "codeExecutionResult", "code_execution_result":
		addID(&n.continued, firstOf(value.Get("id"), part.Get("id")))
	}
}

// addCall adds a call and, if it is a question about another call, that call.
func (n *namedCalls) addCall(call strictjson.Value) {
	addID(&n.begun, call.Get("id"))
	if wire.IsInputRequest(call.Get("name").String()) {
		args := call.Get("args")
		addID(&n.continued, args.First("originalFunctionCall", "original_function_call").Get("id"))
		addID(&n.continued, args.First("functionCallId", "function_call_id"))
	}
}

func addID(ids *[]string, id strictjson.Value) {
	if name := dialect.Name(id.String()); name != "" {
		*ids = append(*ids, name)
	}
}
