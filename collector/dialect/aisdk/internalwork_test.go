package aisdk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/aisdk"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

const (
	begin, end         = `{"type":"start","messageId":"m"}`, `{"type":"finish"}`
	beginStep, endStep = `{"type":"start-step"}`, `{"type":"finish-step"}`
	textStart, textEnd = `{"type":"text-start","id":"0"}`, `{"type":"text-end","id":"0"}`
	text               = `{"type":"text-delta","id":"0","delta":"secret"}`
	metadata           = `{"type":"internal:x"}`
)

// inMetadata adds the metadata of an internal message to a start or finish.
func inMetadata(frame string) string {
	return strings.TrimSuffix(frame, "}") + `,"messageMetadata":` + metadata + `}`
}

// broken makes a frame unreadable.
func broken(frame string) string { return strings.TrimSuffix(frame, "}") + `,"z":1,"Z":2}` }

func inKind(frame string) string { return strings.TrimSuffix(frame, "}") + `,"kind":"internal:x"}` }

// TestInternalWork begins messages and steps that call themselves internal. The marked frames of hidden are withheld, all others leave.
func TestInternalWork(t *testing.T) {
	parts := []string{
		textStart, text, textEnd, `{"type":"reasoning-start","id":"r"}`, `{"type":"reasoning-delta","id":"r","delta":"secret"}`, `{"type":"tool-input-start","toolCallId":"e","toolName":"f"}`,
		`{"type":"tool-input-delta","toolCallId":"e","inputTextDelta":"secret"}`, started, result, `{"type":"tool-output-error","toolCallId":"x","errorText":"secret"}`, `{"type":"source-url","sourceId":"s","url":"https://secret"}`,
		`{"type":"file","url":"data:secret","mediaType":"a/b"}`, `{"type":"data-x","id":"q","data":1}`, `{"type":"message-metadata","messageMetadata":{}}`, `{"type":"custom","kind":"a.b"}`,
		`{"type":"steering-message","id":"s","parts":[]}`, `{"type":"reset-step"}`,
	}
	shown := []string{textStart, text, textEnd}
	all := func(lists ...[]string) (all []string) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	hide := func(list ...string) (hidden []string) {
		for _, frame := range list {
			hidden = append(hidden, "hidden "+frame)
		}
		return hidden
	}
	open := []string{begin, beginStep, textStart, `{"type":"tool-input-available","toolCallId":"d","toolName":"f","input":1}`, `{"type":"tool-approval-request","approvalId":"a","toolCallId":"d"}`}
	goesOn := []string{text, `{"type":"tool-approval-response","approvalId":"a","approved":true}`, other, textEnd}
	for name, sent := range map[string][]string{
		"a message":              all(hide(inMetadata(begin), beginStep), hide(parts...), hide(endStep, beginStep, textStart, text, end), []string{"[DONE]", begin}, shown),
		"a message, by its kind": all(hide(inKind(begin)), hide(parts...), hide(end)),
		"the next message":       all(hide(inMetadata(begin), textStart, text, end), []string{begin}, shown),
		"the next message, without the end of this": all(hide(inMetadata(begin), textStart, text, begin), hide(shown...)),
		"two messages at once":                      all(hide(inMetadata(begin), begin, beginStep, beginStep, textStart, text, endStep, end, beginStep, text, endStep, end), []string{begin}, shown),
		"a message beside one that goes on":         all(open, hide(inMetadata(begin), end, begin), goesOn, hide(started), hide(end, end), []string{begin}, shown),
		"a message within one without steps":        all([]string{begin}, hide(inMetadata(begin), beginStep, textStart, text, endStep, end), []string{begin, beginStep}, shown),
		"a message whose end is marked":             all([]string{begin}, hide(inMetadata(begin), textStart, text, inMetadata(end)), shown),
		"a message in merged streams":               all(open, hide(inMetadata(begin), beginStep), goesOn, hide(end, started, result, `{"type":"tool-approval-response","approvalId":"b","approved":true}`)),
		"a call with the ID of another":             all(open, hide(inMetadata(begin), strings.ReplaceAll(started, `"c"`, `"d"`), other)),
		"a streamed call with the ID of another":    all(open, hide(inMetadata(begin), `{"type":"tool-input-start","toolCallId":"d","toolName":"f"}`, `{"type":"tool-input-delta","toolCallId":"d","inputTextDelta":"secret"}`)),
		"a call that goes on":                       all([]string{begin, `{"type":"tool-input-start","toolCallId":"d","toolName":"f"}`}, hide(inMetadata(begin)), []string{strings.ReplaceAll(started, `"c"`, `"d"`), other}),
		"a call with the ID of one that has ended":  all([]string{begin, started, result}, hide(inKind(beginStep), ask, strings.ReplaceAll(result, "available", "error"), result)),
		"a call with another tool":                  all([]string{begin, `{"type":"tool-input-start","toolCallId":"c","toolName":"g"}`}, hide(inKind(beginStep), started)),
		"pieces for a call that runs":               all([]string{begin, started}, hide(inKind(beginStep), `{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"secret"}`)),
		"the result of a refused call": all([]string{begin, `{"type":"tool-input-error","toolCallId":"c","toolName":"f","errorText":"x"}`}, hide(inKind(beginStep)),
			[]string{`{"type":"tool-output-error","toolCallId":"c","errorText":"x"}`}, hide(`{"type":"tool-output-error","toolCallId":"c","errorText":"secret"}`)),
		"a step":                                     all([]string{begin}, hide(inKind(beginStep)), hide(parts...), hide(endStep), []string{beginStep}, shown, hide(result), []string{endStep, end}),
		"a step whose end is missing":                all([]string{begin}, hide(inKind(beginStep), textStart, text, beginStep), hide(shown...)),
		"two steps at once":                          all([]string{begin}, hide(inKind(beginStep), beginStep, endStep, textStart, text, beginStep, endStep, endStep), []string{beginStep}, shown),
		"a step in merged streams":                   all(open, hide(inKind(beginStep), endStep, textStart), []string{other}, hide(endStep), shown),
		"a marked end in merged streams":             all(open, hide(inKind(beginStep), `{"type":"text-start","id":"1"}`, inKind(endStep)), goesOn, shown),
		"the step of an earlier message":             all([]string{begin}, hide(inKind(beginStep), begin), hide(shown...)),
		"the ended step of an earlier message":       all([]string{begin, beginStep, strings.ReplaceAll(started, `"c"`, `"d"`), other}, hide(inKind(beginStep), endStep), []string{begin}, shown),
		"an unreadable message":                      all(hide(broken(inMetadata(begin)), beginStep), hide(parts...), hide(endStep, end), []string{begin}, shown),
		"an unreadable message, escaped":             all(hide(broken(strings.ReplaceAll(inMetadata(begin), "start", `\u0073tart`))), hide(shown...)),
		"an unreadable step":                         all([]string{begin}, hide(broken(inKind(beginStep))), hide(parts...), hide(endStep), []string{beginStep}, shown),
		"an unreadable message that is not internal": all(hide(broken(begin)), []string{beginStep}, shown),
		"an unreadable text":                         all([]string{begin}, hide(broken(`{"type":"text-delta","id":"9","delta":"internal"}`)), shown),
		"arguments that differ by case":              {begin, `{"type":"tool-input-available","toolCallId":"e","toolName":"f","input":{"Q":1,"q":2}}`},
		"a result after an internal step": all([]string{begin}, hide(inKind(beginStep), started, endStep), hide(`{"type":"tool-approval-request","approvalId":"b","toolCallId":"c"}`, `{"type":"tool-approval-response","approvalId":"b","approved":true}`,
			result)),
	} {
		frames := make([]string, len(sent))
		for i, frame := range sent {
			frames[i] = strings.TrimPrefix(frame, "hidden ")
		}
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			for i, got := range leavesOf(t, newAnswer(), policy, frames...) {
				if isHidden := strings.HasPrefix(sent[i], "hidden "); (got == withheld) != isHidden {
					t.Errorf("%s, %s: frame %d, %s, is %s", name, policy, i, frames[i], got)
				}
			}
		}
	}
}

