package deepagents_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// leaving returns the data that leaves of a stream.
func leaving(policy event.Policy, stream ...string) string {
	s := &event.Stream{}
	d, f, b := (deepagents.Dialect{}).New(s), filter.New(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}), new(event.Batch)
	var out strings.Builder
	for _, data := range stream {
		b.Begin(s, sse.Frame{Data: []byte(data)}, time.Time{})
		malformed := b.Parse(100)
		b.Table = (deepagents.Dialect{}).Table()
		d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed}, b)
		if frame, why := f.Apply(b); why == filter.Passed {
			out.Write(frame.Data)
		}
	}
	return out.String()
}

// TestWithheldStarts withholds the start of a text, a call or a subagent in every way. What follows has no mark of its own.
func TestWithheldStarts(t *testing.T) {
	const by = `,"agent_type":"subagent","agent_id":"subagent_a_1","parent_call_id":"c1"`
	text, inside := `{"v":2,"type":"content","md":"shown"}`, `{"v":2,"type":"content","md":"shown"`+by+`}`
	result := `{"v":2,"type":"tool_end","name":"w","call_id":"c1","status":"ok","ms":1,"result":"shown"}`
	textStart, textEnd := `{"v":2,"type":"content_start"}`, `{"v":2,"type":"content_end"}`
	callStart, agentStart, insideStart := `{"v":2,"type":"tool_start","name":"w","call_id":"c1"}`, `{"v":2,"type":"subagent_start"`+by+`}`, `{"v":2,"type":"content_start"`+by+`}`
	for _, mark := range []string{`"event":"internal:x","type":"`, `"kind":"internal:x","type":"`, `"kind":7,"type":"`, `"type":"internal:`} {
		hide := func(frame string) string { return strings.Replace(frame, `"type":"`, mark, 1) }
		for _, stream := range [][]string{
			{hide(textStart), text}, {hide(textStart), strings.Replace(textEnd, "}", `,"md":"shown"}`, 1)}, {textStart, textEnd, hide(textStart), text},
			{hide(callStart), result}, {hide(callStart), agentStart, insideStart, inside}, {callStart, hide(agentStart), insideStart, inside},
			{callStart, hide(agentStart), `{"v":2,"type":"subagent_end","result":"shown"` + by + `}`},
		} {
			for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
				if out := leaving(policy, stream...); strings.Contains(out, "shown") {
					t.Errorf("%s: of %v this leaves: %s", policy, stream, out)
				}
			}
		}
		for _, stream := range [][]string{
			{hide(textStart), textEnd, textStart, text}, {textStart, hide(result), text}, {text, hide(result), text}, {hide(text), textStart, text},
			{callStart, hide(textStart), result}, {hide(textStart), callStart, result}, {callStart, agentStart, insideStart, hide(result), inside},
			{inside, hide(textStart), inside}, {hide(textStart), callStart, agentStart, insideStart, inside},
		} {
			if out := leaving(event.PolicyClient, stream...); !strings.Contains(out, "shown") {
				t.Errorf("of %v this leaves: %s", stream, out)
			}
		}
	}
}

