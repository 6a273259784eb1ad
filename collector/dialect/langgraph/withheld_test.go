package langgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

var (
	client          = filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
	withoutThoughts = filter.Settings{Policy: event.PolicyClient}
	public          = filter.Settings{Policy: event.PolicyPublic}
)

// sent is a frame of the server.
type sent struct{ name, data string }

// leaving returns what leaves of a stream.
func leaving(reader filter.Settings, stream ...sent) string {
	return leavingOf(reader, &event.Stream{}, append([]sent{{"metadata", started}}, stream...)...)
}

// leavingOf is leaving for a stream that the caller describes, without the start of a run.
func leavingOf(reader filter.Settings, s *event.Stream, stream ...sent) string {
	d, f, b := (Dialect{}).New(s), filter.New(reader), new(event.Batch)
	var out strings.Builder
	for _, one := range stream {
		b.Begin(s, frameOf(one.name, one.data).Frame, time.Time{})
		b.Parse(200)
		b.Table = (Dialect{}).Table()
		d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
		if frame, why := f.Apply(b); why == filter.Passed {
			fmt.Fprintf(&out, "%s %s\n", frame.Name, frame.Data)
		}
	}
	d.(*decoder).Close()
	return out.String()
}

func checkStaysIn(t *testing.T, readers []filter.Settings, stream ...sent) {
	t.Helper()
	for _, reader := range readers {
		if out := leaving(reader, stream...); strings.Contains(out, "secret") {
			t.Errorf("%s, thoughts %d: of %v this leaves:\n%s", reader.Policy, reader.Thoughts, stream, out)
		}
	}
}

// said is a message of a model with a secret, and with more members.
func said(more string) string { return `{"type":"ai","id":"m1","content":"secret"` + more + `}` }

// inTuple is a frame of the mode messages-tuple.
func inTuple(message, metadata string) sent {
	return sent{"messages", `[` + message + `,{"langgraph_node":"model"` + metadata + `}]`}
}

// TestMarksElsewhere marks a message as a thought before or beside its text. No later frame repeats the mark.
func TestMarksElsewhere(t *testing.T) {
	announced := func(id, more string) sent {
		return sent{"messages/metadata", `{"` + id + `":{"metadata":{"langgraph_node":"model"` + more + `}}}`}
	}
	const thought, finish = `,"thought":true`, `,"response_metadata":{"finish_reason":"stop"}`
	first, partial, repeated := sent{"values", `{"messages":[]}`}, sent{"messages/partial", `[` + said(finish) + `]`}, sent{"values", `{"messages":[` + said("") + `]}`}
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, first, inTuple(`{"type":"AIMessageChunk","id":"m1","content":"a"`+thought+`}`, ""), repeated)
	piece := func(id, more string) sent {
		return sent{"messages", `[{"type":"AIMessageChunk","id":"` + id + `","content":""` + more + `},{"langgraph_step":1,"langgraph_checkpoint_ns":"model:t1"}]`}
	}
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, first, piece("m1", ""), piece("lc_run--1", thought), repeated)
	for _, mark := range []string{thought, `,"lc_source":"summarization"`, `,"lc_internal_call":"TOKEN"`} {
		many := []sent{announced("m1", mark)}
		for i := range maxOpen {
			many = append(many, announced(fmt.Sprint(i), ""))
		}
		for _, stream := range [][]sent{
			append(many, partial),
			{announced("m1", mark), first, partial, repeated},
			{first, inTuple(said(""), mark), repeated},
			{inTuple(`{"type":"AIMessageChunk","id":"m1","content":"secret"}`, mark)},
		} {
			checkStaysIn(t, []filter.Settings{public, withoutThoughts}, stream...)
		}
		if got := facts(nil, frame("messages", `[`+said("")+`,{"langgraph_node":"model"`+mark+`}]`)); !slices.Contains(got, `thought "secret"`) {
			t.Errorf("with %s a message states %q", mark, got)
		}
	}
}

