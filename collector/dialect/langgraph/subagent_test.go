package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestInternalSubagents checks that neither a call of an internal subagent nor its result leaves, and that everything beside them does.
func TestInternalSubagents(t *testing.T) {
	const (
		id     = "call_0123456789abcdef0123456789abcdef"
		args   = `{"description":"secret","subagent_type":"internal-critic"}`
		quoted = `"{\"description\": \"secret\", \"subagent_type\": \"internal-critic\"}"`
		other  = `{"name":"task","args":{"description":"draft","subagent_type":"writer"},"id":"c2","type":"tool_call"}`
		result = `{"type":"tool","id":"m2","name":"task","tool_call_id":"` + id + `","content":"secret"}`
	)
	message := func(more string) string { return `{"type":"ai","id":"m1","content":"let me ask"` + more + `}` }
	whole := message(`,"additional_kwargs":{"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"task","arguments":` + quoted + `}}]},"tool_calls":[{"name":"task","args":` + args + `,"id":"` + id + `","type":"tool_call"},` + other + `]`)
	for name, c := range map[string]struct {
		call   []sent
		leaves string
	}{
		"an update":  {[]sent{{"updates", `{"model":{"messages":[` + whole + `]}}`}}, "writer"},
		"a state":    {[]sent{{"values", `{"messages":[` + whole + `]}`}}, "writer"},
		"a message":  {[]sent{inTuple(whole, "")}, "let me ask"},
		"a block":    {[]sent{inTuple(`{"type":"ai","id":"m1","content":[{"type":"text","text":"let me ask"},{"type":"tool_use","id":"`+id+`","name":"task","input":`+args+`}]}`, "")}, "let me ask"},
		"a piece":    {[]sent{inTuple(strings.Replace(message(`,"tool_call_chunks":[{"name":"task","args":`+quoted+`,"id":"`+id+`","index":0}],"chunk_position":"last"`), `"ai"`, `"AIMessageChunk"`, 1), "")}, "let me ask"},
		"an invalid": {[]sent{{"updates", `{"model":{"messages":[` + message(`,"invalid_tool_calls":[{"name":"task","args":`+quoted+`,"id":"`+id+`"}]`) + `]}}`}}, "let me ask"},
		"a task":     {[]sent{{"tasks", `{"id":"t1","name":"tools","input":[{"name":"task","args":` + args + `,"id":"` + id + `","type":"tool_call"}],"triggers":[]}`}}, ""},
		"a question": {[]sent{{"values", `{"messages":[],"__interrupt__":[{"id":"1","value":{"action_requests":[{"name":"task","args":` + args + `}]}}]}`}}, ""},
		"an event":   {[]sent{{"events", `{"event":"on_tool_start","name":"task","run_id":"1","data":{"input":` + args + `},"metadata":{}}`}}, ""},
	} {
		results := []sent{{"updates", `{"tools":{"messages":[` + result + `]}}`}, {"values", `{"messages":[` + whole + `,` + result + `,{"type":"ai","id":"lc_run--3","content":"answer"}]}`}}
		if name == "a question" || name == "an event" {
			results = nil // they do not have the call's ID
		}
		for _, reader := range []filter.Settings{client, public} {
			stream := append(c.call, results...)
			checkStaysIn(t, []filter.Settings{reader}, stream...)
			out := leaving(reader, stream...)
			if isHidden := c.leaves == "writer" && reader.Policy == public.Policy; !isHidden && !strings.Contains(out, c.leaves) || results != nil && !strings.Contains(out, "answer") {
				t.Errorf("%s, %s: what is not internal does not leave: %s", name, reader.Policy, out)
			}
			if strings.Contains(out, "internal-critic") || strings.Contains(out, id) {
				t.Errorf("%s, %s: the call leaves: %s", name, reader.Policy, out)
			}
		}
	}
}