// TestReusedKeys withholds a start with the ID of an earlier one, or without an ID that tells it from others.
func TestReusedKeys(t *testing.T) {
	hide := func(frame string) string { return `{"event":"internal:x",` + frame[1:] }
	call := func(id string) string { return `{"v":2,"type":"tool_start","name":"w"` + id + `}` }
	result := func(id string) string {
		return `{"v":2,"type":"tool_end","name":"w","status":"ok","result":"shown"` + id + `}`
	}
	of := func(kind, by string) string { return `{"v":2,"type":"` + kind + `","text":"shown"` + by + `}` }
	const c1, c2, byType = `,"call_id":"c1"`, `,"call_id":"c2"`, `,"agent_type":"subagent"`
	const a, a1, a2 = `,"agent_id":"subagent_a_1"`, `,"agent_id":"subagent_a_1","parent_call_id":"c1"`, `,"agent_id":"subagent_a_1","parent_call_id":"c2"`
	const untyped, numbered = `,"agent_id":"analyst"`, `,"agent_id":7`
	long := func(end string) string { return strings.Repeat("x", 256) + end }
	for _, stream := range [][]string{
		{call(c1), result(c1), hide(call(c1)), result(c1)},
		{call(c1), hide(call(c1)), result(c1)},
		{call(c1), result(c1), `{"v":2,"type":"end"}`, `{"v":2,"type":"start","message_id":"n"}`, hide(call(c1)), result(c1)},
		{call(""), hide(call("")), result("")},
		{call(`,"call_id":1`), hide(call(`,"call_id":2`)), result(`,"call_id":2`)},
		{call(`,"call_id":"` + long("1") + `"`), hide(call(`,"call_id":"` + long("2") + `"`)), result(`,"call_id":"` + long("2") + `"`)},
		{hide(call(`,"call_id":"` + long("2") + `"`)), call(`,"call_id":"` + long("1") + `"`), result(`,"call_id":"` + long("2") + `"`)},
		{of("subagent_start", byType), of("subagent_end", byType), hide(of("subagent_start", byType)), of("thinking", byType)},
		{call(c1), of("subagent_start", a1), of("subagent_end", a1), call(c2), hide(of("subagent_start", a2)), of("thinking", a2)},
		{call(c1), of("subagent_start", a1), of("subagent_end", a1), call(c2), hide(of("subagent_start", a2)), of("thinking", a)},
		{call(c1), of("subagent_start", a1), call(c2), hide(of("subagent_start", a2)), of("thinking", a)},
		{call(c1), of("subagent_start", a1), hide(call(c2)), of("thinking", a2)},
		{call(c1), of("subagent_start", a1), hide(call(c2)), of("subagent_start", a2), of("thinking", a2)},
		{call(c1), of("subagent_start", a1), result(c1), hide(call(c1)), of("thinking", a1)},
		{hide(of("subagent_start", numbered)), of("thinking", numbered)},
		{hide(of("subagent_start", byType+numbered)), of("subagent_start", byType+`,"agent_id":8`), of("thinking", byType+numbered)},
		{hide(of("subagent_start", untyped)), of("thinking", untyped)},
		{hide(of("subagent_start", untyped)), of("content_start", untyped), of("content", untyped+`,"md":"shown"`)},
		{hide(of("subagent_start", a)), of("thinking", `,"agent_type":"main"`+a)},
		{hide(call(c1)), of("thinking", `,"agent_type":"main","parent_call_id":"c1"`)},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			last := len(stream) - 1
			if all, before := leaving(policy, stream...), leaving(policy, stream[:last]...); all != before {
				t.Errorf("%s: the last frame of %v leaves", policy, stream)
			}
		}
	}
	for _, stream := range [][]string{
		{hide(call(c1)), call(c1), result(c1)}, {hide(call(c1)), result(c1), call(c1), result(c1)}, {call(c1), hide(call(c2)), hide(result(c1)), result(c1)},
		{call(""), result("")}, {of("subagent_start", byType), of("thinking", byType)}, {hide(call(c2)), of("thinking", `,"agent_type":"main","agent_id":"main_x"`)},
		{hide(call(c2)), of("thinking", `,"agent_id":"main_x"`)}, {hide(call(c2)), call(c1), of("subagent_start", a1), of("thinking", a)}, {hide(call(c2)), call(c1), of("subagent_start", `,"parent_call_id":"c1"`), of("thinking", `,"parent_call_id":"c1"`)},
		{hide(call(c2)), call(c1), of("subagent_start", a1), of("thinking", a1)}, {hide(of("thinking", a1)), of("thinking", a1)},
		{hide(call("")), call(""), result("")}, {hide(of("subagent_start", byType)), of("subagent_start", byType), of("thinking", byType)},
		{`{"v":2,"type":"tool_start","call_id":"c1","x":1,"X":1}`, result(c1)}, {`{"v":2,"type":"x","call_id":"c1"}`, result(c1)},
		{`{"v":2,"type":"subagent_start","agent_id":"subagent_a_1","x":1,"X":1}`, of("thinking", a1)}, {`{"v":2,"type":"content_start","x":1,"X":1}`, `{"v":2,"type":"content","md":"shown"}`},
	} {
		last := len(stream) - 1
		if all, before := leaving(event.PolicyClient, stream...), leaving(event.PolicyClient, stream[:last]...); all == before {
			t.Errorf("the last frame of %v does not leave", stream)
		}
	}
}

