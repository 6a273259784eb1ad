package aisdk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const (
	begin, end         = `{"type":"start","messageId":"m"}`, `{"type":"finish"}`
	beginStep, endStep = `{"type":"start-step"}`, `{"type":"finish-step"}`
	textStart, textEnd = `{"type":"text-start","id":"0"}`, `{"type":"text-end","id":"0"}`
	text               = `{"type":"text-delta","id":"0","delta":"secret"}`

	started = `{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":1}`
	result  = `{"type":"tool-output-available","toolCallId":"c","output":"secret"}`
	other   = `{"type":"tool-output-available","toolCallId":"d","output":"shown"}`
)

// inMetadata adds internal metadata to a start or finish.
func inMetadata(frame string) string {
	return strings.TrimSuffix(frame, "}") + `,"messageMetadata":{"type":"internal:x"}}`
}

func inKind(frame string) string { return strings.TrimSuffix(frame, "}") + `,"kind":"internal:x"}` }

// broken makes a frame unreadable.
func broken(frame string) string { return strings.TrimSuffix(frame, "}") + `,"z":1,"Z":2}` }

// hide says that frames must be withheld.
func hide(frames ...string) (hidden []string) {
	for _, frame := range frames {
		hidden = append(hidden, "hidden "+frame)
	}
	return hidden
}

// TestWithheld sends frames that call themselves internal or cannot be read. They are withheld with what continues them, and all others
// leave.
func TestWithheld(t *testing.T) {
	const (
		input, piece = `{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`, `{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"x"}`
		think        = `{"type":"reasoning-start","id":"r"}`
		data, source = `{"type":"data-x","id":"q","data":1}`, `{"type":"source-url","sourceId":"s","url":"https://x"}`
		unknown      = `{"type":"surprise","toolCallId":"c"}`
		failed       = `{"type":"error","errorText":"x"}`
	)
	shown := []string{textStart, text, textEnd}
	open := []string{begin, beginStep, textStart, strings.ReplaceAll(started, `"c"`, `"d"`)}
	for name, sent := range map[string][]string{
		"a text":                          slices.Concat(hide(inKind(textStart), text, textEnd), shown),
		"a thought":                       slices.Concat(hide(inKind(think), `{"type":"reasoning-delta","id":"r","delta":"x"}`, `{"type":"reasoning-end","id":"r"}`), []string{think}),
		"a thought with the ID of a text": slices.Concat([]string{textStart}, hide(inKind(`{"type":"reasoning-start","id":"0"}`)), []string{text}, hide(`{"type":"reasoning-delta","id":"0","delta":"x"}`), []string{textEnd}),
		"a call":                          slices.Concat([]string{begin}, hide(inKind(input), piece, started, ask, approve, result), open[1:], []string{other}),
		"a call that begins again":        hide(inKind(started), result, started, result),
		"a piece of a call":               slices.Concat([]string{input}, hide(inKind(piece), started, result)),
		"a question":                      slices.Concat([]string{started}, hide(inKind(ask), approve, result)),
		"a decision":                      slices.Concat([]string{started, ask}, hide(inKind(approve), approve), []string{result}),
		"a data part":                     slices.Concat([]string{data}, hide(inKind(data), data), []string{strings.Replace(data, `"q"`, `"r"`, 1)}),
		"a source":                        slices.Concat(hide(inKind(source)), []string{source}),
		"the next answer":                 slices.Concat(hide(inKind(started)), []string{"[DONE]", started, result}),

		"an unreadable text":        slices.Concat(hide(broken(textStart), text), shown, hide(strings.ReplaceAll(text, `"0"`, `"1"`))),
		"an unreadable call":        hide(broken(input), piece, started, result),
		"an unreadable piece":       slices.Concat([]string{input}, hide(broken(piece)), []string{piece, started, result}),
		"the result of one":         hide(broken(input), result),
		"a call after it":           slices.Concat(hide(broken(input)), []string{started, ask, approve, result, data, source}),
		"an unknown chunk":          slices.Concat(hide(unknown), []string{piece, result, data, source}),
		"an internal unknown chunk": slices.Concat(hide(inKind(unknown), piece, result), []string{data, source}),
		"an answer after it":        slices.Concat(hide(broken(textStart)), []string{"[DONE]", text}),
		"differences in arguments":  {`{"type":"tool-input-available","toolCallId":"e","toolName":"f","input":{"Q":1,"q":2}}`},
		"a frame without an object": slices.Concat(hide(`x`), []string{text}),

		"a message": slices.Concat(hide(inMetadata(begin), beginStep), hide(shown...), hide(input, piece, started, result, data, source, `{"type":"file","url":"data:x","mediaType":"a/b"}`,
			`{"type":"message-metadata","messageMetadata":{}}`, endStep, beginStep, endStep, end), []string{begin, beginStep}, shown, []string{endStep, end, "[DONE]"}),
		"a message whose end is marked": slices.Concat([]string{begin}, shown, hide(inMetadata(end)), []string{"[DONE]"}),
		"a message that fails":          slices.Concat(hide(inMetadata(begin), text), []string{failed, `{"type":"abort"}`, "[DONE]", text}),
		"a message beside another":      slices.Concat(open, hide(inMetadata(begin), beginStep, endStep, end, started), []string{text, other}, hide(result, endStep, end), []string{begin}),
		"a step":                        slices.Concat([]string{begin}, hide(inKind(beginStep)), hide(shown...), hide(started, result, endStep), []string{beginStep}, shown, hide(result), []string{endStep, end}),
		"a step beside another":         slices.Concat(open, hide(inKind(beginStep), started, endStep), []string{text, other}, hide(endStep), shown),
		"a step whose end is missing":   hide(inKind(beginStep), textStart, beginStep, text),

		"a tool with the name of a mark": {begin, strings.Replace(input, `"f"`, `"internal_x"`, 1), piece, strings.Replace(started, `"f"`, `"internal_x"`, 1), result},
		"a title with it":                {strings.Replace(input, `"toolName"`, `"title":"internal_x","toolName"`, 1)},
		"names in data":                  {`{"type":"data-x","id":"q","data":{"name":"internal_x","agent":"internal_x","step":"internal_x"}}`, `{"type":"message-metadata","messageMetadata":{"agent":"internal_x"}}`},
	} {
		frames := make([]string, len(sent))
		for i, frame := range sent {
			frames[i] = strings.TrimPrefix(frame, "hidden ")
		}
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			for i, got := range leavesOf(t, newAnswer(), policy, frames...) {
				if isHidden := strings.HasPrefix(sent[i], "hidden "); isHidden && got != withheld || !isHidden && got != unchanged && policy == event.PolicyClient {
					t.Errorf("%s, %s: frame %d, %s, is %s", name, policy, i, frames[i], got)
				}
			}
		}
	}
}

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

