package aisdk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const (
	started = `{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":1}`
	result  = `{"type":"tool-output-available","toolCallId":"c","output":"secret"}`
	other   = `{"type":"tool-output-available","toolCallId":"d","output":"shown"}`
)

// TestCallsOfWithheldFrames continues a call of which a frame was withheld. A call beside it leaves.
func TestCallsOfWithheldFrames(t *testing.T) {
	internal := `{"type":"tool-output-available","toolCallId":"c","output":{},"kind":"internal:x","preliminary":true}`
	begun := strings.NewReplacer(`"type"`, `"kind":"internal:x","type"`).Replace(started)
	for _, sent := range [][]string{
		{started, internal, result},
		{internal, result},
		{started, internal, `{"type":"tool-output-error","toolCallId":"c","errorText":"secret"}`},
		{begun, `{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}`, `{"type":"tool-approval-response","approvalId":"a","approved":true,"reason":"secret"}`},
		{started, `{"type":"tool-approval-request","approvalId":"a","toolCallId":"c","kind":"internal:x"}`, `{"type":"tool-approval-response","approvalId":"a","approved":true,"reason":"secret"}`},
		{`{"a":1,"a":2}`, `{"type":"tool-approval-response","approvalId":"a","approved":true,"reason":"secret"}`},
		{begun, `{"type":"tool-output-available","output":"secret"}`},
		{begun, `{"type":"tool-output-available","toolCallId":["c"],"output":"secret"}`},
	} {
		if got := last(leaves(t, event.PolicyClient, sent...)); got != withheld {
			t.Errorf("%s: the last leaves as %s", strings.Join(sent, "\n"), got)
		}
	}
	beside := []string{`{"type":"tool-input-available","toolCallId":"d","toolName":"f","input":1}`, started, internal, result, other}
	if got := last(leaves(t, event.PolicyClient, beside...)); got != unchanged {
		t.Errorf("the result of a call beside a withheld one: %s", got)
	}
}

// TestCallsOfUnreadable checks a call after an unreadable frame, which may have begun it.
func TestCallsOfUnreadable(t *testing.T) {
	const (
		unreadable = `{"type":"tool-input-start","toolCallId":"c","toolName":"f","x":1,"X":1}`
		escaped    = `{"type":"\u0074ool-input-start","toolCallId":"c","toolName":"f","x":1,"X":1}`
		start      = `{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`
		refused    = `{"type":"tool-input-error","toolCallId":"c","toolName":"f","input":1,"errorText":"x"}`
	)
	for _, c := range []struct {
		sent   []string
		leaves bool
	}{
		{[]string{unreadable, started}, false},
		{[]string{unreadable, started, result}, false},
		{[]string{unreadable, refused}, false},
		{[]string{escaped, started}, false},
		{[]string{`{"type":["tool-input-start"],"toolCallId":"c"}`, started}, false},
		{[]string{unreadable, start, started}, true},
		{[]string{start, unreadable, started}, true},
		{[]string{started, unreadable, result}, true},
		{[]string{`{"type":"tool-output-available","toolCallId":"d","output":{"a":1,"A":2}}`, started}, true},
		{[]string{unreadable, "[DONE]", started}, true},
	} {
		got := last(leaves(t, event.PolicyClient, c.sent...))
		if (got == unchanged) != c.leaves || !c.leaves && got != withheld {
			t.Errorf("%s: the last leaves as %s", strings.Join(c.sent, "\n"), got)
		}
	}
}

// TestRestOfWithheldPieces continues a text of which a piece was withheld.
func TestRestOfWithheldPieces(t *testing.T) {
	for _, part := range []string{"text", "reasoning"} {
		start, piece, end := `{"type":"`+part+`-start","id":"t"}`, `{"type":"`+part+`-delta","id":"t","delta":"secret"}`, `{"type":"`+part+`-end","id":"t"}`
		mark := func(frame string) string {
			return strings.TrimSuffix(frame, "}") + `,"providerMetadata":{"x":{"type":"internal:x"}}}`
		}
		marked := mark(piece)
		for _, sent := range [][]string{{start, marked, piece}, {start, piece, marked, piece, mark(end)}, {start, marked, end, piece}, {piece, marked, piece}} {
			if got := last(leavesOf(t, newAnswer(), event.PolicyClient, sent...)); got != withheld {
				t.Errorf("%s: the last leaves as %s", strings.Join(sent, "\n"), got)
			}
		}
		if got := last(leavesOf(t, newAnswer(), event.PolicyClient, start, marked, end, start, piece)); got != unchanged {
			t.Errorf("the next %s with the same ID leaves as %s", part, got)
		}
	}
}

