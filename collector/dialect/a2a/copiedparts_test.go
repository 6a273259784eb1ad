package a2a_test

import (
	"strings"
	"testing"
)

// TestCopiesOfParts repeats the answer in an event with other parts, such as thoughts. ADK copies the answer without these.
func TestCopiesOfParts(t *testing.T) {
	const thought, text = `{"kind":"text","text":"hm","metadata":{"adk_thought":true}}`, `{"kind":"text","text":"the CANARY costs"}`
	const first, second = `{"kind":"text","text":"the CANARY"}`, `{"kind":"text","text":" costs"}`
	const remote = `,"metadata":{"adk_author":"r","adk_custom_metadata":{"a2a:response":{"history":[{"messageId":"x","role":"agent","parts":[` + thought + `,` + text + `]}],"metadata":{"adk_custom_metadata":{"kind":"internal"}}}}}`
	marked := strings.ReplaceAll(text, `"}`, `","metadata":{"adk_thought":true}}`)
	result := stateOf("working", "n", adkPart("response", `"id":"d","name":"look","response":{"a":"the CANARY costs"}`), of("r"))
	said := func(parts string) [3]string { return stateOf("working", "n", parts, of("w")) }
	for name, c := range map[string]struct {
		parts, metadata string // of the internal event
		sent            [3]string
		leaves          bool // the copy, unchanged
	}{
		"a result":                            {thought + "," + text, markedEvent, result, false},
		"a result of several parts":           {first + "," + thought + "," + second, markedEvent, result, false},
		"a result after a call":               {thought + "," + text + "," + otherCall, markedEvent, result, false},
		"a result of a remote agent":          {thought + "," + marked, remote, result, false},
		"a result of such an answer":          {marked, strings.Replace(remote, thought+",", "", 1), result, false},
		"a state":                             {thought + "," + text, markedEvent, stateOf("working", "n", hi, `,"metadata":{"adk_author":"r","adk_actions":{"stateDelta":{"x":"the CANARY costs"}}}`), false},
		"an event's own state":                {thought + "," + text, markedEvent, stateOf("working", "n", thought+","+text, `,"metadata":{"adk_event_id":"2","adk_author":"r","adk_usage_metadata":{"promptTokenCount":1},"adk_actions":{"stateDelta":{"x":"the CANARY costs"}}}`), true},
		"a message":                           {thought + "," + text, markedEvent, said(text), false},
		"a message with the thought":          {thought + "," + text, markedEvent, said(thought + "," + text), false},
		"a message with another thought":      {first + "," + second, markedEvent, said(thought + "," + first + "," + second), false},
		"a message after another text":        {text, markedEvent, said(hi + "," + text), false},
		"a message in an artifact":            {text, markedEvent, artifactOf(hi+","+text, of("w")), false},
		"a model's texts":                     {text, markedEvent, stateOf("working", "n", hi+","+text, `,"metadata":{"adk_usage_metadata":{"promptTokenCount":1},"adk_author":"w"}`), true},
		"a message with a part of the answer": {first + "," + second, markedEvent, said(hi + "," + second), true},
		"the thought":                         {thought + "," + text, markedEvent, stateOf("working", "n", adkPart("response", `"id":"d","name":"look","response":{"a":"hm"}`), of("r")), true},
		"a message without a mark":            {thought + "," + text, of("a"), said(hi + "," + text), true},
	} {
		for envelope, wrap := range envelopes {
			hidden := stateOf("working", "m", c.parts, c.metadata)
			sent := wrap(c.sent[0], c.sent[1], c.sent[2])
			got := filterStream(t, client, "data: "+wrap(hidden[0], hidden[1], hidden[2])+"\n\ndata: "+sent+"\n\n")[1]
			if (got == sent) != c.leaves || !c.leaves && strings.Contains(got, "CANARY") {
				t.Errorf("%s, %s: the event leaves as %s", name, envelope, got)
			}
		}
	}
}