// pieces returns frames with one call. Each frame has one piece of the call's arguments.
func pieces(mode, id, metadata string, args ...string) (frames []sent) {
	for i, part := range args {
		more := `,"id":null`
		if i == 0 {
			more = `,"name":"task","id":"` + id + `"`
		}
		position := `null`
		if i == len(args)-1 {
			position = `"last"`
		}
		m := `{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[{"args":"` + part + `","index":0` + more + `}],"chunk_position":` + position + `}`
		if mode == modeEvents {
			frames = append(frames, sent{mode, `{"event":"on_chat_model_stream","name":"m","run_id":"r1","parent_ids":["r0"],"data":{"chunk":` + m + `},"metadata":` + metadata + `}`})
			continue
		}
		frames = append(frames, sent{mode, `[` + m + `,` + metadata + `]`})
	}
	return frames
}

// Arguments of a call of an internal subagent, in pieces. The name of the subagent is in two of them.
var dividedArgs = []string{"", `{\"subagent_type\": \"inter`, `nal-critic\"}`}

const atModel, atTools = `{"langgraph_node":"model","langgraph_checkpoint_ns":"model:1"}`, `{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:2"}`

// TestPiecesOfInternalCall checks that a call of an internal subagent ends for readers if its arguments come in pieces, because the first
// ones leave. Of its result, nothing else leaves.
func TestPiecesOfInternalCall(t *testing.T) {
	const result = `{"type":"tool","id":"m2","name":"task","tool_call_id":"c1","content":"secret","artifact":"secret","additional_kwargs":{"a":"secret"},"status":"success"}`
	tool := func(output string) sent {
		return sent{"events", `{"event":"on_tool_end","name":"task","run_id":"r3","tags":["secret"],"parent_ids":["r0","r2"],"data":{"input":{"description":"secret","subagent_type":"internal-critic"},"output":` + output + `},"metadata":` + atTools + `}`}
	}
	other := `{"type":"tool","id":"m3","name":"secret","tool_call_id":"c9","content":"secret"}`
	for _, c := range []struct {
		call   []sent
		result sent
	}{
		{pieces("messages", "c1", atModel, dividedArgs...), sent{"messages", `[` + result + `,` + atTools + `]`}},
		{pieces("messages", "c1", `{"langgraph_node":"model"}`, dividedArgs...), sent{"messages", `[` + result + `,{"langgraph_node":"tools"}]`}},
		{pieces("messages|tools:1", "c1", `{"langgraph_checkpoint_ns":"tools:1|model:1"}`, dividedArgs...), sent{"messages|tools:1", `[` + result + `,{"langgraph_checkpoint_ns":"tools:1|tools:2"}]`}},
		{pieces("events", "c1", atModel, dividedArgs...), tool(result)},
		{pieces("events", "c1", atModel, dividedArgs...), tool(`{"update":{"files":"secret","messages":[` + other + `,` + result + `]},"goto":"secret"}`)},
	} {
		for _, reader := range []filter.Settings{client, public} {
			stream := append(c.call, c.result, sent{"updates", `{"tools":{"messages":[` + result + `]}}`}, sent{"values", `{"messages":[` + result + `]}`})
			checkStaysIn(t, []filter.Settings{reader}, stream...)
			frames := strings.Split(leaving(reader, stream...), "\n")
			ends := slices.ContainsFunc(frames, func(frame string) bool {
				return strings.Contains(frame, `"tool_call_id":"c1"`) && strings.Contains(frame, `"type":"tool"`)
			})
			if leaves := c.result.name != "events" || reader.Policy == client.Policy; ends != leaves {
				t.Errorf("%s, %v: the call ends for readers: %v: %s", reader.Policy, c.result, ends, frames)
			}
			if out := strings.Join(frames, ""); strings.Contains(out, "goto") || strings.Contains(out, "tags") || strings.Contains(out, "c9") {
				t.Errorf("%s, %v: more than the end leaves: %s", reader.Policy, c.result, out)
			}
		}
	}
}

