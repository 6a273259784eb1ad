package aisdk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestMarksInTypes marks each chunk of a stream in its type. The same leaves as with a mark in another member: not the chunk itself, nor
// what belongs to it.
func TestMarksInTypes(t *testing.T) {
	sent := []string{
		begin, beginStep, textStart, text, text, textEnd, `{"type":"reasoning-start","id":"r"}`, `{"type":"reasoning-delta","id":"r","delta":"secret"}`, `{"type":"reasoning-delta","id":"r","delta":"secret"}`, `{"type":"reasoning-end","id":"r"}`,
		`{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`, `{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"secret"}`, started, `{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}`, `{"type":"tool-approval-response","approvalId":"a","approved":true}`, result,
		`{"type":"source-url","sourceId":"s","url":"https://secret"}`, `{"type":"source-url","sourceId":"s","url":"https://secret"}`, `{"type":"file","url":"data:secret","mediaType":"a/b"}`, `{"type":"file","url":"data:secret","mediaType":"a/b"}`,
		`{"type":"data-X","id":"q","data":1}`, `{"type":"data-X","id":"q","data":2}`, endStep, beginStep, `{"type":"text-start","id":"1"}`, `{"type":"text-delta","id":"1","delta":"answer"}`, `{"type":"text-end","id":"1"}`, endStep, `{"type":"finish"}`, "[DONE]",
	}
	for i := range sent[:len(sent)-1] {
		by := func(mark string) []string {
			marked := slices.Clone(sent)
			marked[i] = strings.Replace(sent[i], `{"type":"`, mark, 1)
			return marked
		}
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			want := leaves(t, policy, by(`{"kind":"internal","type":"`)...)
			for _, mark := range []string{"internal-", "internal:", "Internal_", "internal"} {
				if got := leaves(t, policy, by(`{"type":"`+mark)...); !slices.Equal(got, want) {
					t.Errorf("under %s this leaves: %s\nof %s\nwant: %s", policy, strings.Join(got, "\n"), strings.Join(by(`{"type":"`+mark), "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
	if got := leaves(t, event.PolicyClient, begin, beginStep, `{"type":"internal-restart"}`, textStart, `{"type":"text-delta","id":"0","delta":"answer"}`); got[2] != withheld {
		t.Errorf("of an unknown internal chunk this leaves: %s", got)
	}
}