// TestInternalNames names an internal node, agent or message wherever the protocol has a name.
func TestInternalNames(t *testing.T) {
	for _, stream := range [][]sent{
		{{"updates", `{"a":{"messages":[` + said(`,"name":"internal:x"`) + `]}}`}},
		{{"values", `{"messages":[` + said(`,"name":"Internal-x"`) + `]}`}},
		{{"values", `{"messages":[],"history":[` + said(`,"name":"internal"`) + `]}`}},
		{{"values", `[` + said(`,"name":"internal"`) + `]`}},
		{inTuple(said(""), `,"checkpoint_ns":"a:1|internal:1"`)},
		{inTuple(said(""), `,"langgraph_path":["__pregel_pull","internal:x"]`)},
		{{"messages/metadata", `{"m1":{"metadata":{"langgraph_node":"internal:x"}}}`}, {"messages/partial", `[` + said("") + `]`}},
		{{"messages/metadata", `{"m1":{"metadata":{"lc_agent_name":"internal:x"}}}`}, {"messages/complete", `[` + said("") + `]`}},
		{inTuple(said(""), `,"lc_agent_name":"internal:x"`), {"updates", `{"a":{"messages":[` + said("") + `]}}`}},
		{inTuple(said(""), `,"lc_agent_name":"internal:x"`), {"values", `{"messages":[` + said("") + `]}`}},
		{inTuple(`{"type":"ai","id":"m2","content":"","tool_calls":[{"id":"c1","name":"f"}]}`, `,"lc_agent_name":"internal:x"`), {"values", `{"messages":[{"type":"tool","id":"m3","tool_call_id":"c1","content":"secret"}]}`}},
		{{"updates", `{"__interrupt__":[{"value":"secret","id":"1","ns":["internal:1"]}]}`}},
		{{"values", `{"messages":[],"__interrupt__":[{"value":"secret","id":"1","ns":["a:1","internal:1"]}]}`}},
		{{"events", `{"event":"on_chat_model_stream","name":"m","data":{"chunk":` + said(`,"name":"internal:x"`) + `},"metadata":{}}`}},
		{{"checkpoints", `{"values":{},"tasks":[{"id":"1","name":"internal:x","state":"secret"}]}`}},
		{{"checkpoints", `{"values":{},"tasks":[{"id":"1","name":["internal:x"],"state":"secret"}]}`}},
		{{"tasks", `{"id":"1","Name":"internal:x","input":"secret","triggers":[]}`}, {"tasks", `{"id":"1","name":"x","result":"secret","interrupts":[]}`}},
		{{"events", `{"event":"on_chain_end","name":{"a":"internal:x"},"run_id":"1","data":{"output":"secret"},"metadata":{}}`}},
		{inTuple(said(""), `,"lc_agent_name":{"name":"internal:x"}`)},
		{inTuple(said(""), `,"checkpoint_ns":{"internal:x":1}`)},
		{{"checkpoints", `{"values":{},"metadata":{"writes":{"internal:x":"secret"}},"tasks":[]}`}},
		{{"debug", `{"type":"checkpoint","payload":{"metadata":{"writes":{"internal:x":"secret"}}}}`}},
		{{"custom", `{"type":"internal:x","x":"secret"}`}},
		{{"custom", `[{"kind":"internal:x","x":"secret"}]`}},
		{{"state_update", `{"internal:x":"secret"}`}},
		{{"error", `{"error":"ValueError","message":"secret","kind":"internal"}`}},
		{{"error", `{"error":"ValueError","message":"secret","Type":"Internal:x"}`}},
		{{"messages|internal:1", `[` + said("") + `,{}]`}, {"values", `{"messages":[` + said("") + `]}`}},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
}

// TestInstructions sends messages that instruct a model in places where the protocol has none.
func TestInstructions(t *testing.T) {
	system := strings.Replace(said(""), `"ai"`, `"system"`, 1)
	for _, stream := range [][]sent{
		{{"values", `{"messages":[],"history":[` + system + `]}`}},
		{{"values", `{"messages":[],"a":{"b":` + system + `}}`}},
		{{"values", `{"messages":[],"__interrupt__":[{"id":"1","value":{"m":` + system + `}}]}`}},
		{{"values", `[` + system + `]`}},
		{{"values", system}},
		{{"values|n:1", `{"role":"developer","content":"secret"}`}},
		{{"values", `{"role":"system","parts":[{"text":"secret"}]}`}},
		{{"updates", `{"a":{"messages":[` + strings.Replace(system, `"system"`, `["system"]`, 1) + `]}}`}},
		{{"updates", `{"a":{"messages":[` + strings.Replace(system, "system", "DeveloperMessage", 1) + `]}}`}},
		{inTuple(strings.Replace(system, "secret", "", 1), ""), {"values", `{"messages":[` + said("") + `]}`}},
		{inTuple(`{"type":"SystemMessageChunk","id":"m1","content":""}`, ""), inTuple(`{"type":"AIMessageChunk","id":"m1","content":"secret"}`, "")},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
}

// TestThoughtsAnywhere sends thoughts in every form that is known.
func TestThoughtsAnywhere(t *testing.T) {
	detailed := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	block := func(b string) string { return `{"type":"ai","id":"m1","content":` + b + `}` }
	thinking := `[{"type":"thinking","thinking":"secret"},{"type":"text","text":"Hi"}]`
	marked := []sent{
		inTuple(block(`[{"type":"text","text":"secret","thought":true}]`), ""),
		inTuple(said(`,"thought":true`), ""),
		inTuple(said(""), `,"thought":true`),
		inTuple(said(`,"additional_kwargs":{"thought":true}`), ""),
		{"messages/complete", `[` + said(`,"thought":true`) + `]`},
		{"updates", `{"a":{"messages":[` + said(`,"thought":true`) + `]}}`},
	}
	for _, kind := range []string{"thinking", "reasoning", "reasoning_content", "redacted_thinking", "Thinking", "thinking_delta", "reasoning_text", "thought", "analysis"} {
		content := block(`[{"type":"` + kind + `","text":"secret"}]`)
		marked = append(marked, inTuple(content, ""), sent{"updates", `{"a":{"messages":[` + content + `]}}`}, sent{"values", `{"messages":[` + content + `]}`},
			inTuple(block(`{"type":"`+kind+`","text":"secret"}`), ""), sent{"messages/complete", `[` + content + `]`})
	}
	for _, nested := range []string{`{"type":"text","text":"secret","extras":{"thought":true}}`, `{"text":"secret","extras":{"thought":true}}`, `{"Type":"thinking","text":"secret"}`} {
		one := inTuple(block(`[`+nested+`]`), "")
		marked = append(marked, one)
		checkStaysIn(t, []filter.Settings{detailed}, one) // its text would look like an answer
	}
	for _, one := range append(marked,
		inTuple(block(`[{"type":"reasoning_content","reasoning_content":{"text":"secret"}}]`), ""),
		inTuple(block(`[{"type":"redacted_thinking","data":"secret"}]`), ""),
		inTuple(block(`{"type":"thinking","thinking":"secret"}`), ""),
		inTuple(block(`[{"type":"Thinking","Thinking":"secret"}]`), ""),
		inTuple(`{"type":"ai","id":"m1","content":"x","additional_kwargs":{"reasoning":{"summary":[{"text":"secret"}]}}}`, ""),
		sent{"updates", `{"a":{"messages":[{"type":"tool","id":"m1","tool_call_id":"c","content":` + thinking + `}]}}`},
		sent{"updates", `{"a":{"messages":[{"type":"ai","id":"m1","content":"x","content_blocks":` + thinking + `}]}}`},
		sent{"updates", `{"a":{"history":[` + block(thinking) + `]}}`},
		sent{"values", `{"messages":[],"history":[` + block(thinking) + `]}`},
		sent{"values", `{"messages":[` + block(thinking) + `]}`},
		sent{"updates", `{"__interrupt__":[{"id":"1","value":{"m":` + block(thinking) + `}}]}`},
	) {
		checkStaysIn(t, []filter.Settings{withoutThoughts, public}, one)
		if out := leaving(client, one); !strings.Contains(out, "secret") {
			t.Errorf("the client does not get %v", one)
		}
	}
	for _, kind := range []string{"thinking", "reasoning"} {
		one := inTuple(block(`[{"type":"`+kind+`","text":"secret"}]`), "")
		if out := leaving(detailed, one); !strings.Contains(out, `{"type":"`+kind+`","text":"secret"}`) {
			t.Errorf("of the public thought %v this leaves: %s", one, out)
		}
	}
	checkStaysIn(t, []filter.Settings{withoutThoughts, public},
		inTuple(`{"type":"AIMessageChunk","id":"m1","content":"","thought":true}`, ""), inTuple(`{"type":"AIMessageChunk","id":"m1","content":"secret"}`, ""))
}

// TestNeighborsLeave checks that what stands beside something withheld leaves.
func TestNeighborsLeave(t *testing.T) {
	system := `{"type":"system","id":"s","content":"secret"}`
	answer := `{"type":"ai","id":"m2","content":"answer"}`
	out := leaving(client, sent{"values", `{"messages":[` + system + `,` + answer + `],"history":[` + system + `],"internal_notes":"shown","name":"Internal Revenue"}`})
	if !strings.Contains(out, `values {"messages":[`+answer+`],"internal_notes":"shown","name":"Internal Revenue"}`) {
		t.Errorf("of a state this leaves: %s", out)
	}
	out = leaving(public, sent{"values", `{"messages":[]}`}, sent{"values", `{"messages":[` + said(`,"name":"internal:x"`) + `,` + answer + `]}`})
	if !strings.Contains(out, `{"messages":[`+answer+`]}`) {
		t.Errorf("of a state this leaves to the public: %s", out)
	}
	// A model of an internal node got a message that has left before.
	out = leaving(client, sent{"updates", `{"a":{"messages":[` + answer + `]}}`}, sent{"updates", `{"internal:x":{"messages":[` + answer + `]}}`}, sent{"values", `{"messages":[` + answer + `]}`})
	if !strings.Contains(out, `values {"messages":[`+answer+`]}`) {
		t.Errorf("a message that has left before does not leave again: %s", out)
	}
}

// TestRemovals has a public node remove what an internal node wrote. The node's own answer leaves, now and in later states.
func TestRemovals(t *testing.T) {
	internal := sent{"updates", `{"internal:x":{"messages":[` + said("") + `]}}`}
	answered := func(removed string) []sent {
		messages := removed + `,{"type":"ai","id":"m2","content":"answer"}]`
		return []sent{internal, {"updates", `{"a":{"messages":[` + messages + `}}`}, {"values", `{"messages":[{"type":"ai","id":"m2","content":"answer"}]}`}}
	}
	const removal = `{"type":"remove","id":"m1","content":""}`
	for _, reader := range []filter.Settings{client, public} {
		if out := leaving(reader, answered(removal)...); strings.Count(out, "answer") != 2 || strings.Contains(out, "m1") {
			t.Errorf("%s: beside a removal this leaves:\n%s", reader.Policy, out)
		}
	}
	const returned = `{"messages":[` + removal + `,{"type":"ai","id":"m2","content":"answer"}]}`
	for _, one := range []sent{
		{"tasks", `{"id":"t2","name":"a","result":` + returned + `,"error":null,"interrupts":[]}`},
		ofEvents("on_chain_end", "a", `{"output":`+returned+`}`, `,"run_id":"r1","parent_ids":["r0"]`),
	} {
		if out := leaving(client, internal, one, sent{"values", `{"messages":[{"type":"ai","id":"m2","content":"answer"}]}`}); !strings.Contains(out, "answer") {
			t.Errorf("after %v the answer does not leave: %s", one, out)
		}
	}
	checkStaysIn(t, []filter.Settings{client, public}, answered(`{"type":"remove","id":"m1","content":"secret"}`)...)
	checkStaysIn(t, []filter.Settings{client, public}, answered(`{"type":"remove","id":"m1","content":"","name":"internal:x"},`+said(""))...)
}

// TestManyWithheld withholds more messages than are remembered: then no message leaves.
func TestManyWithheld(t *testing.T) {
	d := &decoder{}
	for i := range 2 * wire.MaxSet {
		d.withheld.Add(fmt.Sprint(i))
	}
	if found := d.examine(frameOf("values", `{"id":"another","content":""}`).JSON, elsewhere, 0); !d.withheld.IsFull() || !found.internal {
		t.Errorf("more than %d were withheld, and another may leave: %v", wire.MaxSet, !found.internal)
	}
}

// TestSavedInstructions sends instructions in the forms in which LangChain saves messages, in every mode.
func TestSavedInstructions(t *testing.T) {
	for _, message := range []string{
		`{"lc":1,"type":"constructor","id":["langchain_core","messages","SystemMessage"],"kwargs":{"content":"secret"}}`,
		`{"lc":1,"type":"constructor","id":["langchain","schema","messages","SystemMessageChunk"],"kwargs":{"content":"secret"}}`,
		`{"type":"system","data":{"content":"secret"}}`,
		`{"role":"system","parts":[{"type":"text","text":"secret"}]}`, `{"role":"system","text":"secret"}`, `{"role":"system","blocks":[{"block_type":"text","text":"secret"}]}`,
		`{"type":"system","parts":["secret"]}`, `{"Type":"SystemMessage","text":"secret"}`, `{"type":"developer","blocks":["secret"]}`, `{"role":["system"],"content":"secret"}`,
		`{"author":{"role":"system"},"content":{"parts":["secret"]}}`, `["system","secret",{}]`, `["developer",["secret"],{"name":"x"}]`,
	} {
		for _, stream := range []sent{
			{"events", `{"event":"on_chat_model_start","data":{"input":{"messages":[[` + message + `]]}},"run_id":"r","name":"n","tags":[],"metadata":{},"parent_ids":[]}`},
			{"values", `{"messages":[` + message + `]}`}, {"values", `{"history":[` + message + `],"messages":[]}`},
			{"updates", `{"model":{"messages":[` + message + `]}}`}, inTuple(message, ""),
			{"tasks", `{"id":"x","name":"model","input":{"messages":[` + message + `]},"triggers":[]}`}, {"custom", `{"prompt":` + message + `}`},
			{"checkpoints", `{"values":{"messages":[` + message + `]},"metadata":{},"next":[],"tasks":[]}`},
		} {
			checkStaysIn(t, []filter.Settings{client, public}, stream)
		}
	}
	answer := `{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"hello"}}`
	if out := leaving(client, sent{"custom", `{"answer":` + answer + `}`}); !strings.Contains(out, "hello") {
		t.Errorf("the answer is withheld; this leaves: %s", out)
	}
}

// TestManyOutputs has an internal node return a megabyte of messages. With more work than in proportion to their number, this takes longer
// than a test may.
func TestManyOutputs(t *testing.T) {
	var messages strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&messages, `{"type":"ai","id":"m%d","content":"secret"},`, i)
	}
	for range 20 {
		if out := leaving(client, sent{"updates", `{"internal_x":{"messages":[` + messages.String() + `{"type":"ai","id":"m","content":"x"}]}}`}); strings.Contains(out, "secret") {
			t.Error("messages of an internal node leave")
		}
	}
}

