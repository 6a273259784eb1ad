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

// TestPartsOfPlainServers repeats an internal text of a server without ADK in other parts.
func TestPartsOfPlainServers(t *testing.T) {
	const thought, text = `{"kind":"text","text":"hm","metadata":{"thought":true}}`, `{"kind":"text","text":"the CANARY costs"}`
	const first, second = `{"kind":"text","text":"the CANARY"}`, `{"kind":"text","text":" costs"}`
	const inside, outside = `x","metadata":{"kind":"internal:note"},"n":"`, `,"metadata":{"kind":"internal:note"}`
	for name, c := range map[string]struct {
		internal, sent string // parts
		leaves         bool   // the event, unchanged
	}{
		"without the thought": {thought + "," + text, text, false},
		"joined":              {first + "," + second, text, false},
		"cut":                 {text, first + "," + second, false},
		"another text":        {thought + "," + text, `{"kind":"text","text":"the house costs"}`, true},
		"a part of it":        {first + "," + second, second, true},
	} {
		for envelope, wrap := range envelopes {
			artifact := func(parts, id, more string) [3]string {
				built := artifactOf(parts, more)
				built[2] = strings.Replace(built[2], `"artifactId":"a"`, `"artifactId":"`+id+`"`, 1)
				return built
			}
			for where, events := range map[string][2][3]string{
				"a message":           {stateOf("working", inside, c.internal, ""), stateOf("working", "y", c.sent, "")},
				"a status":            {stateOf("working", "x", c.internal, outside), stateOf("working", "y", c.sent, "")},
				"an artifact":         {artifact(c.internal, inside, ""), artifact(c.sent, "y", "")},
				"an artifact's event": {artifact(c.internal, "x", outside), artifact(c.sent, "y", "")},
				"a completed task":    {artifact(c.internal, inside, ""), stateOf("completed", "y", c.sent, "")},
			} {
				sent := wrap(events[1][0], events[1][1], events[1][2])
				got := filterStream(t, client, "data: "+wrap(events[0][0], events[0][1], events[0][2])+"\n\ndata: "+sent+"\n\n")
				if last := got[len(got)-1]; (last == sent) != c.leaves || !c.leaves && strings.Contains(last, "CANARY") {
					t.Errorf("%s, %s, %s: the event leaves as %s", name, where, envelope, last)
				}
			}
		}
	}
}
