package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestContinuations has frames that continue a withheld message, call or task by its ID.
func TestContinuations(t *testing.T) {
	const (
		call   = `{"name":"search","args":{"q":"secret"},"id":"c1","type":"tool_call"}`
		result = `{"type":"tool","id":"t1","name":"search","tool_call_id":"c1","content":"secret"}`
		marked = `{"type":"internal:plan","id":"m1","content":"","tool_calls":[{"name":"search","args":{},"id":"c1"}]}`
		piece  = `{"type":"AIMessageChunk","id":"m1","content":"secret"}`
		calls  = `"tool_call_chunks":[{"name":"search","args":"","id":"c1","index":0}]`
	)
	own := `{"type":"ai","id":"m1","content":"secret","tool_calls":[` + call + `]}`
	task := func(more string) string { return `{"id":"k1","name":"plan",` + more + `}` }
	ended := task(`"error":null,"result":{"messages":[` + said("") + `]},"interrupts":[]`)
	message := []sent{
		inTuple(piece, ""), {"messages/partial", `[` + own + `]`}, {"messages/complete", `[` + own + `]`}, {"updates", `{"a":{"messages":[` + own + `]}}`}, {"values", `{"messages":[` + own + `]}`},
		{"values|a:1", own}, {"checkpoints", `{"values":{"messages":[` + own + `]},"next":[]}`}, {"tasks", `{"id":"2","name":"a","input":{"messages":[` + own + `]},"triggers":[]}`},
		{"values", `{"messages":[{"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"id":"m1","content":"secret"}}]}`}, ofEvents("on_chat_model_stream", "a", `{"chunk":`+piece+`}`, ""),
	}
	ofCall := []sent{
		inTuple(result, ""), {"updates", `{"tools":{"messages":[` + result + `]}}`}, {"values", `{"messages":[` + result + `]}`}, {"messages/complete", `[` + result + `]`},
		ofEvents("on_tool_end", "search", `{"output":`+result+`,"input":{}}`, ""), ofEvents("on_tool_error", "search", `{"error":"secret","tool_call_id":"c1"}`, ""),
		ofEvents("on_tool_start", "search", `{"input":{"q":"secret","runtime":{"tool_call_id":"c1"}}}`, ""), {"tasks", `{"id":"2","name":"tools","input":[` + call + `],"triggers":[]}`},
		{"debug", `{"type":"task","payload":{"id":"2","name":"tools","input":{"__type":"tool_call_with_context","tool_call":` + call + `}}}`},
		{"debug", `{"type":"task_result","payload":{"id":"2","name":"tools","result":{"messages":[` + result + `]},"interrupts":[]}}`},
	}
	ofTask := []sent{{"tasks", ended}, {"debug", `{"type":"task_result","payload":` + ended + `}`}, {"checkpoints", `{"values":{},"tasks":[` + ended + `]}`}}
	for _, first := range []sent{
		{"values", `{"messages":[` + marked + `]}`}, {"values", `{"messages":[{"type":"chat","role":"internal","id":"m1","content":"","additional_kwargs":{"tool_calls":[{"id":"c1","function":{"name":"search"}}]}}]}`}, {"updates", `{"a":{"messages":[` + marked + `]}}`}, {"messages/partial", `[` + marked + `]`}, inTuple(marked, ""),
		inTuple(`{"type":"AIMessageChunk","id":"m1","content":"","kind":"internal:x",`+calls+`}`, ""), inTuple(`{"type":"AIMessageChunk","id":"m1","content":"",`+calls+`}`, `,"kind":"internal:x"`),
		{"internal:messages", `[{"type":"AIMessageChunk","id":"m1","content":"",` + calls + `},{}]`}, {"events", `{"event":"on_chat_model_end","data":{"output":` + own + `},"metadata":{"type":"internal"}}`},
	} {
		for _, next := range append(message, ofCall...) {
			checkStaysIn(t, []filter.Settings{client, public}, first, next)
		}
		checkStaysIn(t, []filter.Settings{client, public}, first, sent{"values", `{"messages":[` + result + `]}`}, sent{"values", `{"messages":[` + strings.Replace(result, `"c1"`, `"c9"`, 1) + `]}`})
	}
	for _, next := range message {
		checkStaysIn(t, []filter.Settings{client, public}, sent{"messages/metadata", `{"m1":{"metadata":{"kind":"internal:x"}}}`}, next)
	}
	for _, start := range []sent{
		{"tasks", task(`"input":{},"triggers":[],"metadata":{"kind":"internal:x"}`)}, {"debug", `{"type":"task","payload":` + task(`"input":{},"triggers":[],"metadata":{"kind":"internal:x"}`) + `}`},
		{"debug", `{"type":"internal:task","payload":` + task(`"input":{}`) + `}`},
	} {
		for _, next := range ofTask {
			checkStaysIn(t, []filter.Settings{client, public}, start, next)
		}
		checkStaysIn(t, []filter.Settings{client, public}, start, ofTask[0], sent{"values", `{"messages":[` + said("") + `]}`})
	}
}

