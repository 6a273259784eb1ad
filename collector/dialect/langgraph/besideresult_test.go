package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const (
	writtenX = `{"type":"ai","id":"w1","content":"secret","tool_calls":[]}` // a tool wrote it, not a model
	askedX   = `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"internal_read","args":{},"id":"cX","type":"tool_call"},{"name":"look","args":{},"id":"cV","type":"tool_call"}]}`
	readX    = `{"type":"tool","id":"t1","tool_call_id":"cX","name":"internal_read","content":"","status":"success"}`
	lookedX  = `{"type":"tool","id":"t2","tool_call_id":"cV","name":"look","content":"shown","status":"success"}`
)

// TestMessagesBesideInternalResult has the tool of an internal call return a message beside its result.
func TestMessagesBesideInternalResult(t *testing.T) {
	asked := func(mode string) []sent {
		switch mode {
		case "messages":
			return []sent{fromServer(askedX, "model")}
		case "updates":
			return []sent{{"updates", `{"model":{"messages":[` + askedX + `]}}`}}
		}
		return []sent{{"values", `{"messages":[]}`}, {"values", `{"messages":[` + askedX + `]}`}}
	}
	update := func(messages ...string) sent {
		return sent{"updates", `{"tools":{"messages":[` + strings.Join(messages, ",") + `]}}`}
	}
	state := func(messages ...string) sent {
		return sent{"values", `{"messages":[` + strings.Join(append([]string{askedX}, messages...), ",") + `]}`}
	}
	in := func(task, message string) sent {
		return sent{"messages", `[` + message + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:` + task + `"}]`}
	}
	other := strings.Replace(strings.Replace(writtenX, "secret", "also", 1), "w1", "w2", 1)
	unnamed := strings.Replace(writtenX, `"w1"`, "null", 1)
	model := strings.Replace(writtenX, `"tool_calls"`, `"response_metadata":{"finish_reason":"stop"},"tool_calls"`, 1)
	for _, c := range []struct {
		stream  []sent
		staysIn bool // the message with the secret
		leaves  int  // how often "shown" and "also" leave under client
	}{
		{[]sent{update(readX, writtenX), update(lookedX)}, true, 1},
		{[]sent{update(readX, model), update(lookedX, other)}, true, 2},
		{[]sent{update(writtenX, readX, lookedX), state(writtenX, readX, lookedX)}, true, 2},
		{[]sent{update(lookedX, readX, writtenX), update(lookedX)}, true, 2},
		{[]sent{update(readX, unnamed), state(readX, writtenX)}, true, 0},
		{[]sent{{"updates", `{"tools":[{"messages":[` + readX + `,` + writtenX + `]},{"messages":[` + lookedX + `]}]}`}}, true, 1},
		{[]sent{update(lookedX, other, lookedX)}, true, 3},
		{[]sent{{"updates", `{"agent":{"messages":[` + readX + `,` + model + `]}}`}}, false, 0}, // a graph returns its model's answer beside the result
		{[]sent{{"updates", `{"act":{"messages":[` + readX + `,` + writtenX + `]}}`}}, true, 0},
		{[]sent{state(readX, writtenX, lookedX), state(readX, writtenX, lookedX, other)}, true, 3},
		{[]sent{state(writtenX, readX, lookedX)}, true, 1},
		{[]sent{state(readX, model)}, false, 0}, // an agent in a graph
		{[]sent{state(readX), state(readX, writtenX)}, false, 0},
		{[]sent{in("U1", readX), in("U1", writtenX), in("U2", lookedX), in("U2", other)}, true, 2},
		{[]sent{in("U1", readX), in("U1", lookedX)}, true, 1},
		{[]sent{in("U1", readX), in("U1", writtenX), state(readX, writtenX, lookedX)}, true, 1},
	} {
		mode := c.stream[0].name
		for _, reader := range []filter.Settings{client, public} {
			out := leaving(reader, append(asked(mode), c.stream...)...)
			if strings.Contains(out, "secret") == c.staysIn || strings.Contains(out, "internal_read") {
				t.Errorf("%s: of %v this leaves:\n%s", reader.Policy, c.stream, out)
			}
			if n := strings.Count(out, "shown") + strings.Count(out, "also"); reader.Policy == event.PolicyClient && n != c.leaves {
				t.Errorf("of %v this leaves with %d public texts, not %d:\n%s", c.stream, n, c.leaves, out)
			}
		}
	}
	memory := new(event.Withheld)
	leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, asked("messages")...)
	if out := leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", nextRun}, state(readX, writtenX)); !strings.Contains(out, "secret") {
		t.Errorf("a message of an earlier run does not leave:\n%s", out)
	}
}

// TestResumedResults resumes a run that waited for the approval of two calls, of which one is internal. Only the stream before has shown
// the calls.
func TestResumedResults(t *testing.T) {
	readX := strings.Replace(readX, `"content":""`, `"content":"secret"`, 1)
	const callX = `{"name":"internal_read","args":{},"id":"cX","type":"tool_call"}`
	stream := []sent{announced("t2", "U2"), {"messages/complete", `[` + lookedX + `]`}}
	inside := strings.Replace(strings.Replace(workOf("U2")[1].data, "secret", "shown", 1), "U8", "U2", 1)
	stream = append(stream, task("U2", "tools", `[{"name":"look","args":{},"id":"cV","type":"tool_call"}]`), sent{workOf("U2")[1].name, inside},
		announced("t1", "U1"), sent{"messages/complete", `[` + readX + `]`})
	for _, more := range []int{0, event.MaxWithheldCalls} { // if there are too many calls to know them all, no result is surely of another one
		memory, resumed := new(event.Withheld), event.Identity{Session: threadID, Answers: []string{resumes}}
		asked := askedX
		for i := range more {
			asked = strings.Replace(asked, callX, fmt.Sprintf(`{"name":"internal_y","args":{},"id":"c%d","type":"tool_call"},%s`, i, callX), 1)
		}
		leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", started}, sent{"messages/complete", `[` + asked + `]`})
		out := leavingOf(client, &event.Stream{Identity: resumed, Withheld: memory}, append([]sent{{"metadata", nextRun}}, stream...)...)
		if n := strings.Count(out, "shown"); strings.Contains(out, "secret") || (n == 2) != (more == 0) {
			t.Errorf("with %d other calls: of %v this leaves with %d public texts:\n%s", more, stream, n, out)
		}
	}
}
