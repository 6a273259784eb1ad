package langgraph

import (
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
		results := []sent{{"updates", `{"tools":{"messages":[` + result + `]}}`}, {"values", `{"messages":[` + whole + `,` + result + `,{"type":"ai","id":"m3","content":"answer"}]}`}}
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

// TestPiecesOfInternalCall checks that the result of a call of an internal subagent does not leave if its arguments come in pieces.
func TestPiecesOfInternalCall(t *testing.T) {
	piece := func(args, more string) sent {
		return inTuple(`{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[{`+args+`,"index":0}]`+more+`}`, "")
	}
	checkStaysIn(t, []filter.Settings{client, public}, piece(`"name":"task","args":"","id":"c1"`, ""), piece(`"args":"{\"subagent_type\": \"inter","id":null`, ""), piece(`"args":"nal-critic\"}","id":null`, `,"chunk_position":"last"`),
		inTuple(`{"type":"tool","id":"m2","name":"task","tool_call_id":"c1","content":"secret"}`, ""))
}