// TestReplacedData sends a part of the application's own that replaces one that was withheld.
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

// TestContinuedStreams continues an answer after its stream broke off. The client gets all of it, unless a setting excludes its kind. The public
// gets no text, because its start may have had a mark.
func TestContinuedStreams(t *testing.T) {
	for _, c := range []struct {
		sent string
		kind event.Kind
	}{
		{`{"type":"text-delta","id":"0","delta":"x"}`, event.KindText},
		{`{"type":"text-end","id":"0"}`, event.KindOther},
		{`{"type":"text-delta","id":"0","delta":"x","providerMetadata":{"google":{"thought":true}}}`, event.KindThought},
		{`{"type":"reasoning-delta","id":"0","delta":"x"}`, event.KindThought},
		{`{"type":"reasoning-end","id":"0"}`, event.KindThought},
		{`{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"x"}`, event.KindToolStarted},
	} {
		s := &event.Stream{Identity: event.Identity{JoinedRun: "r"}}
		if client, public := leavesOf(t, s, event.PolicyClient, c.sent)[0], leavesOf(t, s, event.PolicyPublic, c.sent)[0]; client != unchanged || public != withheld {
			t.Errorf("%s is %s for the client and %s for the public", c.sent, client, public)
		}
		f := filter.New(filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{c.kind}})
		eachOf(t, s, []string{c.sent}, func(b *event.Batch) {
			if _, why := f.Apply(b); why != filter.ReasonSetting {
				t.Errorf("without %s, %s leaves: %q", c.kind, c.sent, why)
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
