package langgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
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
	d := (Dialect{}).New(s)
	defer d.(*decoder).Close()
	return leavingFrom(d, reader, s, stream...)
}

// leavingFrom is leavingOf for a decoder.
func leavingFrom(d dialect.Decoder, reader filter.Settings, s *event.Stream, stream ...sent) string {
	f, b := filter.New(reader), new(event.Batch)
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
	return out.String()
}

// checkStaysIn checks that the secret in a stream does not leave.
func checkStaysIn(t *testing.T, readers []filter.Settings, stream ...sent) {
	t.Helper()
	for _, reader := range readers {
		if out := leaving(reader, stream...); strings.Contains(out, "secret") {
			t.Errorf("%s, thoughts %d: of %v this leaves:\n%s", reader.Policy, reader.Thoughts, stream, out)
		}
	}
}

// fromServer is a frame of the mode messages-tuple with the metadata that the server adds.
func fromServer(message, node string) sent {
	return sent{"messages", `[` + message + `,{"langgraph_node":"` + node + `","langgraph_checkpoint_ns":"` + node + `:1"}]`}
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
		{inTuple(`{"type":"SystemMessageChunk","id":"m1","content":"secret"}`, "")},
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

// TestPublicRepeats repeats answers that left before to the public: never with their text removed.
func TestPublicRepeats(t *testing.T) {
	answer := `{"type":"ai","id":"lc_run--2","content":"shown"}`
	list := `{"messages":[` + userAsks + `,` + answer + `]}`
	for _, repeat := range []sent{
		{"values", list}, {"values|a:1", list}, {"updates", `{"a":` + list + `}`}, {"messages/complete", `[` + answer + `]`}, {"messages/partial", `[` + answer + `]`}, fromServer(answer, "a"),
	} {
		out := leavingOf(public, &event.Stream{Identity: inThread(threadID, joinedID)}, sent{"values", list}, repeat)
		if strings.Count(out, "shown") != 2 || strings.Contains(out, "question") || strings.Contains(out, `"lc_run--2","content":""`) {
			t.Errorf("of a state and %v this leaves: %s", repeat, out)
		}
		one := filter.Settings{Policy: event.PolicyPublic, Authors: []string{"writer"}}
		if out := leavingOf(one, &event.Stream{}, sent{"values", list}, repeat); strings.Contains(out, "shown") {
			t.Errorf("of a state and %v the text of an unknown author leaves: %s", repeat, out)
		}
	}
	if got := facts(&event.Stream{}, frame("values", list)); strings.Contains(strings.Join(got, " "), "text") {
		t.Errorf("the text of an earlier run counts again: %q", got)
	}
}