// TestNames sends frames of an agent and of a tool with names that begin like a mark. All leave.
func TestNames(t *testing.T) {
	const by = `,"agent_type":"subagent","agent_id":"internal_x","parent_call_id":"internal_c"`
	stream := []string{
		`{"v":2,"type":"tool_start","name":"internal_x","call_id":"internal_c"}`, `{"v":2,"type":"subagent_start"` + by + `}`, `{"v":2,"type":"content_start"` + by + `}`, `{"v":2,"type":"content","md":"x"` + by + `}`,
		`{"v":2,"type":"content_end"` + by + `}`, `{"v":2,"type":"thinking","text":"x"` + by + `}`, `{"v":2,"type":"subagent_end"` + by + `}`, `{"v":2,"type":"tool_end","name":"internal_x","call_id":"internal_c"}`,
		`{"v":2,"type":"subagent_start","agent_id":"subagent_internal_x_1"}`, `{"v":2,"type":"thinking","text":"x","agent_id":"subagent_internal_x_1"}`,
	}
	if got, want := leaving(event.PolicyClient, stream...), strings.Join(stream, ""); got != want {
		t.Errorf("of\n%s\nthis leaves:\n%s", want, got)
	}
}

// TestForgottenTexts begins more texts than are remembered, the first of which is withheld.
func TestForgottenTexts(t *testing.T) {
	by := func(i int) string { return `,"agent_id":"subagent_` + strconv.Itoa(i) + `"` }
	stream := []string{`{"v":2,"type":"content_start","kind":"internal"` + by(0) + `}`}
	for i := range 64 {
		stream = append(stream, `{"v":2,"type":"content_start"`+by(i+1)+`}`)
	}
	for _, last := range []string{`{"v":2,"type":"content","md":"x"` + by(0) + `}`, `{"v":2,"type":"content_end"` + by(0) + `}`} {
		if out := leaving(event.PolicyClient, append(stream, last)...); strings.Contains(out, last) {
			t.Errorf("%s leaves", last)
		}
	}
	if last := `{"v":2,"type":"content","md":"x"` + by(1) + `}`; !strings.Contains(leaving(event.PolicyClient, append(stream, last)...), last) {
		t.Errorf("%s is withheld", last)
	}
}

// TestFactsOfReusedIDs sends two calls with one ID, and two subagents with one ID. The result is that of the second call, and a thought is
// within neither call.
func TestFactsOfReusedIDs(t *testing.T) {
	facts := dialecttest.Facts(deepagents.Dialect{}, &event.Stream{}, `data: {"v":2,"type":"tool_start","name":"one","call_id":"c1"}

data: {"v":2,"type":"tool_start","name":"two","call_id":"c1"}

data: {"v":2,"type":"tool_end","call_id":"c1"}

data: {"v":2,"type":"subagent_start","agent_id":"subagent_a_1","parent_call_id":"c1"}

data: {"v":2,"type":"subagent_start","agent_id":"subagent_a_1","parent_call_id":"c2"}

data: {"v":2,"type":"thinking","text":"x","agent_id":"subagent_a_1"}

`)
	thinking := facts[strings.LastIndex(facts, "thinking"):]
	if !strings.Contains(facts, `tool_ended name="two"`) || strings.Contains(thinking, "within") {
		t.Error(facts)
	}
}

