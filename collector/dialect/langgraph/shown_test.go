package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// unreadable returns the start of an internal message with the call cX in each form that cannot be read.
func unreadable(name string) (all []sent) {
	for _, args := range []string{`{"q\ud800":""}`, "{\"q\":\"\xff\"}", `{"q":1,"Q":2}`, strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		all = append(all, sent{name, `[{"id":"m1","type":"AIMessageChunk","content":"","tool_calls":[{"name":"w","args":` + args +
			`,"id":"cX","type":"tool_call"}]},{"langgraph_node":"internal_x","langgraph_checkpoint_ns":"internal_x:1"}]`})
	}
	return all
}

// fromServer is a frame of the mode messages-tuple with the metadata that the server adds.
func fromServer(message, node string) sent {
	return sent{"messages", `[` + message + `,{"langgraph_node":"` + node + `","langgraph_checkpoint_ns":"` + node + `:1"}]`}
}

const (
	resultX = `{"id":"t","type":"tool","content":"secret","name":"w","tool_call_id":"cX","status":"success"}`
	pieceX  = `{"id":"m1","type":"AIMessageChunk","content":"secret"}`
	wholeX  = `{"id":"m1","type":"ai","content":"secret"}`
)

// TestAfterUnreadable sends the result of a call in an unreadable frame, and what repeats or continues a message in it.
func TestAfterUnreadable(t *testing.T) {
	for _, broken := range append(unreadable("messages"), unreadable("messages|a:1")...) {
		for _, stream := range [][]sent{
			{fromServer(resultX, "tools")},
			{fromServer(strings.Replace(resultX, `"tool"`, `"ToolMessageChunk"`, 1), "tools")},
			{fromServer(strings.Replace(resultX, `"tool"`, `"x"`, 1), "tools")},
			{fromServer(strings.Replace(resultX, `"tool_call_id":"cX",`, "", 1), "tools")},
			{{"updates", `{"tools":{"messages":[` + resultX + `]}}`}},
			{{"values", `{"messages":[` + resultX + `]}`}, {"values", `{"history":{"a":[` + resultX + `]}}`}},
			{{"messages/complete", `[` + resultX + `]`}},
			{{"events", `{"event":"on_tool_end","name":"w","data":{"output":` + resultX + `},"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:1"}}`}},
			{{"tasks", `{"id":"1","name":"tools","result":{"messages":[` + resultX + `]},"interrupts":[]}`}},
			{{"debug", `{"type":"task_result","step":1,"timestamp":"2026-01-01T00:00:00Z","payload":{"id":"1","name":"tools","result":{"messages":[` + resultX + `]}}}`}},
			{{"checkpoints", `{"values":{"messages":[` + resultX + `]}}`}},
			{{"custom", `{"role":"tool","tool_call_id":"cX","content":"secret"}`}},
			{inTuple(pieceX, ""), inTuple(pieceX, "")},
			{{"messages", `[` + pieceX + `]`}},
			{{"messages/partial", `[` + wholeX + `]`}},
			{{"messages/metadata", `{"m1":{"metadata":{}}}`}, {"messages/partial", `[` + wholeX + `]`}},
			{{"values", `{"messages":[` + wholeX + `]}`}, {"values", `{"messages":[` + wholeX + `]}`}},
			{{"updates", `{"agent":{"messages":[` + wholeX + `]}}`}},
			{{"checkpoints", `{"values":{"messages":[` + wholeX + `]}}`}},
			{{"custom", `{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"type":"ai","content":"secret"}}`}},
		} {
			checkStaysIn(t, []filter.Settings{client, public}, append([]sent{broken}, stream...)...)
		}
	}
}

