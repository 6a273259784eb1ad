package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// callPiece returns a piece of the first message in a mode. The call has the given name and id, or continues an earlier one.
func callPiece(mode string, index int, name, id, args string) sent {
	quote := func(s string) string {
		if s == "" {
			return "null"
		}
		return `"` + s + `"`
	}
	more := `"id":` + quote(id) + `,"name":` + quote(name) + `,"args":"` + args + `"`
	block := fmt.Sprintf(`{"type":"input_json_delta","partial_json":"%s","index":%d}`, args, index)
	if id != "" {
		block = fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"%s","input":{},"index":%d}`, id, name, index)
	}
	m := fmt.Sprintf(`{"type":"AIMessageChunk","id":"lc_run--1","content":[%s],"tool_call_chunks":[{%s,"index":%d}],"invalid_tool_calls":[{%[2]s}]}`, block, more, index)
	const metadata = `{"langgraph_node":"model","langgraph_step":1,"langgraph_checkpoint_ns":"model:t1"}`
	if mode == modeEvents {
		return sent{mode, `{"event":"on_chat_model_stream","name":"M","run_id":"r1","parent_ids":["r","r0"],"data":{"chunk":` + m + `},"metadata":` + metadata + `}`}
	}
	return sent{mode, `[` + m + `,` + metadata + `]`}
}

// TestPiecesOfInternalCalls sends the calls of a message in two modes at different paces. Another mode may send the whole message first.
func TestPiecesOfInternalCalls(t *testing.T) {
	calls := func(mode string) []sent {
		return []sent{
			callPiece(mode, 1, "search", "c1", ""), callPiece(mode, 1, "", "", "shown 1"), callPiece(mode, 2, "internal_search", "c2", ""),
			callPiece(mode, 2, "", "", "secret"), callPiece(mode, 3, "search", "c3", ""), callPiece(mode, 3, "", "", "shown 3"),
		}
	}
	whole := `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"internal_search","args":{"q":"secret"},"id":"c2","type":"tool_call"}]}`
	events, tuples := calls(modeEvents), calls(modeMessages)
	var streams [][]sent
	for _, end := range []sent{
		{"events", `{"event":"on_chat_model_end","name":"M","run_id":"r1","data":{"output":` + whole + `},"metadata":{"langgraph_node":"model"}}`},
		{"updates", `{"model":{"messages":[` + whole + `]}}`}, {"values", `{"messages":[` + whole + `]}`},
	} {
		for at := range len(tuples) + 1 {
			streams = append(streams, append(append(append([]sent{}, tuples[:at]...), end), tuples[at:]...))
		}
	}
	for at := range len(tuples) + 1 {
		streams = append(streams, append(append(append([]sent{}, tuples[:at]...), events...), tuples[at:]...), append(append(append([]sent{}, events[:at]...), tuples...), events[at:]...))
	}
	asks := `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"task","args":{"subagent_type":"internal_critic"},"id":"c1","type":"tool_call"}]}`
	for _, stream := range [][]sent{
		{callPiece(modeMessages, 1, "internal_search", "", ""), callPiece(modeMessages, 1, "", "", "secret")},
		{callPiece(modeMessages, 1, "task", "c1", ""), {"updates", `{"model":{"messages":[` + asks + `]}}`}, callPiece(modeMessages, 1, "", "", "secret")},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
	for _, stream := range streams {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
		for _, shown := range []string{"shown 1", "shown 3"} {
			if out := leaving(client, stream...); strings.Count(out, shown) < 3 {
				t.Errorf("of %v, %q does not leave:\n%s", stream, shown, out)
			}
		}
	}
}

// TestManyPieces begins more calls than are remembered.
func TestManyPieces(t *testing.T) {
	stream := []sent{callPiece(modeMessages, 1, "internal_search", "c", "")}
	for i := range maxSeen {
		stream = append(stream, sent{"messages", fmt.Sprintf(`[{"type":"AIMessageChunk","id":"m","content":"","tool_call_chunks":[{"id":"c%d","name":"search","args":"","index":%[1]d}]},{}]`, i)})
	}
	checkStaysIn(t, []filter.Settings{client}, append(stream, callPiece(modeMessages, 1, "", "", "secret"))...)
	stream = stream[:0]
	for i := range wire.MaxSet + 1 {
		stream = append(stream, sent{"messages", fmt.Sprintf(`[{"type":"AIMessageChunk","id":"m%d","content":"","tool_call_chunks":[{"id":"","name":"internal_search","args":"","index":1}]},{}]`, i)})
	}
	checkStaysIn(t, []filter.Settings{client}, append(stream, sent{"messages", `[{"type":"AIMessageChunk","id":"x","content":"","tool_call_chunks":[{"id":null,"name":null,"args":"secret","index":1}]},{}]`})...)
}

// TestBesideInternalCalls has parts of a message with an internal call that are none of the call.
func TestBesideInternalCalls(t *testing.T) {
	const called = `{"type":"tool_use","id":"c","name":"internal_search","input":{}`
	for _, part := range []string{`{"type":"thinking","thinking":"shown","index":0}`, `{"type":"text","text":"shown","index":0}`, `"shown"`} {
		stream := []sent{
			{"messages", `[{"type":"AIMessageChunk","id":"m","content":[` + called + `,"index":1}]},{}]`},
			{"messages", `[{"type":"AIMessageChunk","id":"m","content":[` + part + `]},{}]`},
		}
		if out := leaving(client, stream...); !strings.Contains(out, "shown") {
			t.Errorf("%s does not leave:\n%s", part, out)
		}
	}
	stream := []sent{{"updates", `{"model":{"messages":[{"type":"ai","id":"m","content":[{"type":"image","url":"shown"},` + called + `}]}]}}`}}
	if out := leaving(client, append(stream, stream...)...); strings.Count(out, "shown") != 2 {
		t.Errorf("an image does not leave:\n%s", out)
	}
}

// TestAfterEventOfEnd sends what a withheld call or an internal node has sent, after the event of its end. The graph's next step may send
// such data again.
func TestAfterEventOfEnd(t *testing.T) {
	event := func(kind, name, run, parents, place, data string) sent {
		step := 1
		if strings.HasPrefix(place, "final") {
			step = 2
		}
		return sent{"events", fmt.Sprintf(`{"event":"%s","name":"%s","run_id":"%s","parent_ids":[%s],"data":%s,"metadata":{"langgraph_step":%d,"langgraph_node":"%s","langgraph_checkpoint_ns":"%s"}}`,
			kind, name, run, parents, data, step, strings.Split(place, ":")[0], place)}
	}
	const (
		called = `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"internal_search","args":{},"id":"c","type":"tool_call"}]}`
		result = `{"type":"tool","id":"m2","name":"internal_search","tool_call_id":"c","content":"secret"}`
	)
	asked := event("on_chat_model_end", "M", "r1", `"r","r0"`, "model:t0", `{"output":`+called+`}`)
	tool := []sent{
		event("on_chain_start", "tools", "r2", `"r"`, "tools:t1", `{"input":{}}`), event("on_tool_start", "internal_search", "r3", `"r","r2"`, "tools:t1", `{"input":{}}`),
		event("on_tool_end", "internal_search", "r3", `"r","r2"`, "tools:t1", `{"output":`+result+`}`),
	}
	node := []sent{
		event("on_chain_start", "internal_plan", "r2", `"r"`, "internal_plan:t1", `{"input":{}}`), event("on_chain_end", "internal_plan", "r2", `"r"`, "internal_plan:t1", `{"output":{}}`),
	}
	pushed := sent{"messages", `[{"type":"ai","id":"p1","content":"secret"},{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:t1"}]`}
	shown, next := sent{"custom", `"shown"`}, event("on_chain_start", "final", "r5", `"r"`, "final:t2", `{"input":{}}`)
	sibling := event("on_chain_start", "other", "r4", `"r"`, "other:t3", `{"input":{}}`)
	untold := []sent{tool[0], event("on_chain_end", "tools", "r2", `"r"`, "tools:t1", `{"output":{"messages":[`+result+`]}}`)}
	inState := sent{"updates", `{"model":{"messages":[` + called + `]}}`}
	for _, stream := range [][]sent{
		append(append([]sent{asked}, tool...), writes), append(append([]sent{asked, inState}, tool...), writes), append(append([]sent{asked, inState}, untold...), writes), append(node, writes), append(node, sibling, writes), append(append([]sent{asked}, tool...), pushed),
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
		if out := leaving(client, append(stream, next, shown)...); !strings.Contains(out, "shown") {
			t.Errorf("after %v, the data of the next step does not leave:\n%s", stream, out)
		}
	}
}