// TestWithheldWithin has internal frames that hold messages, in the forms of all modes, and what works within withheld tasks.
func TestWithheldWithin(t *testing.T) {
	readers := []filter.Settings{client, public}
	saved := `{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"id":"m1","content":"secret"}}`
	own := said(`,"tool_calls":[{"name":"search","args":{"q":"secret"},"id":"c1","type":"tool_call"}]`)
	later := []sent{
		{"values", `{"messages":[` + said("") + `]}`}, {"messages/partial", `[` + said("") + `]`}, ofEvents("on_chain_end", "g", `{"output":{"messages":[`+said("")+`]}}`, ""),
		ofEvents("on_chain_start", "a", `{"input":{"messages":[`+saved+`]}}`, ""), {"values", `{"messages":[{"type":"tool","id":"t1","tool_call_id":"c1","content":"secret"}]}`},
	}
	marked := func(kind, data string) sent {
		return sent{"events", `{"event":"` + kind + `","name":"a","data":` + data + `,"metadata":{"kind":"internal:x"}}`}
	}
	for _, first := range []sent{
		marked("on_chain_stream", `{"chunk":{"messages":[`+own+`]}}`), marked("on_chain_end", `{"output":[{"goto":[],"update":{"messages":[`+own+`]}}],"input":{}}`), marked("on_chat_model_end", `{"output":`+own+`}`),
		{"internal:messages/partial", `[` + own + `]`}, {"Internal:values", `{"messages":[` + own + `]}`}, {"internal.updates", `{"a":{"messages":[` + own + `]}}`}, {"internal", `[` + own + `]`}, {"internal:x", own},
	} {
		for _, next := range later {
			checkStaysIn(t, readers, first, next)
		}
	}
	checkStaysIn(t, readers, marked("on_chat_model_end", `{"output":`+saved+`}`), later[0])
	task := sent{"tasks", `{"id":"k1","name":"n","input":{},"triggers":[],"metadata":{"kind":"internal:x"}}`}
	for _, within := range []sent{
		{"updates|n:k1", `{"model":{"messages":[` + own + `]}}`}, {"values|n:k1|1", `{"x":"secret","messages":[` + own + `]}`}, {"custom|n:k1|b:2", `"secret"`}, {"tasks|n:k1", `{"id":"k2","name":"b","result":{"messages":[` + own + `]},"interrupts":[]}`},
		{"messages", `[` + own + `,{"langgraph_checkpoint_ns":"n:k1|b:2"}]`}, {"messages/metadata", `{"m1":{"metadata":{"langgraph_node":"secret","checkpoint_ns":"n:k1"}}}`}, {"events", `{"event":"on_chain_end","name":"b","data":{"output":` + own + `},"metadata":{"langgraph_checkpoint_ns":"n:k1|b:2"}}`},
	} {
		checkStaysIn(t, readers, task, within)
		if !strings.HasPrefix(within.name, "custom") {
			checkStaysIn(t, readers, task, within, later[0])
		}
	}
}