// TestEndsOfCutOffParts ends a text or thought of which a piece was withheld. The end leaves without content if the start left.
func TestEndsOfCutOffParts(t *testing.T) {
	for part, public := range map[string]bool{"text": true, "reasoning": false} {
		start, piece, end := `{"type":"`+part+`-start","id":"t"}`, `{"type":"`+part+`-delta","id":"t","delta":"secret"}`, `{"type":"`+part+`-end","id":"t"}`
		internal := func(frame string) string { return strings.TrimSuffix(frame, "}") + `,"kind":"internal"}` }
		full := strings.TrimSuffix(end, "}") + `,"providerMetadata":{"x":{"y":"secret"}},"citations":[{"source":{"id":"secret"}}]}`
		for _, c := range []struct {
			sent   []string
			leaves bool
		}{
			{[]string{start, internal(piece), end}, true},
			{[]string{start, piece, internal(piece), piece, full}, true},
			{[]string{start, internal(piece), internal(end)}, false},
			{[]string{internal(start), piece, end}, false},
			{[]string{internal(piece), end}, false},
			{[]string{piece, internal(piece), end}, false},
			{[]string{start, internal(piece), end, end}, false},
		} {
			for policy, shows := range map[event.Policy]bool{event.PolicyClient: true, event.PolicyPublic: public} {
				want := withheld
				if c.leaves && shows {
					want = end
				}
				if got := last(leavesOf(t, newAnswer(), policy, c.sent...)); got != want && !(got == unchanged && want == last(c.sent)) {
					t.Errorf("%s: the last of %s leaves as %s, want %s", policy, c.sent, got, want)
				}
			}
		}
	}
}

// TestMarkedTexts sends texts that say that they are thoughts.
func TestMarkedTexts(t *testing.T) {
	const start, piece, end = `{"type":"text-start","id":"t"}`, `{"type":"text-delta","id":"t","delta":"secret"}`, `{"type":"text-end","id":"t"}`
	mark := func(frame, member string) string { return strings.TrimSuffix(frame, "}") + "," + member + "}" }
	for _, member := range []string{`"thought":true`, `"providerMetadata":{"thought":true}`, `"providerMetadata":{"google":{"thought":true}}`} {
		for _, sent := range [][]string{{mark(start, member), piece, end}, {start, mark(piece, member), piece, end}} {
			for _, reader := range []filter.Settings{{Policy: event.PolicyPublic}, {Policy: event.PolicyClient}} {
				f := filter.New(reader)
				each(t, sent, func(b *event.Batch) {
					if frame, why := f.Apply(b); why == filter.Passed && strings.Contains(string(frame.Data), "secret") {
						t.Errorf("under %s %s leaves", reader.Policy, frame.Data)
					}
				})
			}
		}
	}
}

// TestReplacedData sends a part of the application's own that replaces one that was withheld or unreadable.
func TestReplacedData(t *testing.T) {
	const (
		part  = `{"type":"data-note","id":"q","data":{"v":"secret"}}`
		inner = `{"type":"data-note","id":"q","data":{"type":"internal:x"}}`
	)
	for _, sent := range [][]string{
		{inner, part},
		{inner, part, part},
		{part, inner, part},
		{strings.Replace(inner, `"data":{"type"`, `"data":{},"x":{"type"`, 1), strings.Replace(part, `"id"`, `"event":"internal:x","id"`, 1), part},
		{`{"type":"data-note","id":"q","id":"q","data":{"type":"internal:x"}}`, part},
		{`{"type":"\u0064ata-note","id":"q","id":"q","data":{"type":"internal:x"}}`, part},
		{strings.Replace(inner, `"q"`, `7`, 1), strings.Replace(part, `"q"`, `7`, 1)},
	} {
		if got := last(leavesOf(t, newAnswer(), event.PolicyClient, sent...)); got != withheld {
			t.Errorf("%s: the last leaves as %s", strings.Join(sent, "\n"), got)
		}
	}
	const unreadable = `{"type":"data-note","id":"r","id":"q"}`
	for _, sent := range [][]string{
		{part, part},
		{part, unreadable, part},
		{`{"type":"tool-output-available","toolCallId":"c","output":{"a":1,"a":2}}`, part},
		{inner, strings.Replace(part, `"q"`, `"r"`, 1)},
		{inner, strings.Replace(part, "note", "table", 1)},
		{inner, strings.Replace(part, `"id":"q",`, "", 1)},
		{strings.Replace(inner, `"id":"q",`, "", 1), strings.Replace(part, `"id":"q",`, "", 1)},
		{strings.Replace(inner, `"q"`, "null", 1), strings.Replace(part, `"q"`, "null", 1)},
		{inner, "[DONE]", part},
		{unreadable, strings.Replace(part, `"id":"q",`, "", 1)},
	} {
		if got := last(leavesOf(t, newAnswer(), event.PolicyClient, sent...)); got != unchanged {
			t.Errorf("%s: the last leaves as %s", strings.Join(sent, "\n"), got)
		}
	}
}