// TestManyStarts checks that a long run keeps its answer after an unknown frame and more withheld calls than are remembered.
func TestManyStarts(t *testing.T) {
	for _, unread := range []string{`{"v":2,"type":"new_kind"}`, `{"v":2,`} {
		stream := []string{`{"v":2,"type":"tool_start","name":"task","call_id":"long"}`, unread}
		for i := range 3000 {
			id := strconv.Itoa(i)
			stream = append(stream, `{"v":2,"type":"tool_start","name":"f","call_id":"`+id+`"}`, `{"v":2,"type":"tool_end","name":"f","call_id":"`+id+`"}`,
				`{"v":2,"type":"subagent_start","agent_id":"subagent_`+id+`"}`, `{"v":2,"type":"subagent_end","agent_id":"subagent_`+id+`"}`,
				`{"event":"internal:x","v":2,"type":"tool_start","name":"g","call_id":"x`+id+`"}`, `{"v":2,"type":"tool_end","name":"g","call_id":"x`+id+`"}`)
		}
		stream = append(stream, `{"v":2,"type":"tool_end","call_id":"x2999"}`, `{"v":2,"type":"tool_end","call_id":"x0"}`, `{"v":2,"type":"thinking","text":"x","agent_id":"subagent_x"}`,
			`{"event":"internal:x","v":2,"type":"tool_start","name":"g","call_id":"y"}`, `{"v":2,"type":"subagent_start","agent_id":"subagent_y","parent_call_id":"y"}`)
		stream = append(stream, `{"v":2,"type":"tool_end","name":"task","call_id":"long","result":"whole"}`, `{"v":2,"type":"content_start"}`, `{"v":2,"type":"content","md":"shown"}`, `{"v":2,"type":"content_end"}`)
		out := leaving(event.PolicyClient, stream...)
		for what, want := range map[string]int{`"tool_end"`: 3001, `"subagent_end"`: 3000, "whole": 1, "thinking": 0, "shown": 1, "content_end": 1} {
			if got := strings.Count(out, what); got != want {
				t.Errorf("after %s, %d of %d leave with %s", unread, got, want, what)
			}
		}
	}
}

// TestManyWithheldStarts begins more internal subagents than are remembered. What belongs to one of them is withheld, what belongs to others leaves.
func TestManyWithheldStarts(t *testing.T) {
	by := func(i int) string { return `,"agent_type":"subagent","agent_id":"subagent_x_` + strconv.Itoa(i) + `"}` }
	var stream []string
	for i := range 1100 {
		stream = append(stream, `{"event":"internal:x","v":2,"type":"subagent_start"`+by(i))
	}
	stream = append(stream, `{"v":2,"type":"subagent_start"`+by(1100))
	for i, want := range map[int]bool{1100: true, 0: false, 1099: false} {
		frames := []string{`{"v":2,"type":"content_start"` + by(i), `{"v":2,"type":"content","md":"x"` + by(i), `{"v":2,"type":"thinking","text":"x"` + by(i), `{"v":2,"type":"subagent_end"` + by(i)}
		out := leaving(event.PolicyClient, append(stream, frames...)...)
		for _, frame := range frames {
			if strings.Contains(out, frame) != want {
				t.Errorf("%s leaves: %t", frame, !want)
			}
		}
	}
}

// TestManyWithheldAgents starts more withheld subagents than are remembered. What names one of them does not leave, also if it does not
// look like the ID of a subagent.
func TestManyWithheldAgents(t *testing.T) {
	call := func(agent string) string {
		return `{"v":2,"type":"tool_start","name":"f","call_id":"c","agent_id":"` + agent + `"}`
	}
	stream := []string{strings.Replace(call("boss"), `"c"`, `"b"`, 1)}
	for i := range 1400 {
		stream = append(stream, `{"v":2,"type":"subagent_start","kind":"internal:x","agent_id":"w`+strconv.Itoa(i)+`"}`)
	}
	for agent, leaves := range map[string]bool{"w0": false, "w1100": false, "w1399": false, "boss": true} {
		if out := leaving(event.PolicyClient, append(stream, call(agent))...); strings.Contains(out, call(agent)) != leaves {
			t.Errorf("that a call of %s leaves is %t", agent, !leaves)
		}
	}
}