// TestWithheldOfRun has other streams of a run continue what one has withheld.
func TestWithheldOfRun(t *testing.T) {
	first := []sent{{"metadata", begin}, {"messages/metadata", `{"m1":{"metadata":{"kind":"internal:x"}}}`}}
	next := []sent{{"messages/partial", `[` + said("") + `]`}, {"values", `{"messages":[` + said("") + `]}`}}
	for name, c := range map[string]struct {
		second event.Identity
		start  string
		stays  bool
	}{
		"a stream that joins it":           {inThread(strings.ToLower(threadID), strings.ReplaceAll(joinedID, "-", "")), "", true},
		"the stream of the thread":         {event.Identity{Session: threadID, JoinedSession: threadID}, "", true},
		"the stream of the thread, at run": {event.Identity{Session: threadID, JoinedSession: threadID}, begin, true},
		"another run":                      {inThread(threadID, ""), nextRun, false},
		"another thread":                   {inThread("other", joinedID), "", false},
	} {
		for _, reader := range []filter.Settings{client, public} {
			var again []sent
			if c.start != "" {
				again = append(again, sent{"metadata", c.start})
			}
			states := new(event.States)
			leavingOf(reader, &event.Stream{States: states, Identity: inThread(threadID, "")}, first...)
			if out := leavingOf(reader, &event.Stream{States: states, Identity: c.second}, append(again, next...)...); strings.Contains(out, "secret") == c.stays {
				t.Errorf("%s, %s: this leaves:\n%s", name, reader.Policy, out)
			}
		}
	}
	states := new(event.States) // both streams are open
	one, other := &event.Stream{States: states, Identity: inThread(threadID, "")}, &event.Stream{States: states, Identity: inThread(threadID, joinedID)}
	d, joined := (Dialect{}).New(one), (Dialect{}).New(other)
	leavingFrom(d, client, one, first[0])
	leavingFrom(joined, client, other, first[0])
	leavingFrom(d, client, one, first[1])
	if out := leavingFrom(joined, client, other, next...); strings.Contains(out, "secret") {
		t.Errorf("what another open stream has withheld leaves:\n%s", out)
	}
}

// TestForgottenThread has other threads replace one while a stream of it is open. The stream keeps what it has withheld, for those that join
// its run after it.
func TestForgottenThread(t *testing.T) {
	mark := func(id string) sent {
		return sent{"messages/metadata", `{"` + id + `":{"metadata":{"kind":"internal:x"}}}`}
	}
	joins := []sent{{"metadata", begin}, {"messages/partial", `[` + said("") + `]`}}
	for name, c := range map[string]struct{ further, beside []sent }{
		"until it ends":                      {nil, nil},
		"another stream joins":               {nil, []sent{{"metadata", begin}}},
		"it withholds more":                  {[]sent{mark("m2")}, nil},
		"another stream withholds meanwhile": {nil, []sent{{"metadata", begin}, mark("m3")}},
	} {
		states := new(event.States)
		first := &event.Stream{States: states, Identity: inThread(threadID, "")}
		other := &event.Stream{States: states, Identity: inThread(threadID, joinedID)}
		d, beside := (Dialect{}).New(first), (Dialect{}).New(other)
		leavingFrom(d, client, first, sent{"metadata", begin}, mark("m1"))
		for i := range event.MaxStates {
			leavingOf(client, &event.Stream{States: states, Identity: inThread(fmt.Sprint("t", i), "")}, sent{"metadata", begin})
		}
		leavingFrom(beside, client, other, c.beside...)
		if leavingFrom(d, client, first, c.further...); len(c.further) == 0 {
			d.(*decoder).Close()
		}
		if out := leavingOf(client, &event.Stream{States: states, Identity: inThread(threadID, joinedID)}, joins...); strings.Contains(out, "secret") {
			t.Errorf("%s: this leaves:\n%s", name, out)
		}
		if len(c.beside) > 0 {
			if out := leavingFrom(beside, client, other, sent{"messages/partial", `[` + strings.Replace(said(""), "m1", "m2", 1) + `]`}); !strings.Contains(out, "secret") {
				t.Errorf("%s: an ordinary message does not leave", name)
			}
		}
	}
}

