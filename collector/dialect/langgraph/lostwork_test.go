package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// startedTask and endedTask return the start and the result of a task, with more members.
func startedTask(id, node, more string) string {
	return `{"id":"` + id + `","name":"` + node + `","input":{},"triggers":["branch:to:x"]` + more + `}`
}

func endedTask(id, node string) string {
	return `{"id":"` + id + `","name":"` + node + `","result":{},"interrupts":[]}`
}

func debugged(graph, kind, step, payload string) sent {
	return sent{"debug" + graph, `{"step":` + step + `,"timestamp":"2026-11-22T06:09:22.876143+00:00","type":"` + kind + `","payload":` + payload + `}`}
}

// unreadableForms are members that make a frame unreadable.
var unreadableForms = []string{`,"a":1,"A":2`, `,"a":NaN`, `,"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300), `,"a":"`, `,"\u0041":1,"a":2`}

// TestLostWork begins internal nodes in frames that cannot be read. What names no node stays in until the step is over.
func TestLostWork(t *testing.T) {
	state := sent{"values", messagesState(askedBefore)}
	for _, graph := range []string{"", "|n:1"} {
		for _, form := range unreadableForms {
			for mode, broken := range map[string]sent{
				"tasks": {"tasks" + graph, startedTask("7", "internal_x", form)}, "debug": debugged(graph, "task", "3", startedTask("7", "internal_x", form)),
				"checkpoints": {"checkpoints" + graph, `{"next":["internal_x"],"values":{}` + form + `}`},
				"events":      {"events", `{"event":"on_chain_start","name":"internal_x","run_id":"r7","parent_ids":["r0"],"data":{},"metadata":{"langgraph_node":"internal_x"}` + form + `}`},
				"messages":    {"messages" + graph, `[{"type":"ai","id":"m7","content":""},{"langgraph_node":"internal_x"` + form + `}]`},
				"metadata":    {"messages/metadata", `{"m7":{"metadata":{"langgraph_node":"internal_x"` + form + `}}}`},
			} {
				at := graph
				if mode == "metadata" {
					at = ""
				}
				for _, rest := range []sent{{"custom" + at, `{"x":"secret"}`}, {"updates" + at, `{"__interrupt__":[{"id":"q","value":"secret"}]}`}, {"error", `{"error":"ValueError","message":"secret"}`}} {
					checkStaysIn(t, []filter.Settings{client, public}, state, broken, rest)
					checkStaysIn(t, []filter.Settings{client, public}, state, sent{"tasks" + at, startedTask("6", "y", "")}, broken, sent{"tasks" + at, startedTask("8", "z", "")}, sent{"tasks" + at, endedTask("6", "y")}, rest)
				}
			}
		}
	}
	ordinary := strings.ReplaceAll(startedTask("7", "internal_x", unreadableForms[0]), "internal_", "")
	if out := leaving(client, state, sent{"tasks", ordinary}, sent{"custom", `{"x":"shown"}`}); !strings.Contains(out, "shown") {
		t.Errorf("after an unreadable frame that has no internal name, this leaves: %s", out)
	}
	d, b := (Dialect{}).New(&event.Stream{}).(*decoder), new(event.Batch)
	d.Decode(dialect.Frame{Frame: sse.Frame{Event: []byte("tasks")}, Malformed: event.ReasonTooLarge}, b)
	if !d.mayBeOf(d.working, nil) {
		t.Error("a frame that was too large begins nothing")
	}
}

// TestEndOfLostWork shows that the step is over in which an unreadable frame may have begun internal work.
func TestEndOfLostWork(t *testing.T) {
	lost := startedTask("7", "internal_x", unreadableForms[0])
	written := func(graph string) sent { return sent{"custom" + graph, `{"x":"shown"}`} }
	ofStep := func(step string) sent {
		return sent{"messages", `[{"type":"ai","id":"m` + step + `","content":"a"},{"langgraph_node":"y","langgraph_checkpoint_ns":"y:8","langgraph_step":` + step + `}]`}
	}
	announced := func(step string) sent {
		return sent{"messages/metadata", `{"m` + step + `":{"metadata":{"langgraph_node":"y","langgraph_checkpoint_ns":"y:8","langgraph_step":` + step + `}}}`}
	}
	begun := func(step string) sent {
		return sent{"events", `{"event":"on_chain_start","name":"y","run_id":"r` + step + `","parent_ids":["r0"],"data":{},"metadata":{"langgraph_node":"y","langgraph_checkpoint_ns":"y:8","langgraph_step":` + step + `}}`}
	}
	ended := map[string][]sent{
		"tasks":    {{"tasks", endedTask("7", "internal_x")}, {"tasks", startedTask("8", "y", "")}},
		"debug":    {debugged("", "task_result", "3", endedTask("7", "internal_x")), debugged("", "task", "4", startedTask("8", "y", ""))},
		"messages": {ofStep("3"), ofStep("4")},
		"metadata": {announced("3"), announced("4")},
		"events":   {begun("3"), begun("4"), begun("5")}, // in LangGraph.js, other modes may come later
		"values":   {{"values", messagesState(askedBefore)}},
		"state":    {{"checkpoints", `{"values":{},"next":["y"],"tasks":[]}`}},
	}
	for name, over := range ended {
		stream := append([]sent{{"tasks", lost}}, over...)
		if out := leaving(client, append(stream, written(""))...); !strings.Contains(out, "shown") {
			t.Errorf("%s: after the end of the step, this leaves: %s", name, out)
		}
	}
	inner := []sent{{"tasks", startedTask("1", "n", "")}, {"tasks|n:1", lost}, {"tasks", endedTask("1", "n")}, {"tasks", startedTask("8", "n", "")}}
	if out := leaving(client, append(inner, written("|n:8"))...); !strings.Contains(out, "shown") {
		t.Errorf("after the end of the graph, this leaves: %s", out)
	}
	secret := sent{"custom", `{"x":"secret"}`}
	returned := sent{"tasks", endedTask("6", "y")}
	for name, same := range map[string][]sent{
		"one step": {ofStep("3")}, "the same step": {ofStep("3"), ofStep("3")}, "an older step": {ofStep("3"), ofStep("2")},
		"a called task": {returned, {"tasks", strings.Replace(startedTask("9", "f", ""), "branch:to:x", "__pregel_push", 1)}},
		"a handler":     {returned, {"tasks", startedTask("9", "__error_handler__y", "")}}, "the handler": {returned, {"tasks", startedTask("9", "__default_error_handler__", "")}},
		"another lost": {returned, {"tasks", lost}, {"tasks", startedTask("9", "z", "")}},
	} {
		if out := leaving(client, append(append([]sent{{"tasks", lost}}, same...), secret)...); strings.Contains(out, "secret") {
			t.Errorf("%s ends the step: %s", name, out)
		}
	}
}