// TestContinuedStreams continues an answer whose stream broke off. Nothing is missing for the client, but what continues
// something withheld is withheld too.
func TestContinuedStreams(t *testing.T) {
	const (
		text, rest, end = `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"x"}`, `{"type":"text-end","id":"0"}`
		thought, more   = `{"type":"reasoning-start","id":"0"}`, `{"type":"reasoning-delta","id":"0","delta":"x"}`
		call, arguments = `{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`, `{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"x"}`
		part            = `{"type":"data-note","id":"q","data":{}}`
		ask, answer     = `{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}`, `{"type":"tool-approval-response","approvalId":"a","approved":true,"reason":"x"}`
		start           = `{"type":"start","messageId":"m"}`
	)
	internal := func(frame string) string { return strings.TrimSuffix(frame, "}") + `,"event":"internal:x"}` }
	marked := strings.TrimSuffix(text, "}") + `,"providerMetadata":{"google":{"thought":true}}}`
	resumed, answering := event.Identity{JoinedRun: "r"}, event.Identity{Answers: []string{"a"}}
	for _, c := range []struct {
		first, then    []string
		as             event.Identity
		client, public string // what leaves of the last frame
	}{
		{[]string{start, text, rest}, []string{rest}, resumed, unchanged, withheld},
		{[]string{start, text, rest}, []string{rest, rest, end}, resumed, unchanged, withheld},
		{[]string{start, thought}, []string{more}, resumed, unchanged, withheld},
		{[]string{start, thought}, []string{`{"type":"reasoning-end","id":"0"}`}, resumed, unchanged, withheld},
		{[]string{start, call}, []string{arguments}, resumed, unchanged, withheld},
		{[]string{start, marked}, []string{rest}, resumed, unchanged, withheld},
		{[]string{start, internal(thought)}, []string{rest}, resumed, unchanged, withheld},
		{[]string{start, internal(text), rest}, []string{text, rest}, resumed, unchanged, rest},
		{[]string{internal(part)}, []string{start, part}, event.Identity{}, unchanged, withheld},
		{[]string{internal(part)}, []string{part}, newAnswer().Identity, unchanged, withheld},

		{[]string{start, internal(text)}, []string{rest}, resumed, withheld, withheld},
		{[]string{start, internal(text)}, []string{end}, resumed, withheld, withheld},
		{[]string{start, `{"type":`, rest}, []string{rest}, resumed, withheld, withheld},
		{[]string{start, internal(thought)}, []string{more}, resumed, withheld, withheld},
		{[]string{start, internal(call)}, []string{arguments}, resumed, withheld, withheld},
		{[]string{start, internal(call)}, []string{started}, resumed, withheld, withheld},
		{[]string{start, internal(call)}, []string{start, result}, answering, withheld, withheld},
		{[]string{start, call, internal(arguments)}, []string{result}, resumed, withheld, withheld},
		{[]string{start, `{"type":`, result}, []string{result}, resumed, withheld, withheld},
		{[]string{start, call, internal(ask)}, []string{answer}, resumed, withheld, withheld},
		{[]string{start, internal(call), ask}, []string{answer}, resumed, withheld, withheld},
		{[]string{internal(part)}, []string{part}, resumed, withheld, withheld},
		{[]string{internal(part)}, []string{start, part}, answering, withheld, withheld},
	} {
		for policy, want := range map[event.Policy]string{event.PolicyClient: c.client, event.PolicyPublic: c.public} {
			memory := new(event.Withheld)
			leavesOf(t, &event.Stream{Withheld: memory}, policy, c.first...)
			if got := last(leavesOf(t, &event.Stream{Withheld: memory, Identity: c.as}, policy, c.then...)); got != want {
				t.Errorf("%s: after %s, the last of %s is %s, want %s", policy, c.first, c.then, got, want)
			}
		}
	}
}

// TestExcludedContinuations excludes a kind that the rest of an answer contains.
func TestExcludedContinuations(t *testing.T) {
	const text = `{"type":"text-delta","id":"0","delta":"secret"}`
	marked := `{"type":"text-start","id":"0","providerMetadata":{"google":{"thought":true}}}`
	for _, c := range []struct {
		first, then string
		kind        event.Kind
	}{
		{`{"type":"text-start","id":"0"}`, text, event.KindText},
		{marked, text, event.KindThought},
		{`{"type":"reasoning-start","id":"0"}`, `{"type":"reasoning-delta","id":"0","delta":"secret"}`, event.KindThought},
		{`{"type":"reasoning-start","id":"0"}`, `{"type":"reasoning-end","id":"0"}`, event.KindThought},
	} {
		memory := new(event.Withheld)
		eachOf(t, &event.Stream{Withheld: memory}, []string{c.first}, func(*event.Batch) {})
		f := filter.New(filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{c.kind}})
		eachOf(t, &event.Stream{Withheld: memory}, []string{c.then}, func(b *event.Batch) {
			if _, why := f.Apply(b); why != filter.ReasonSetting {
				t.Errorf("%s: %q", c.then, why)
			}
		})
	}
}

// TestPiecesWithoutID continues a withheld text with a piece whose ID is no string. Some readers take a number for the same ID.
func TestPiecesWithoutID(t *testing.T) {
	for _, id := range []string{`"id":1,`, `"id":null,`, ``, `"id":["1"],`} {
		for _, kind := range []string{"text", "reasoning"} {
			sent := []string{`{"type":"` + kind + `-start","id":"1","kind":"internal"}`, `{"type":"` + kind + `-delta",` + id + `"delta":"secret"}`}
			if got := last(leaves(t, event.PolicyClient, sent...)); got != withheld {
				t.Errorf("%s: the last leaves as %s", strings.Join(sent, "\n"), got)
			}
		}
	}
}