// TestUntypedMessages sends messages that do not say that a model wrote them.
func TestUntypedMessages(t *testing.T) {
	for _, message := range []string{
		`{"content":"secret"}`, `{"sender":"user","content":"secret"}`, `{"name":"user_proxy","content":"secret"}`, `{"author":{"role":"user"},"content":"secret"}`,
		`{"tool_call_id":"c","content":"secret"}`, `{"channel":"analysis","content":"secret"}`, `{"type":null,"role":null,"content":"secret"}`, `{"role":"","content":"secret"}`,
		`{"type":"","content":"secret"}`, `{"type":7,"content":"secret"}`, `{"Type":"ai","content":"secret"}`, `{"type":"ai","role":"user","content":"secret"}`,
		`{"content":[{"type":"text","text":"secret"}]}`, `{"value":[{"content":"secret"}],"content":"secret"}`, `["ai","secret"]`, `"secret"`,
	} {
		for _, stream := range []sent{
			{"values", `{"messages":[` + message + `]}`}, {"updates", `{"n":{"messages":[` + message + `]}}`}, {"updates", `{"n":{"messages":` + message + `}}`},
			{"updates", `{"n":[{"messages":[` + message + `]}]}`}, {"updates", `{"n":{"messages":{"value":[` + message + `]}}}`},
			{"updates", `{"n":{"messages":{"type":"__overwrite__","value":[` + message + `]}}}`}, {"values|n:1", `{"messages":[` + message + `]}`},
			{"messages/complete", `[` + message + `]`}, {"messages/partial", `[` + message + `]`}, inTuple(message, ""),
		} {
			checkStaysIn(t, []filter.Settings{public}, stream)
		}
	}
	for _, written := range []string{`[` + said("") + `]`, said(""), `{"value":[` + said("") + `]}`, `{"__overwrite__":[` + said("") + `]}`, `{"type":"__overwrite__","value":[` + said("") + `]}`} {
		if out := leaving(public, sent{"updates", `{"n":{"messages":` + written + `}}`}); !strings.Contains(out, said("")) {
			t.Errorf("of an update with %s, this leaves: %s", written, out)
		}
	}
}
