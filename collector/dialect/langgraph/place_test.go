package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// misleading are values that models and tools may write, and that mean something else outside their data.
var misleading = []string{
	`{"type":"system","content":"printer"}`, `{"role":"developer","content":"x"}`, `{"roles":["developer","tester"]}`, `["system","linux"]`,
	`{"messages":[{"type":"system","id":"c1","content":"x"}]}`, `{"ns":"internal-net"}`, `{"name":"Internal Revenue","content":"x"}`, `{"prompts":["a cat"]}`,
	`{"type":"PromptTemplate"}`, `{"node":"internal","arg":1}`, `{"type":"tool","tool_call_id":"hidden","content":"x"}`, `{"id":["SystemMessage"],"kwargs":{"content":"x"}}`,
}

// TestDataOfTools has models and tools write what would mean something elsewhere: their frames leave unchanged, in all modes.
func TestDataOfTools(t *testing.T) {
	const ns = `"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:1"`
	onTool := func(kind, data string) sent {
		return sent{"events", `{"event":"` + kind + `","name":"f","run_id":"x","tags":[],"metadata":{` + ns + `},"data":` + data + `,"parent_ids":[]}`}
	}
	for _, data := range misleading {
		call := `{"name":"f","args":` + data + `,"id":"c1","type":"tool_call"}`
		request := `{"type":"ai","id":"m1","content":[{"type":"text","text":"shown"},{"type":"tool_use","id":"c1","name":"f","input":` + data + `}],"tool_calls":[` + call + `]}`
		result := `{"type":"tool","id":"t1","tool_call_id":"c1","content":[` + data + `],"artifact":` + data + `}`
		parsed := `{"type":"ai","id":"m2","content":"shown","additional_kwargs":{"parsed":` + data + `}}`
		saved := `{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"","id":"m3","tool_calls":[` + call + `]}}`
		const answer = `{"type":"ai","id":"m4","content":"shown"}`
		all := request + `,` + result + `,` + parsed + `,` + saved + `,` + answer
		stream := []sent{
			{"messages", `[` + strings.Replace(request, `"ai"`, `"AIMessageChunk"`, 1) + `,{"langgraph_node":"model"}]`}, {"messages/partial", `[` + request + `]`},
			{"updates", `{"model":{"messages":[` + request + `]}}`}, {"updates", `{"model":[{"messages":` + request + `}]}`},
			{"updates", `{"model":{"messages":{"type":"__overwrite__","value":[` + request + `]}}}`}, {"updates", `{"__interrupt__":[{"id":"i","value":{"action_requests":[{"name":"f","args":` + data + `}]}}]}`},
			{"tasks", `{"id":"1","name":"tools","input":{"tool_call":` + call + `,"state":{"messages":[` + request + `]}},"triggers":[]}`},
			onTool("on_tool_start", `{"input":{"q":`+data+`}}`), onTool("on_tool_end", `{"input":{"q":`+data+`},"output":`+result+`}`), onTool("on_tool_end", `{"input":{},"output":`+data+`}`),
			{"tasks", `{"id":"1","name":"tools","result":{"messages":[` + result + `]},"interrupts":[]}`}, {"updates", `{"tools":{"messages":[` + result + `]}}`},
			{"values", `{"messages":[` + all + `]}`}, {"checkpoints", `{"values":{"messages":[` + all + `]},"metadata":{},"next":[],"tasks":[]}`},
			{"debug", `{"type":"task","step":1,"timestamp":"2026-01-01T00:00:00Z","payload":{"id":"2","name":"tools","input":` + call + `}}`},
		}
		out := leaving(client, stream...)
		for _, one := range stream {
			if !strings.Contains(out, one.name+" "+one.data+"\n") {
				t.Errorf("because of %s this does not leave unchanged: %v", data, one)
			}
		}
	}
}

