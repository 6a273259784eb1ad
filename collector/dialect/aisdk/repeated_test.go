package aisdk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestRepeatedIDs begins on another stream of the agent what one stream withheld. With a UUID it stays withheld. With a short ID it is
// something else, because all streams have the same ones, and so is what comes whole.
func TestRepeatedIDs(t *testing.T) {
	const (
		start, textStart, textEnd = `{"type":"start","messageId":"m"}`, `{"type":"text-start","id":"ID"}`, `{"type":"text-end","id":"ID"}`
		text                      = `{"type":"text-delta","id":"ID","delta":"secret"}`
		call, result              = `{"type":"tool-input-available","toolCallId":"ID","toolName":"f","input":1}`, `{"type":"tool-output-available","toolCallId":"ID","output":"secret"}`
		unnamed                   = `{"type":"start"}`
	)
	for name, c := range map[string]struct {
		shown  []string // frames before the others that leave anyway
		sent   []string
		marked int // the one of sent that calls itself internal
	}{
		"a text":               {[]string{start}, []string{textStart, text, textEnd}, 0},
		"a piece of a text":    {[]string{unnamed}, []string{textStart, text, textEnd}, 1},
		"the end of a text":    {[]string{start}, []string{textStart, text, textEnd}, 2},
		"a thought":            {[]string{start}, []string{`{"type":"reasoning-start","id":"ID"}`, `{"type":"reasoning-delta","id":"ID","delta":"secret"}`, `{"type":"reasoning-end","id":"ID"}`}, 0},
		"a call":               {[]string{start}, []string{call, result}, 0},
		"the result of a call": {[]string{start}, []string{call, result}, 1},
		"a streamed call":      {[]string{start}, []string{`{"type":"tool-input-start","toolCallId":"ID","toolName":"f"}`, `{"type":"tool-input-delta","toolCallId":"ID","inputTextDelta":"secret"}`, call, result}, 0},
		"a refused call":       {[]string{start}, []string{`{"type":"tool-input-error","toolCallId":"ID","toolName":"f","errorText":"x","input":"secret"}`}, 0},
		"a question":           {[]string{start, started}, []string{`{"type":"tool-approval-request","approvalId":"ID","toolCallId":"c"}`, `{"type":"tool-approval-response","approvalId":"ID","approved":true}`}, 0},
		"only a source":        {[]string{start}, []string{`{"type":"source-url","sourceId":"ID","url":"https://a.b"}`}, 0},
		"only a data part":     {[]string{start}, []string{`{"type":"data-x","id":"ID","data":"secret"}`}, 0},
	} {
		for id, leaves := range map[string]bool{"97ead98a-c3ad-4946-91b3-2d612933f655": false, "0": true} {
			for as, next := range map[string]event.Identity{"new": newAnswer().Identity, "resumed": {JoinedRun: "r", Session: "s"}} {
				sent := strings.Split(strings.ReplaceAll(strings.Join(c.sent, "\n"), `"ID"`, `"`+id+`"`), "\n")
				first := slices.Concat(c.shown, sent)
				first[len(c.shown)+c.marked] = inKind(sent[c.marked])
				memory := new(event.Withheld)
				leavesOf(t, &event.Stream{Withheld: memory, Identity: newAnswer().Identity}, event.PolicyClient, first...)
				for i, got := range leavesOf(t, &event.Stream{Withheld: memory, Identity: next}, event.PolicyClient, slices.Concat(c.shown, sent)...) {
					if want := leaves || i < len(c.shown) || strings.HasPrefix(name, "only"); (got == unchanged) != want {
						t.Errorf("%s with the ID %s, %s: frame %d leaves as %s", name, id, as, i, got)
					}
				}
			}
		}
	}
}

// TestRepeatedMessages begins an internal message again without its mark. It stays internal on streams that continue it. With a UUID, it
// stays internal on all streams. Messages of other chats, and messages of which only a later start in merged streams is marked, are not internal.
func TestRepeatedMessages(t *testing.T) {
	const uuid = "97ead98a-c3ad-4946-91b3-2d612933f655"
	answering := event.Identity{Session: "s", RequestDialect: "aisdk", Answers: []string{"a"}}
	for _, c := range []struct {
		id     string
		merged bool // another start, which is not marked, comes first
		then   event.Identity
		leaves bool
	}{
		{uuid, false, event.Identity{JoinedRun: "s", Session: "s"}, false},
		{uuid, false, event.Identity{JoinedRun: "s"}, false},
		{uuid, false, newAnswer().Identity, false},
		{"m", false, event.Identity{JoinedRun: "s", Session: "s"}, false},
		{"m", false, answering, false},
		{"m", false, event.Identity{JoinedRun: "u", Session: "u"}, true},
		{"m", false, event.Identity{Session: "s", RequestDialect: "aisdk"}, true},
		{"n", false, event.Identity{JoinedRun: "s", Session: "s"}, true},
		{uuid, true, event.Identity{JoinedRun: "s", Session: "s"}, true},
		{uuid, true, newAnswer().Identity, true},
	} {
		start := strings.Replace(begin, `"m"`, `"`+c.id+`"`, 1)
		message := []string{start, beginStep, textStart, text, textEnd, started, endStep, end}
		first := []string{inMetadata(strings.Replace(start, `"n"`, `"m"`, 1))}
		if c.merged {
			first = []string{start, inMetadata(start)}
		}
		memory := new(event.Withheld)
		leavesOf(t, &event.Stream{Withheld: memory, Identity: event.Identity{Session: "s", RequestDialect: "aisdk"}}, event.PolicyClient, first...)
		for i, got := range leavesOf(t, &event.Stream{Withheld: memory, Identity: c.then}, event.PolicyClient, message...) {
			if (got == unchanged) != c.leaves {
				t.Errorf("of %+v, frame %d leaves as %s", c, i, got)
			}
		}
	}
}

// TestRepeatedThoughts begins a text without a mark that one stream marked as a thought.
func TestRepeatedThoughts(t *testing.T) {
	for id, leaves := range map[string]bool{"97ead98a-c3ad-4946-91b3-2d612933f655": false, "0": true} {
		sent := strings.Split(strings.ReplaceAll(strings.Join([]string{begin, textStart, text, textEnd}, "\n"), `"0"`, `"`+id+`"`), "\n")
		memory := new(event.Withheld)
		leavesOf(t, &event.Stream{Withheld: memory, Identity: newAnswer().Identity}, event.PolicyPublic, sent[0], strings.TrimSuffix(sent[1], "}")+`,"providerMetadata":{"google":{"thought":true}}}`)
		got := leavesOf(t, &event.Stream{Withheld: memory, Identity: newAnswer().Identity}, event.PolicyPublic, sent...)
		if (got[2] == sent[2]) != leaves {
			t.Errorf("the text with the ID %s leaves as %s", id, got[2])
		}
	}
}