// TestWithheldBeforeRun has the stream of a thread withhold a message before it names its run. The message is not of the last run.
func TestWithheldBeforeRun(t *testing.T) {
	states := new(event.States)
	leavingOf(client, &event.Stream{States: states, Identity: inThread(threadID, "")}, sent{"metadata", begin})
	ofThread := event.Identity{Session: threadID, JoinedSession: threadID}
	leavingOf(client, &event.Stream{States: states, Identity: ofThread}, sent{"messages/metadata", `{"m1":{"metadata":{"kind":"internal:x"}}}`}, sent{"metadata", nextRun})
	for run, stays := range map[string]bool{begin: false, nextRun: true} {
		out := leavingOf(client, &event.Stream{States: states, Identity: ofThread}, sent{"metadata", run}, sent{"messages/partial", `[` + said("") + `]`})
		if strings.Contains(out, "secret") == stays {
			t.Errorf("at %s this leaves:\n%s", run, out)
		}
	}
}

// TestNotContinued has frames with IDs of withheld items that do not continue these.
func TestNotContinued(t *testing.T) {
	marked := sent{"values", `{"messages":[{"type":"internal:plan","id":"m1","content":"","tool_calls":[{"name":"search","args":{},"id":"functions.search:0"}]}]}`}
	again := `{"type":"ai","id":"m2","content":"","tool_calls":[{"name":"search","args":{},"id":"functions.search:0"}]}`
	result := `{"type":"tool","id":"t2","name":"search","tool_call_id":"functions.search:0","content":"shown"}`
	marksAll := sent{"tasks", `{"id":"k1","name":"plan","input":{"messages":[` + userAsks + `]},"triggers":[],"metadata":{"kind":"internal"}}`}
	for _, stream := range [][]sent{
		{marked, {"values", `{"messages":[` + again + `,` + result + `]}`}}, // another call with the same number
		{marked, {"updates", `{"a":{"messages":[],"chosen":{"id":"m1","x":"shown"}}}`}},
		{marked, {"updates", `{"a":{"messages":[{"type":"tool","id":"t3","tool_call_id":"c3","content":[{"id":"m1","content":"shown"}]}]}}`}},
		{{"custom", `{"type":"internal:x","id":"m3"}`}, inTuple(`{"type":"ai","id":"m3","content":"shown"}`, "")},
		{marksAll, {"tasks", `{"id":"k1","name":"plan","result":{"messages":[` + userAsks + `]},"interrupts":[]}`}, {"values", `{"messages":[` + strings.Replace(userAsks, "question", "shown", 1) + `]}`}},
		{{"events", `{"event":"on_chain_start","name":"n","data":{"input":{"messages":[` + userAsks + `]}},"metadata":{"kind":"internal"}}`}, {"events", `{"event":"on_chain_stream","name":"n","data":{"chunk":{"messages":[` + userAsks + `]}},"metadata":{"kind":"internal"}}`}, {"values", `{"messages":[` + strings.Replace(userAsks, "question", "shown", 1) + `]}`}},
		{marksAll, {"values|plan:k2", `{"messages":[],"x":"shown"}`}}, {marksAll, {"values", `{"messages":[],"x":"shown"}`}},
	} {
		for _, s := range []*event.Stream{{}, {States: new(event.States), Identity: inThread(threadID, "")}} {
			if out := leavingOf(client, s, append([]sent{{"metadata", begin}}, stream...)...); !strings.Contains(out, "shown") {
				t.Errorf("of %v this leaves:\n%s", stream, out)
			}
		}
	}
}

// TestManyWithheld withholds more messages than are remembered. After that, only what has no ID leaves.
func TestManyWithheld(t *testing.T) {
	var stream []sent
	for i := range wire.MaxSet {
		stream = append(stream, sent{"messages", fmt.Sprintf(`[{"type":"internal:x","id":"w%d","content":""},{}]`, i)})
	}
	shown := sent{"updates", `{"a":{"messages":[{"type":"ai","content":"shown"}]}}`}
	last, secret := sent{"messages", `[{"type":"AIMessageChunk","id":"m1","content":"","kind":"internal:x"},{}]`}, inTuple(`{"type":"AIMessageChunk","id":"m1","content":"secret"}`, "")
	checkStaysIn(t, []filter.Settings{client, public}, append(stream, last, secret)...)
	if out := leaving(client, append(stream, last, shown)...); !strings.Contains(out, "shown") {
		t.Errorf("after many withheld messages this leaves:\n%s", out)
	}
	if out := leaving(client, append(stream[1:], inTuple(said(""), ""))...); !strings.Contains(out, "secret") {
		t.Errorf("a message leaves no more, although all that were withheld are remembered:\n%s", out)
	}
}