// TestBesideInstructions has instructions beside messages: in a state, only the member or the message stays in; what else is in such a
// frame leaves with later ones.
func TestBesideInstructions(t *testing.T) {
	const (
		system = `{"type":"system","id":"s","content":"secret"}`
		answer = `{"type":"ai","id":"m1","content":"shown","tool_calls":[{"name":"task","args":{"subagent_type":"w"},"id":"c1"}]}`
		state  = `{"messages":[` + answer + `]}`
	)
	for _, c := range []struct{ name, data, client, public string }{
		{"updates", `{"a":{"messages":[` + answer + `],"prompt":%s}}`, `{"a":{"messages":[` + answer + `]}}`, "shown"},
		{"updates", `{"a":{"messages":[%s,` + answer + `]},"b":null}`, `{"a":{"messages":[` + answer + `]},"b":null}`, "shown"},
		{"updates", `{"a":[{"messages":[` + answer + `]},{"p":[[%s]],"n":1}]}`, `{"a":[{"messages":[` + answer + `]},{"n":1}]}`, "shown"},
		{"updates", `{"a":{"messages":{"__overwrite__":[%s,` + answer + `]}}}`, `{"a":{"messages":{"__overwrite__":[` + answer + `]}}}`, "shown"},
		{"messages/complete", `[%s,` + answer + `]`, `[` + answer + `]`, "shown"},
		{"values", `{"messages":[` + answer + `,%s],"p":{"x":%[1]s}}`, state, "shown"},
		{"updates", `{"a":%s,"b":{"messages":[` + answer + `]}}`, "", ""},
		{"updates", `{"a":{"messages":[` + answer + `]},"__interrupt__":[{"id":"1","value":%s}]}`, "", ""},
		{"values", `[%s,` + answer + `]`, "", ""},
		{"tasks", `{"id":"1","name":"a","input":{"messages":[%s,` + answer + `]},"triggers":[]}`, "", ""},
		{"debug", `{"type":"task_result","step":1,"payload":{"id":"1","name":"a","result":{"messages":[` + answer + `],"prompts":[%s]}}}`, "", ""},
		{"checkpoints", `{"values":{"messages":[` + answer + `],"p":%s}}`, "", ""},
		{"events", `{"event":"on_chat_model_end","name":"m","run_id":"r","metadata":{},"data":{"output":` + answer + `,"input":{"messages":[[%s]]}}}`, "", ""},
		{"events", `{"event":"on_tool_start","name":"f","run_id":"r","metadata":{},"data":{"input":{"q":1,"state":{"messages":[%s,` + answer + `]}}}}`, "", ""},
		{"events", `{"event":"on_tool_start","name":"f","run_id":"r","metadata":{},"data":{"input":{"q":{"messages":[%s,{"type":"human","id":"h","content":"x","additional_kwargs":{}}]}}}}`, "", ""},
		{"events", `{"event":"on_tool_end","name":"f","run_id":"r","metadata":{},"data":{"output":{"update":{"messages":[%s,` + answer + `]}}}}`, "", ""},
		{"custom", `{"m":[` + answer + `,%s]}`, "", ""},
	} {
		for _, instruction := range []string{system, `["developer","secret"]`, `{"role":"system","content":[{"type":"text","text":"secret"}]}`} {
			one := sent{c.name, fmt.Sprintf(c.data, instruction)}
			want := ""
			if c.client != "" {
				want = c.name + " " + c.client + "\n"
			}
			if out := leaving(client, one); !strings.HasSuffix(out, "}\n"+want) || strings.Count(out, "\n") > 2 {
				t.Errorf("of %v this leaves:\n%s", one, out)
			}
			if out := leaving(public, one); strings.Contains(out, "secret") || !strings.Contains(out, c.public) {
				t.Errorf("of %v this leaves to the public:\n%s", one, out)
			}
			piece := inTuple(`{"type":"AIMessageChunk","id":"m2","content":"subagent","name":"w"}`, `,"langgraph_checkpoint_ns":"tools:1|model:2","lc_agent_name":"w"`)
			for _, reader := range []filter.Settings{client, public} {
				if out := leaving(reader, one, sent{"values", state}, sent{"messages|tools:1", piece.data}); strings.Count(out[strings.Index(out, "\n"):], "shown") == 0 || !strings.Contains(out, "subagent") {
					t.Errorf("%s: after %v, this leaves:\n%s", reader.Policy, one, out)
				}
			}
		}
	}
	hidden := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{event.KindToolStarted}}
	if out := leaving(hidden, sent{"updates", `{"a":{"messages":[` + answer + `]}}`}); strings.Contains(out, "shown") {
		t.Errorf("an excluded call leaves:\n%s", out)
	}
}
