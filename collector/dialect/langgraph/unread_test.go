package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

var unreadable = inTuple(`{"type":"AIMessageChunk","id":"m1","content":"","tool_calls":[{"name":"f","id":"c1","args":{"x":"\ud800"}}]}`, `,"langgraph_node":"internal_x"`)

func resultOf(call string) string {
	return `{"type":"tool","id":"t-` + call + `","tool_call_id":"` + call + `","content":"secret"}`
}

// TestAfterUnreadable checks that the results of calls that an unreadable frame may have contained stay in, in every mode, and messages
// that only such a frame may have announced.
func TestAfterUnreadable(t *testing.T) {
	for _, next := range []sent{
		inTuple(resultOf("c1"), ""),
		{"updates", `{"tools":{"messages":[` + resultOf("c1") + `]}}`},
		{"values", `{"messages":[` + resultOf("c1") + `]}`},
		{"messages/partial", `[{"type":"ai","id":"m1","content":"secret"}]`},
		{"messages/complete", `[{"type":"ai","id":"m1","content":"secret"}]`},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, unreadable, next)
	}
}

// TestAfterUnknown checks that what repeats a message of a frame that is withheld for its mode or its shape stays in.
func TestAfterUnknown(t *testing.T) {
	message := `{"type":"system","id":"m1","content":"x"}`
	for _, first := range []sent{{"newest", message}, {"messages", `{"message":` + message + `}`}} {
		checkStaysIn(t, []filter.Settings{client, public}, first, inTuple(said(""), ""))
	}
}

// TestOthersLeaveAfterUnreadable checks that new messages, and results of calls that were shown, leave after an unreadable frame.
func TestOthersLeaveAfterUnreadable(t *testing.T) {
	call := inTuple(`{"type":"ai","id":"m2","content":"","tool_calls":[{"name":"f","id":"c2","args":{}}]}`, "")
	piece := inTuple(`{"type":"AIMessageChunk","id":"m2","content":"","tool_call_chunks":[{"name":"f","id":"c2","args":"{}"}]}`, "")
	for _, stream := range [][]sent{
		{unreadable, inTuple(said(""), "")},
		{unreadable, {"values", `{"messages":[` + said("") + `]}`}},
		{unreadable, {"messages/metadata", `{"m1":{"metadata":{"langgraph_node":"model"}}}`}, {"messages/partial", `[` + said("") + `]`}},
		{{"messages/partial", `[{"type":"ai","id":"m1","content":""}]`}, unreadable, {"messages/partial", `[` + said("") + `]`}},
		{call, unreadable, inTuple(resultOf("c2"), "")},
		{piece, unreadable, inTuple(resultOf("c2"), "")},
		{unreadable, call, {"updates", `{"tools":{"messages":[` + resultOf("c2") + `]}}`}},
		{unreadable, {"values", `{"messages":[{"type":"ai","id":"m2","content":"","tool_calls":[{"name":"f","id":"c2","args":{}}]},` + resultOf("c2") + `]}`}},
	} {
		if out := leaving(client, stream...); !strings.Contains(out, "secret") {
			t.Errorf("of %v only this leaves:\n%s", stream, out)
		}
	}
}