// TestWithinInternalCall checks that nothing leaves that works within a call of an internal subagent whose arguments come in pieces.
func TestWithinInternalCall(t *testing.T) {
	frames := pieces("messages", "c1", atModel, dividedArgs...)
	const inner = `{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:2|tools:3","lc_agent_name":"critic"}`
	result := func(more string) string {
		return `{"type":"tool","id":"m2","tool_call_id":"c1","content":"hello"` + more + `}`
	}
	called := `{"event":"on_chain_start","name":"internal_step","run_id":"r2","parent_ids":["r0"],"data":{},"metadata":` + atTools + `}`
	end := func(more string) string {
		return `{"event":"on_tool_end","name":"task","run_id":"r3","parent_ids":["r0","r2"],"data":{"output":` + result(more) + `},"metadata":`
	}
	for what, stream := range map[string][]sent{
		"an answer":                    append(frames[:3:3], sent{"messages|tools:2", `[{"type":"ai","id":"m5","content":"secret"},{"langgraph_node":"model","langgraph_checkpoint_ns":"tools:2|model:3","lc_agent_name":"critic"}]`}),
		"a call of the same ID":        append(frames[:3:3], sent{"messages|tools:2", `[` + result(`,"name":"task","status":"secret"`) + `,` + inner + `]`}),
		"a result of another tool":     append(frames[:3:3], sent{"messages", `[` + result(`,"name":"secret"`) + `,` + atTools + `]`}),
		"a result of an internal node": append(frames[:3:3], sent{"messages", `[` + result("") + `,{"langgraph_node":"internal_secret","langgraph_checkpoint_ns":"internal_secret:3"}]`}),
		"a call that never left":       append(pieces("messages", "c1", atModel, `{\"subagent_type\": \"internal-critic\"}`), sent{"messages", `[` + result(`,"name":"task"`) + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:2","run_id":"secret"}]`}),
		"an event in an internal run":  append(pieces("events", "c1", atModel, dividedArgs...), sent{"events", called}, sent{"events", end(`,"name":"task"`) + `{"langgraph_checkpoint_ns":"tools:2","run_id":"secret"}}`}),
		"an event of another tool":     append(pieces("events", "c1", atModel, dividedArgs...), sent{"events", strings.Replace(end(""), `"task"`, `"secret"`, 1) + atTools + `}`}),
	} {
		for _, reader := range []filter.Settings{client, public} {
			if out := leaving(reader, stream...); strings.Contains(out, "secret") || strings.Contains(out, `"type":"tool"`) {
				t.Errorf("%s, %s: this leaves: %s", what, reader.Policy, out)
			}
		}
	}
}

// TestBesideInternalCall runs a subagent beside an internal one. In events, the call of a tool has no ID when it begins, but its input names
// the subagent.
func TestBesideInternalCall(t *testing.T) {
	called := func(calls string) sent {
		return fromServer(`{"type":"ai","id":"m1","content":"","tool_calls":[`+calls+`]}`, "model")
	}
	internalCall := func(name string) sent { // only in a block, which starts no call
		return fromServer(`{"type":"ai","id":"mX","content":[{"type":"tool_call","name":"task","args":{`+name+`},"id":"cX"}]}`, "internal_x")
	}
	begins := func(agent string) []sent {
		const metadata = `{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:2"}`
		return []sent{
			{"events", `{"event":"on_tool_start","name":"task","run_id":"r3","parent_ids":["r0"],"data":{"input":{"description":"secret","subagent_type":"` + agent + `"}},"metadata":` + metadata + `}`},
			{"events", `{"event":"on_chain_stream","name":"model","run_id":"r4","parent_ids":["r0","r3"],"data":{"chunk":{"a":"secret"}},"metadata":{"langgraph_node":"model","langgraph_checkpoint_ns":"tools:2|model:3","lc_agent_name":"` + agent + `"}}`},
		}
	}
	const asked = `{"name":"task","args":{"subagent_type":"internal-critic"},"id":"c1","type":"tool_call"}`
	for _, c := range []struct {
		name   string
		calls  []sent
		agent  string
		leaves bool
	}{
		{"another subagent than the internal one", []sent{called(asked + `,` + callV)}, "writer", true},
		{"another subagent than the one of an internal agent", []sent{called(callV), internalCall(`"subagent_type":"expert"`)}, "writer", true},
		{"the subagent of an internal agent", []sent{called(callV), internalCall(`"subagent_type":"expert"`)}, "expert", false},
		{"the same subagent as of an internal agent", []sent{called(callV), internalCall(`"subagent_type":"writer"`)}, "writer", false},
		{"any subagent of an internal agent", []sent{called(callV), internalCall(``)}, "writer", false},
		{"a subagent that no call names", []sent{called(asked)}, "writer", false},
	} {
		stream := append(c.calls, begins(c.agent)...)
		if out := leaving(client, stream...); strings.Count(out, "secret") == 2 != c.leaves || !c.leaves && strings.Contains(out, "secret") {
			t.Errorf("%s: this leaves: %s", c.name, out)
		}
	}
}

// TestCallsOfInternalTools has a model call an internal tool. The arguments stay in, and the rest of the message leaves.
func TestCallsOfInternalTools(t *testing.T) {
	const call = `{"name":"internal_lookup","args":{"q":"secret"},"id":"c1","type":"tool_call"}`
	message := `{"type":"ai","id":"m1","content":"shown","tool_calls":[` + call + `]}`
	for _, one := range []sent{
		{"updates", `{"model":{"messages":[` + message + `]}}`}, {"values", `{"messages":[` + message + `]}`}, {"messages/complete", `[` + message + `]`},
		fromServer(message, "model"), fromServer(`{"type":"ai","id":"m1","content":["shown",{"type":"tool_use","name":"internal_lookup","id":"c1","input":{"q":"secret"}}]}`, "model"),
		fromServer(`{"type":"ai","id":"m1","content":"shown","additional_kwargs":{"tool_calls":[{"id":"c1","function":{"name":"internal_lookup","arguments":"secret"}}]}}`, "model"),
		fromServer(`{"type":"ai","id":"m1","content":"shown","additional_kwargs":{"function_call":{"name":"internal_lookup","arguments":"secret"}}}`, "model"),
		fromServer(`{"type":"ai","id":"m1","content":["shown",{"type":"mcp_call","name":"internal_lookup","server_label":"x","id":"c1","output":"secret"}]}`, "model"),
		fromServer(`{"type":"AIMessageChunk","id":"m1","content":["shown",{"type":"mcp_call","name":"internal_lookup","id":"c1","output":"secret"}]}`, "model"),
	} {
		for _, reader := range []filter.Settings{client, public} {
			if out := leaving(reader, one); strings.Contains(out, "secret") || strings.Contains(out, "c1") || !strings.Contains(out, "shown") {
				t.Errorf("%s: of %v this leaves: %s", reader.Policy, one, out)
			}
		}
	}
	checkStaysIn(t, []filter.Settings{client, public}, sent{"tasks", `{"id":"U","name":"tools","input":[` + call + `],"triggers":[]}`})
	piece := func(more string) sent {
		return fromServer(`{"type":"AIMessageChunk","id":"m1","content":""`+more+`}`, "model")
	}
	chunk := func(name, args, id string) string {
		return `{"name":` + name + `,"args":"` + args + `","id":` + id + `,"index":0,"type":"tool_call_chunk"}`
	}
	first := piece(`,"tool_call_chunks":[` + chunk(`"internal_lookup"`, "", `"c1"`) + `]`)
	inKwargs := func(call string) sent { return piece(`,"additional_kwargs":{` + call + `}`) }
	for _, arguments := range []string{"", `,"arguments":""`} {
		checkStaysIn(t, []filter.Settings{client, public}, inKwargs(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"internal_lookup"`+arguments+`}}]`), inKwargs(`"tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":"secret"}}]`))
	}
	checkStaysIn(t, []filter.Settings{client, public}, inKwargs(`"function_call":{"name":"internal_lookup","arguments":""}`), inKwargs(`"function_call":{"arguments":"secret"}`))
	if out := leaving(client, inKwargs(`"function_call":{"name":"lookup","arguments":""}`), inKwargs(`"function_call":{"arguments":"shown"}`)); !strings.Contains(out, "shown") {
		t.Errorf("a call in the old form does not leave: %s", out)
	}
	for _, next := range []string{
		`,"tool_call_chunks":[` + chunk("null", "secret", "null") + `]`, `,"invalid_tool_calls":[{"name":null,"args":"secret","id":null}]`,
		`,"additional_kwargs":{"tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":"secret"}}]}`,
	} {
		checkStaysIn(t, []filter.Settings{client, public}, first, piece(next), piece(next))
		other := piece(`,"tool_call_chunks":[` + chunk(`"search"`, "", `"c2"`) + `]`)
		if out := leaving(client, first, other, piece(next)); !strings.Contains(out, "secret") {
			t.Errorf("the next call does not leave: %s", out)
		}
	}
}

// TestWorkOfInternalCalls has a call of an internal subagent or tool without a result. Until it has one, what may be of it stays in.
func TestWorkOfInternalCalls(t *testing.T) {
	const result = `{"type":"tool","id":"t1","tool_call_id":"c1","name":"task","content":"done"}`
	asked := func(m string) sent { return sent{"values", `{"messages":[` + m + `]}`} }
	for name, c := range map[string]string{
		"subagent": `{"name":"task","args":{"subagent_type":"internal_x"},"id":"c1","type":"tool_call"}`, "tool": `{"name":"internal_x","args":{},"id":"c1","type":"tool_call"}`,
	} {
		message := `{"type":"ai","id":"m1","content":"","tool_calls":[` + c + `]}`
		next := `{"type":"human","id":"h2","content":"?"},` + ai(`"m2"`, "ok")
		for _, first := range []sent{fromServer(message, "model"), asked(message), {"updates", `{"model":{"messages":[` + message + `]}}`}} {
			for _, then := range []sent{asks, fails, writes, {"values", `{"messages":[` + message + `],"__interrupt__":[{"value":"secret","id":"i1"}]}`}} {
				checkStaysIn(t, []filter.Settings{client}, first, then)
				checkStaysIn(t, []filter.Settings{client}, first, asked(message), then)
				checkStaysIn(t, []filter.Settings{client}, sent{"metadata", `{"run_id":"r","attempt":1}`}, first, sent{"metadata", `{"run_id":"r","attempt":2}`}, then)
				for _, end := range []sent{{"updates", `{"tools":{"messages":[` + result + `]}}`}, asked(message + "," + result), asked(message + "," + next)} {
					out := leaving(client, first, end, sent{"custom", writes.data}, asks)
					if then.name != "values" && strings.Count(out, "secret") != 2 {
						t.Errorf("%s: after %v and %v, what is not of the call does not leave: %s", name, first, end, out)
					}
				}
			}
		}
		within := inTuple(message, `,"langgraph_checkpoint_ns":"team:U|model:V"`)
		for _, then := range []sent{{"custom|team:U", writes.data}, asks, {"tasks", `{"id":"U","name":"team","error":null,"result":{},"interrupts":[{"value":"secret","id":"i1"}]}`}} {
			checkStaysIn(t, []filter.Settings{client}, within, then)
		}
		if out := leaving(client, within, sent{"updates", `{"team":null}`}, writes); !strings.Contains(out, "secret") {
			t.Errorf("%s: after the graph of the call has ended, this does not leave: %s", name, out)
		}
	}

	// The answer of an internal node is a call, but no state shows that a tool executes it.
	structured := fromServer(`{"type":"ai","id":"m1","content":"","tool_calls":[{"name":"Route","args":{},"id":"c1","type":"tool_call"}]}`, "internal_x")
	if out := leaving(client, structured, sent{"updates", `{"internal_x":{"next":"a"}}`}, asks); !strings.Contains(out, "secret") {
		t.Errorf("after a structured output of an internal node, the question of another one does not leave: %s", out)
	}
	written := sent{"updates", `{"internal_x":{"messages":[{"type":"ai","id":"m1","content":"","tool_calls":[{"name":"f","args":{},"id":"c1","type":"tool_call"}]}]}}`}
	checkStaysIn(t, []filter.Settings{client}, written, asks)
}