// TestAfterUnreadableUpdate sends an unreadable update of the run's own graph. A node may repeat its messages.
func TestAfterUnreadableUpdate(t *testing.T) {
	broken := sent{"updates", `{"internal_x":{"messages":[{"id":"m1","type":"ai","content":"","Content":""}]}}`}
	below := sent{"updates|a:1", broken.data}
	for _, stream := range [][]sent{
		{broken, {"updates", `{"agent":{"messages":[{"type":"human","id":"h","content":""},` + wholeX + `]}}`}},
		{broken, {"updates", `{"agent":{"history":[` + wholeX + `]}}`}},
		{broken, {"updates", `{"tools":{"messages":[` + resultX + `]}}`}},
		{broken, {"values", `{"messages":[` + wholeX + `]}`}},
		{below, {"updates", `{"agent":{"messages":[` + wholeX + `]}}`}},
		{broken, below, {"updates", `{"agent":{"messages":[` + wholeX + `]}}`}},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
	for _, update := range []string{`{"messages":[` + wholeX + `]}`, `{"messages":` + wholeX + `}`, `[{"messages":[` + wholeX + `]}]`} {
		if out := leaving(client, broken, sent{"updates", `{"model":` + update + `}`}, sent{"values", `{"messages":[` + wholeX + `]}`}); strings.Count(out, "secret") != 2 {
			t.Errorf("after an unreadable update, the next one %s does not leave: %s", update, out)
		}
	}
}

// TestLeavesAfterUnreadable checks that a run goes on after an unreadable frame: what was shown before, and what comes with the
// server's metadata.
func TestLeavesAfterUnreadable(t *testing.T) {
	const (
		request  = `{"id":"m2","type":"AIMessageChunk","content":"","tool_call_chunks":[{"id":"c2","name":"w","args":"{}"}]}`
		result   = `{"id":"t2","type":"tool","content":"shown","tool_call_id":"c2"}`
		piece    = `{"id":"m3","type":"AIMessageChunk","content":"shown"}`
		answer   = `{"id":"m3","type":"ai","content":"shown"}`
		question = `{"id":"h","type":"human","content":"shown"}`
	)
	announced := sent{"messages/metadata", `{"m3":{"metadata":{"langgraph_node":"model","langgraph_checkpoint_ns":"model:1"}}}`}
	for _, broken := range append(unreadable("messages"), unreadable("custom")...) {
		for _, stream := range [][]sent{
			{inTuple(request, ""), broken, fromServer(result, "tools")},
			{inTuple(request, ""), broken, {"values", `{"messages":[` + result + `]}`}},
			{inTuple(strings.Replace(piece, "shown", "", 1), ""), broken, inTuple(piece, "")},
			{{"values", `{"messages":[` + strings.Replace(answer, "shown", "", 1) + `]}`}, broken, {"values", `{"messages":[` + answer + `]}`}},
			{broken, fromServer(request, "model"), fromServer(result, "tools")},
			{broken, fromServer(piece, "model")},
			{broken, fromServer(strings.Replace(piece, "shown", "", 1), "model"), inTuple(piece, "")},
			{broken, fromServer(strings.Replace(piece, "shown", "", 1), "model"), {"values", `{"messages":[` + answer + `]}`}},
			{broken, announced, {"messages/partial", `[` + answer + `]`}},
			{announced, broken, {"messages/partial", `[` + answer + `]`}},
			{broken, {"events", `{"event":"on_chat_model_stream","name":"m","data":{"chunk":` + piece + `},"metadata":{"langgraph_node":"model","langgraph_checkpoint_ns":"model:1"}}`}},
			{broken, {"values", `{"messages":[` + question + `]}`}},
			{broken, {"values", `{"messages":[` + wholeX + `],"todos":[{"content":"shown","status":"pending"}]}`}},
			{broken, noQuestion, {"custom", `{"id":"x","type":"progress","content":"shown"}`}},
			{broken, noQuestion, {"values", `{"__interrupt__":[{"id":"1","value":{"question":"shown"}}]}`}},
		} {
			if out := leaving(client, stream...); !strings.Contains(out, "shown") {
				t.Errorf("of %v nothing leaves: %s", stream, out)
			}
		}
	}
	for _, harmless := range []sent{{"feedback", `{"a":1,"a":2}`}, {"messages", `[`}, {"metadata", `{"a":1,"A":2}`}} {
		if out := leaving(client, harmless, inTuple(piece, "")); !strings.Contains(out, "shown") {
			t.Errorf("after %v nothing leaves: %s", harmless, out)
		}
	}
	state := sent{"values", `{"messages":[{"id":"m2","type":"ai","content":"","Content":""}]}`} // the next one repeats what it holds
	if out := leaving(client, state, sent{"values", `{"messages":[` + answer + `]}`}); !strings.Contains(out, "shown") {
		t.Errorf("after %v nothing leaves: %s", state, out)
	}
}

// TestManyShown shows more ids than are remembered: the others count as not shown.
func TestManyShown(t *testing.T) {
	d := &decoder{secrecy: secrecy{shown: shownSet{missed: missedAnything}}}
	for i := range 2 * maxSeen {
		d.shown.noteMessage(frameOf("values", fmt.Sprintf(`{"id":"%d"}`, i)).JSON)
		d.shown.noted = nil
	}
	for id, want := range map[string]bool{"1": false, fmt.Sprint(2*maxSeen - 1): true} {
		if found := d.examine(frameOf("values", `{"type":"ai","id":"`+id+`","content":""}`).JSON, elsewhere, 0); found.doubtful != want || len(d.shown.ids) > maxSeen {
			t.Errorf("message %s of %d: withheld is %v", id, len(d.shown.ids), found.doubtful)
		}
	}
}

// TestUnknownFrames withholds messages of frames that are not decoded, and then what repeats them.
func TestUnknownFrames(t *testing.T) {
	for _, stream := range [][]sent{
		{{"another", `[` + strings.Replace(wholeX, "{", `{"name":"internal_x",`, 1) + `,{}]`}, inTuple(pieceX, "")},
		{{"messages", `{"m":` + strings.Replace(wholeX, "{", `{"name":"internal_x",`, 1) + `}`}, inTuple(pieceX, "")},
		{{"another", `[{"id":"m1","type":"AIMessageChunk","content":"","name":"internal_x","tool_calls":[{"id":"cX"}]}]`}, fromServer(resultX, "tools")},
		{{"events", `{"event":"internal_x","name":"a","data":"secret"}`}}, {{"events", `{"event":"on_internal_x_start","name":"a","data":"secret"}`}}, {{"events", `{"name":"a","data":"secret"}`}},
		{{"events", `{"event":"on_chain_starts","name":"a","data":"secret"}`}},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
	for _, kind := range []string{"on_chain_start", "on_parser_end", "on_tool_error", "on_chat_model_stream", "on_custom_event"} {
		if out := leaving(client, sent{"events", `{"event":"` + kind + `","name":"a","data":"shown"}`}); !strings.Contains(out, "shown") {
			t.Errorf("%s does not leave", kind)
		}
	}
}

// TestFullHistory has a state with more messages than are remembered. What an internal node may have written or changed after that stays in.
func TestFullHistory(t *testing.T) {
	var history strings.Builder
	for i := range maxSeen + 1 {
		fmt.Fprintf(&history, `{"type":"human","id":"%d","content":""},`, i)
	}
	state := func(last string) sent { return sent{"values", `{"messages":[` + history.String() + last + `]}`} }
	const answer, secret = `{"type":"ai","id":"p0","content":"shown"}`, `{"type":"ai","id":"p1","content":"secret"}`
	spoken := fromServer(`{"type":"AIMessageChunk","id":"m1","content":"x"}`, "internal_x")
	for _, last := range []string{answer + "," + secret, strings.Replace(answer, "shown", "secret", 1)} {
		out := leaving(client, state(answer), spoken, state(last))
		if strings.Contains(out, "secret") || !strings.Contains(out, "shown") || !strings.Contains(out, `"id":"0"`) {
			t.Errorf("of %s this leaves: %.300s", last, out[max(0, len(out)-300):])
		}
	}
	result := `{"type":"tool","id":"r1","tool_call_id":"cX","content":""}`
	if out := leaving(client, state(answer), asked, state(answer+","+result+","+secret)); strings.Contains(out, "secret") {
		t.Errorf("beside a withheld result this leaves: %.300s", out[max(0, len(out)-300):])
	}
}