// TestErrorsOfInternalWork ends an answer in internal work. The client learns of it, but not why.
func TestErrorsOfInternalWork(t *testing.T) {
	for sent, want := range map[string]string{`{"type":"error","errorText":"secret"}`: `{"type":"error","errorText":"the run failed"}`, `{"type":"abort","reason":"secret"}`: `{"type":"abort"}`, "[DONE]": unchanged} {
		if got := last(leaves(t, event.PolicyClient, inMetadata(begin), sent)); got != want {
			t.Errorf("%s leaves as %s", sent, got)
		}
		if got := last(leaves(t, event.PolicyClient, begin, sent)); got != unchanged {
			t.Errorf("in another answer, %s leaves as %s", sent, got)
		}
	}
}

// TestFactsOfInternalWork checks that calls of an internal message are reported like others.
func TestFactsOfInternalWork(t *testing.T) {
	facts := func(begin string) (calls []string) {
		all := strings.Join([]string{begin, beginStep, `{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`, started, result, `{"type":"tool-input-error","toolCallId":"e","toolName":"f","errorText":"x"}`,
			strings.ReplaceAll(started, `"c"`, `"g"`), `{"type":"tool-output-error","toolCallId":"g","errorText":"x"}`, strings.ReplaceAll(started, `"c"`, `"h"`), `{"type":"tool-output-denied","toolCallId":"h"}`, endStep, end, "[DONE]"}, "\n\ndata: ")
		for line := range strings.SplitSeq(dialecttest.Facts(aisdk.Dialect{}, newAnswer(), "data: "+all+"\n\n"), "\n") {
			if strings.HasPrefix(line, " ") && strings.TrimSpace(line) != "other" {
				calls = append(calls, strings.TrimSpace(line))
			}
		}
		return calls
	}
	if got, want := strings.Join(facts(inMetadata(begin)), "\n"), strings.Join(facts(begin), "\n"); got != want {
		t.Errorf("the facts are\n%s\nwant\n%s", got, want)
	}
}
