package deepagents_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
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
	for _, mark := range []string{`"event":"internal:x",`, `"x":1,"X":1,`, `"type":"x",`, `"kind":7,`} {
		hide := func(frame string) string { return "{" + mark + frame[1:] }
		for _, stream := range [][]string{
			{hide(textStart), text}, {hide(textStart), strings.Replace(textEnd, "}", `,"md":"shown"}`, 1)}, {textStart, textEnd, hide(textStart), text},
			{hide(callStart), result}, {hide(callStart), agentStart, insideStart, inside}, {callStart, hide(agentStart), insideStart, inside},
			{callStart, hide(agentStart), `{"v":2,"type":"subagent_end","result":"shown"}`}, {callStart, hide(agentStart), `{"v":2,"type":"subagent_end","result":"shown"` + by + `}`},
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
