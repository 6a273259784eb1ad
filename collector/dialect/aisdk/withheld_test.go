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
	internal := `{"type":"tool-output-available","toolCallId":"c","output":{"type":"internal:x"},"preliminary":true}`
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
