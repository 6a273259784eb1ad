package langgraph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestTasks checks which frames state the task of a response, or its beginning.
func TestTasks(t *testing.T) {
	whole := func(id string) string { return by("", "run-"+id, "x") }
	metadata := func(task, more string) string {
		return `{"langgraph_step":1,"langgraph_checkpoint_ns":"` + task + `"` + more + `}`
	}
	message := func(id, task, more string) sent {
		return sent{"messages", `[` + whole(id) + `,` + metadata(task, more) + `]`}
	}
	update := func(node, id string) sent {
		return sent{"updates", `{"` + node + `":{"messages":[` + whole(id) + `]}}`}
	}
	state := func(message string) sent { return sent{"values", `{"messages":[` + message + `]}`} }
	begins := func(id, node, input string) sent {
		return sent{"tasks", `{"id":"` + id + `","name":"` + node + `","input":` + input + `,"triggers":["__pregel_push"]}`}
	}
	returns := sent{"tasks", `{"id":"1","name":"w","result":{"messages":[` + whole("1") + `]},"interrupts":[]}`}
	asks := func(kind, run, data string) sent {
		return sent{"events", `{"event":"on_chat_model_` + kind + `","name":"M","run_id":"` + run + `","data":` + data + `,"metadata":` + metadata("w:1", "") + `}`}
	}
	const called = `,"langgraph_path":["__pregel_push",["__pregel_pull","wf"],0,true]`
	for _, c := range []struct {
		name   string
		frames []sent
		want   string
	}{
		{"metadata", []sent{message("1", "w:1", "")}, `frame {"" " 1"}, response {"w:1" " 1"}`},
		{"a subgraph", []sent{message("1", "x:1|w:2", "")}, `frame {"" "x:1 1"}, response {"w:2" "x:1 1"}`},
		{"the beginning of a task", []sent{begins("1", "w", `{}`)}, `frame {"w:1" ""}`},
		{"the end of a task", []sent{returns}, `frame {"w:1" ""}, response {"w:1" ""}`},
		{"the first update", []sent{update("w", "1")}, `response {"" ""}`},
		{"a later update", []sent{update("w", "1"), update("w", "2")}, `response unknown`},
		{"an agent after another node", []sent{{"updates", `{"p":{"r":1}}`}, {"updates|x:1", `{"model":{"messages":[` + whole("1") + `]}}`}}, `response unknown`},
		{"a later update of an agent's node", []sent{update("w", "1"), update("model", "2")}, `response {"" ""}`},
		{"a later update after a state", []sent{{"values", `{}`}, update("w", "1"), update("w", "2")}, `response {"" "2"}`},
		{"an update of a later step", []sent{{"values", `{}`}, update("w", "1"), {"values", `{}`}, update("w", "2")}, `response {"" "3"}`},
		{"a state", []sent{{"values", `{"messages":[]}`}, state(whole("1"))}, `response {"" "2"}`},
		{"a state with an author", []sent{{"values", `{"messages":[]}`}, state(by("a", "run-1", "x"))}, `response {"" ""}`},
		{"the first state of a subgraph", []sent{{"values|x:1", `{"messages":[]}`}}, `frame {"x:1" ""}`},
		{"a hook of an unknown agent", []sent{{"updates|x:1", `{"M.before_model":null}`}}, ""},
		{"a hook of an agent", []sent{{"updates|x:1", `{"model":{"messages":[` + whole("1") + `]}}`}, {"updates|x:1", `{"M.before_model":null}`}}, `frame {"x:1" ""}`},
		{"a message of an agent", []sent{{"updates|x:1", `{"model":{"messages":[` + whole("1") + `]}}`}, {"updates|x:1", `{"model":{"messages":[` + whole("2") + `]}}`}}, `response {"" ""}`},
		{"custom data of an agent", []sent{{"updates|x:1", `{"model":{"messages":[` + whole("1") + `]}}`}, {"custom|x:1", `{}`}}, ""},
		{"a later state of a subgraph", []sent{{"values|x:1", `{"messages":[]}`}, {"values|x:1", `{"messages":[` + whole("1") + `]}`}}, `response {"" ""}`},
		{"a called function", []sent{message("1", "wf:1|f:2", called)}, `response {"f:2" ""}`},
		{"the caller, after a called function", []sent{message("1", "wf:1|f:2", called), message("2", "wf:1", "")}, `frame {"" " 1"}, response unknown`},
		{"the caller, after the task of a called function", []sent{begins("1", "f", `[[],{}]`), message("2", "wf:1", "")}, `frame {"" " 1"}, response unknown`},
		{"a model is asked", []sent{asks("start", "r1", `{}`)}, `frame {"r1" ""}`},
		{"an asked model answers", []sent{asks("start", "r1", `{}`), asks("end", "r1", `{"output":`+whole("r1")+`}`)}, `response {"r1" ""}`},
		{"an asked model answers in pieces", []sent{asks("start", "r1", `{}`), {"messages", `[{"type":"AIMessageChunk","id":"lc_run--r1","content":"x"},` + metadata("w:1", "") + `]`}}, `response {"r1" ""}`},
		{"a model answers", []sent{asks("end", "r1", `{"output":`+whole("r1")+`}`)}, `response {"w:1" " 1"}`},
		{"a node begins", []sent{{"events", `{"event":"on_chain_start","name":"w","run_id":"1","parent_ids":["0"],"data":{},"metadata":{"langgraph_node":"w","langgraph_checkpoint_ns":"w:1"}}`}}, `frame {"w:1" ""}`},
	} {
		d, b := (Dialect{}).New(&event.Stream{}), new(event.Batch)
		for _, one := range append([]sent{{"metadata", started}}, c.frames...) {
			b.Begin(new(event.Stream), frameOf(one.name, one.data).Frame, time.Time{})
			b.Parse(200)
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
		}
		var got []string
		if b.Task != (event.Task{}) {
			got = append(got, fmt.Sprintf("frame {%q %q}", b.Task.ID, b.Task.Step))
		}
		for _, e := range b.Events {
			switch {
			case e.Kind != event.KindModelStarted && e.Kind != event.KindModelEnded:
			case e.Task.Unknown:
				got = append(got, "response unknown")
			default:
				got = append(got, fmt.Sprintf("response {%q %q}", e.Task.ID, e.Task.Step))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, ", "), c.want)
		}
	}
}

// TestManyAskedModels has more models asked than are remembered.
func TestManyAskedModels(t *testing.T) {
	d := new(decoder)
	for i := range 3 * maxOpen {
		d.noteAsked(fmt.Sprint(i), new(event.Batch))
	}
	if len(d.asked) > maxOpen || d.askedRun("run-"+fmt.Sprint(3*maxOpen-1)) == "" {
		t.Errorf("%d runs are remembered", len(d.asked))
	}
}
