package aisdk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestSpellingsOfIDs withholds the first frame of something and sends another with another spelling of its ID, and with another ID.
func TestSpellingsOfIDs(t *testing.T) {
	long := strings.Repeat("x", 256)
	for _, c := range []struct{ first, then, another string }{
		{`"q"`, `"\u0071"`, `"r"`},
		{`"é"`, `"\u00e9"`, `"e"`},
		{`"a/b"`, `"a\/b"`, `"a/c"`},
		{`7`, `"7"`, `8`},
		{`"7"`, `7`, `"8"`},
		{`"` + long + `1"`, `"` + long + `1"`, `"` + long + `2"`},
	} {
		for _, frames := range [][2]string{
			{`{"type":"data-note","id":ID,"data":1}`, `{"type":"data-note","id":ID,"data":1}`},
			{`{"type":"text-start","id":ID}`, `{"type":"text-delta","id":ID,"delta":"x"}`},
			{`{"type":"tool-input-available","toolCallId":ID,"toolName":"f"}`, `{"type":"tool-output-available","toolCallId":ID,"output":1}`},
		} {
			frame := func(i int, id string) string { return strings.Replace(frames[i], "ID", id, 1) }
			got := leavesOf(t, newAnswer(), event.PolicyClient, frame(0, c.another), inKind(frame(0, c.first)), frame(1, c.then), frame(1, c.another))
			if got[2] != withheld {
				t.Errorf("after %s, %s leaves", frame(0, c.first), frame(1, c.then))
			}
			if got[3] != unchanged {
				t.Errorf("after %s, %s is %s", frame(0, c.first), frame(1, c.another), got[3])
			}
		}
	}
}

// TestLongIDs sends two texts at once and two sources whose IDs begin alike.
func TestLongIDs(t *testing.T) {
	long := strings.Repeat("x", 256)
	for id, another := range map[string]string{`"` + long + `1"`: `"` + long + `2"`, `7`: `8`} {
		facts := strings.Join(factsOf(
			`{"type":"text-start","id":`+id+`}`, `{"type":"text-start","id":`+another+`}`, `{"type":"text-delta","id":`+id+`,"delta":"one"}`, `{"type":"text-delta","id":`+another+`,"delta":"two"}`,
			`{"type":"text-end","id":`+id+`}`, `{"type":"text-end","id":`+another+`}`,
			`{"type":"source-document","sourceId":`+id+`,"mediaType":"a/b","title":"x"}`, `{"type":"source-document","sourceId":`+another+`,"mediaType":"a/b","title":"x"}`,
			`{"type":"source-document","sourceId":`+another+`,"mediaType":"a/b","title":"x"}`,
		), "\n")
		if strings.Count(facts, `text "one"`) != 2 || strings.Count(facts, `text "two"`) != 2 || strings.Count(facts, "citation") != 2 {
			t.Errorf("with the IDs %s and %s, the facts are\n%s", id, another, facts)
		}
	}
}

// TestDecisionsWithoutID withholds decisions without the ID of a question: they belong to no call that began before an internal message.
func TestDecisionsWithoutID(t *testing.T) {
	for _, id := range []string{`"approvalId":7,`, `"approvalId":"",`, `"approvalId":null,`, ``} {
		sent := []string{begin, started, inMetadata(`{"type":"start"}`), `{"type":"tool-approval-response",` + id + `"approved":true,"reason":"secret"}`}
		if got := last(leaves(t, event.PolicyClient, sent...)); got != withheld {
			t.Errorf("the last of %s leaves as %s", sent, got)
		}
	}
}
