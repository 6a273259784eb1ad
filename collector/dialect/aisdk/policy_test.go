package aisdk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/aisdk"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// withheld stands for what leaves of a withheld frame, and unchanged for the whole frame.
const withheld, unchanged = "withheld", "unchanged"

// TestPolicies sends each type of chunk. The public gets nothing named secret.
func TestPolicies(t *testing.T) {
	for sent, public := range map[string]string{
		`{"type":"start","messageId":"m","messageMetadata":{"x":"secret"}}`:        `{"type":"start","messageId":"m"}`,
		`{"type":"finish","finishReason":"stop","messageMetadata":{"x":"secret"}}`: `{"type":"finish","finishReason":"stop"}`,
		`{"type":"finish","finishReason":"secret"}`:                                `{"type":"finish"}`,
		`{"type":"abort","reason":"secret"}`:                                       `{"type":"abort"}`,
		`{"type":"error","errorText":"secret"}`:                                    `{"type":"error","errorText":"the run failed"}`,
		`{"type":"start-step"}`:                                                    `{"type":"start-step"}`,
		`{"type":"reset-step"}`:                                                    `{"type":"reset-step"}`,
		`[DONE]`:                                                                   `[DONE]`,
		`{"type":"text-delta","id":"open","delta":"Hello","providerMetadata":{"x":"secret"}}`:                                 `{"type":"text-delta","id":"open","delta":"Hello"}`,
		`{"type":"text-end","id":"open","citations":["secret",{"source":{"id":"secret","url":"secret"}}]}`:                    `{"type":"text-end","id":"open"}`,
		`{"type":"reasoning-delta","id":"think","delta":"secret"}`:                                                            withheld,
		`{"type":"reasoning-end","id":"think"}`:                                                                               withheld,
		`{"type":"reasoning-file","url":"data:secret","mediaType":"text/plain"}`:                                              withheld,
		`{"type":"tool-input-start","toolCallId":"c","toolName":"f","title":"secret","toolMetadata":{"x":"secret"}}`:          `{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`,
		`{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"secret"}`:                                              withheld,
		`{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":{"x":"secret"},"dynamic":true}`:               `{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":{},"dynamic":true}`,
		`{"type":"tool-input-error","toolCallId":"c","toolName":"f","input":"secret","errorText":"secret"}`:                   `{"type":"tool-input-error","toolCallId":"c","toolName":"f","input":{},"errorText":"the tool failed"}`,
		`{"type":"tool-output-available","toolCallId":"c","output":["secret"],"preliminary":true}`:                            `{"type":"tool-output-available","toolCallId":"c","output":{},"preliminary":true}`,
		`{"type":"tool-output-error","toolCallId":"c","errorText":"secret"}`:                                                  `{"type":"tool-output-error","toolCallId":"c","errorText":"the tool failed"}`,
		`{"type":"tool-output-denied","toolCallId":"c","reason":"secret"}`:                                                    `{"type":"tool-output-denied","toolCallId":"c"}`,
		`{"type":"tool-approval-request","approvalId":"a","toolCallId":"c","signature":"secret","inputSchemaInput":"secret"}`: `{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}`,
		`{"type":"tool-approval-response","approvalId":"a","approved":true,"reason":"secret"}`:                                `{"type":"tool-approval-response","approvalId":"a","approved":true}`,
		`{"type":"source-url","sourceId":"s","url":"https://example.org","title":"T","providerMetadata":{"x":"secret"}}`:      `{"type":"source-url","sourceId":"s","url":"https://example.org","title":"T"}`,
		`{"type":"source-document","sourceId":"s","mediaType":"text/plain","title":"T","filename":"f.txt"}`:                   `{"type":"source-document","sourceId":"s","mediaType":"text/plain","title":"T","filename":"f.txt"}`,
		`{"type":"file","url":"data:secret","mediaType":"text/plain"}`:                                                        `{"type":"file","url":"data:,","mediaType":"text/plain"}`,
		`{"type":"data-secret","id":"secret","data":{"x":"secret"}}`:                                                          withheld,
		`{"type":"data-secret","data":"secret","transient":true}`:                                                             withheld,
		`{"type":"message-metadata","messageMetadata":{"x":"secret"}}`:                                                        withheld,
		`{"type":"custom","kind":"secret.x"}`:                                                                                 withheld,
		`{"type":"steering-message","id":"secret","parts":[{"type":"text","text":"secret"}]}`:                                 withheld,
	} {
		open := []string{`{"type":"text-start","id":"open"}`, `{"type":"reasoning-start","id":"think"}`, `{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`, sent}
		if got := last(leaves(t, event.PolicyPublic, open...)); got != public || strings.Contains(got, "secret") {
			t.Errorf("%s: the public gets %s, want %s", sent, got, public)
		}
		if got := last(leaves(t, event.PolicyClient, open...)); got != unchanged {
			t.Errorf("%s: the client gets %s", sent, got)
		}
	}
}

// TestInternal sends what calls itself internal. What continues it is withheld too.
func TestInternal(t *testing.T) {
	for _, sent := range [][]string{
		{`{"type":"internal:start-step"}`}, {`{"type":"surprise"}`}, {`{"Type":"start-step"}`}, {`{"type":["start-step"]}`},
		{`{"type":"data-internal:x","data":1}`}, {`{"type":"data-INTERNAL","data":1}`}, {`{"type":"data-x","data":{"type":"internal:x"}}`},
		{`{"type":"data-x","data":{"type":"Data-Internal-x"}}`}, {`{"type":"data-x","data":{"role":"assistant","parts":[{"type":"data-internal","data":1}]}}`}, {`{"type":"data-x","data":{"x":[{"y":{"kind":"Internal:x"}}]}}`},
		{`{"type":"start","messageId":"m","messageMetadata":{"x":{"kind":"internal"}}}`}, {`{"type":"start-step","rawEvent":{"type":"internal:x"}}`},
		{`{"type":"message-metadata","messageMetadata":{"type":"internal:x"}}`}, {`{"type":"custom","kind":"internal.x"}`},
		{`{"type":"start-step","citations":[{"source":{"providerMetadata":{"x":{"type":"internal:x"}}}}]}`},
		{`{"type":"start-step","name":"internal:x"}`}, {`internal:x {"type":"start-step"}`},
		{`{"type":"text-start","id":"t","kind":"internal"}`, `{"type":"text-delta","id":"t","delta":"x"}`, `{"type":"text-end","id":"t"}`},
		{`{"type":"reasoning-start","id":"t","kind":"internal"}`, `{"type":"reasoning-delta","id":"t","delta":"x"}`, `{"type":"reasoning-end","id":"t"}`},
		{`{"type":"internal:surprise"}`, `{"type":"text-delta","id":"t","delta":"x"}`}, {`{"type":`, `{"type":"reasoning-end","id":"t"}`}, // the start may have been in it
		{`{"type":"text-start","id":7,"kind":"internal"}`, `{"type":"text-delta","id":"7","delta":"x"}`}, // the same to a lenient reader
		{`{"type":"text-start","kind":"internal"}`, `{"type":"text-delta","id":"t","delta":"x"}`},        // its ID may be any
		{`{"type":"tool-input-start","toolCallId":"c","toolName":"f","kind":"internal"}`, `{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"x"}`,
			`{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":1}`, `{"type":"tool-approval-request","toolCallId":"c","approvalId":"a"}`,
			`{"type":"tool-output-available","toolCallId":"c","output":1}`, `{"type":"tool-output-error","toolCallId":"c","errorText":"x"}`, `{"type":"tool-output-denied","toolCallId":"c"}`},
		{`{"type":"surprise","kind":"internal"}`, `{"type":"tool-output-available","toolCallId":"c","output":1}`}, // the start may have been in it
		{`{"type":`, `{"type":"tool-output-available","toolCallId":"c","output":1}`},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			for i, got := range leaves(t, policy, sent...) {
				if got != withheld {
					t.Errorf("%s: %s leaves as %s", policy, sent[i], got)
				}
			}
		}
	}
	// A call of an earlier answer continues here, and a text may start again.
	again := []string{
		`{"type":"tool-output-available","toolCallId":"c","output":{"type":"internal","x":{"kind":"internal:x"}},"preliminary":true}`, `{"type":"text-start","id":"t"}`, `{"type":"text-end","id":"t"}`, `{"type":"text-start","id":"t"}`,
	}
	if diff := cmp.Diff([]string{unchanged, unchanged, unchanged, unchanged}, leaves(t, event.PolicyClient, again...)); diff != "" {
		t.Error(diff)
	}
}

// TestInternalParts sends a user's message and a question with parts that call themselves internal.
func TestInternalParts(t *testing.T) {
	for _, part := range []string{`{"type":"text","text":"x","providerMetadata":{"a":{"type":"internal:x"}}}`, `{"type":"internal:text","text":"x"}`, `{"type":"data-internal","data":"x"}`, `{"type":"text","text":"x","kind":"internal"}`} {
		if got := last(leaves(t, event.PolicyClient, `{"type":"steering-message","id":"s","parts":[{"type":"text","text":"y"},`+part+`]}`)); got != withheld {
			t.Errorf("%s leaves as %s", part, got)
		}
		ask := `{"type":"tool-approval-request","approvalId":"a","toolCallId":"d","approvalDescriptor":` + part + `}`
		if got := leaves(t, event.PolicyClient, strings.ReplaceAll(started, `"c"`, `"d"`), ask, `{"type":"tool-approval-response","approvalId":"a","approved":true}`); got[1] != withheld || got[2] != withheld {
			t.Errorf("after a question with %s this leaves: %s", part, got)
		}
	}
}

// TestTooManyParts opens more texts than are remembered: the rest is withheld. Calls leave.
func TestTooManyParts(t *testing.T) {
	const limit = 64
	for kind, want := range map[string]string{"text": withheld, "reasoning": withheld, "tool-input": unchanged} {
		var sent []string
		for n := range limit + 1 {
			sent = append(sent, fmt.Sprintf(`{"type":"%s-start","id":"%d","toolCallId":"%d","toolName":"f"}`, kind, n, n))
		}
		sent = append(sent, `{"type":"`+kind+`-delta","id":"64","toolCallId":"64","delta":"x","inputTextDelta":"x"}`)
		got := leaves(t, event.PolicyClient, sent...)
		if got[limit-1] != unchanged || got[limit] != want || got[limit+1] != want {
			t.Errorf("%s: number %d is %s, the next is %s, its piece is %s", kind, limit, got[limit-1], got[limit], got[limit+1])
		}
	}
}

// TestManyCalls sends more calls than are remembered, each of which ends: all leave and are reported, but none leaves that was withheld.
func TestManyCalls(t *testing.T) {
	begun, ended := `{"type":"tool-input-available","toolCallId":"%d","toolName":"f"}`, `{"type":"tool-output-available","toolCallId":"%d","output":1}`
	hidden := `{"type":"tool-output-available","toolCallId":"h","output":1,"kind":"internal"}`
	sent := []string{hidden}
	for n := range 2000 {
		sent = append(sent, fmt.Sprintf(begun, n), fmt.Sprintf(ended, n))
	}
	got := leavesOf(t, newAnswer(), event.PolicyClient, append(sent, `{"type":"tool-input-available","toolCallId":"h","toolName":"f"}`)...)
	for i, frame := range got {
		if isHidden := i == 0 || i == len(got)-1; (frame == unchanged) == isHidden {
			t.Fatalf("frame %d is %s", i, frame)
		}
	}
	if n := len(factsOf(sent...)); n != 1+2*2000 {
		t.Errorf("%d facts, want two of each call and one of the first result", n)
	}
}

// TestMergedStreams sends two steps at once, as an application that merges streams: all parts leave, whichever step finishes.
func TestMergedStreams(t *testing.T) {
	sent := []string{
		`{"type":"start-step"}`, `{"type":"text-start","id":"a"}`, `{"type":"reasoning-start","id":"t"}`, `{"type":"start-step"}`, `{"type":"text-start","id":"b"}`, `{"type":"text-delta","id":"a","delta":"1"}`,
		`{"type":"text-end","id":"a"}`, `{"type":"finish-step"}`, `{"type":"text-delta","id":"b","delta":"2"}`, `{"type":"reasoning-end","id":"t"}`, `{"type":"text-end","id":"b"}`,
	}
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		for i, frame := range leaves(t, policy, sent...) {
			if isThought := strings.Contains(sent[i], "reasoning"); (frame == withheld) != (isThought && policy == event.PolicyPublic) {
				t.Errorf("%s: %s is %s", policy, sent[i], frame)
			}
		}
	}
}

// TestUnendedParts sends an answer of many steps that does not end its texts: all leave.
func TestUnendedParts(t *testing.T) {
	var sent []string
	for n := range 200 {
		sent = append(sent, `{"type":"start-step"}`, fmt.Sprintf(`{"type":"text-start","id":"%d"}`, n), fmt.Sprintf(`{"type":"text-delta","id":"%d","delta":"x"}`, n), `{"type":"finish-step"}`)
	}
	for i, frame := range leaves(t, event.PolicyClient, sent...) {
		if frame != unchanged {
			t.Fatalf("frame %d is %s", i, frame)
		}
	}
}

// TestForgottenParts continues parts after many others have begun without an end, as in merged streams. The rest of each leaves, but no
// text is reported whole without its beginning.
func TestForgottenParts(t *testing.T) {
	for _, kind := range []string{"text", "reasoning"} {
		frame := func(what string, id int) string {
			return fmt.Sprintf(`{"type":"%s-%s","id":"%d","delta":"x"}`, kind, what, id)
		}
		sent := []string{beginStep}
		for id := range 16 {
			sent = append(sent, frame("start", id), frame("delta", id))
		}
		sent = append(sent, endStep, beginStep, frame("start", 99))
		rest := []string{frame("delta", 3), frame("end", 3)}
		f := filter.New(filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed})
		n := 0
		eachOf(t, newAnswer(), append(sent, rest...), func(b *event.Batch) {
			if n++; n <= len(sent) {
				return
			}
			if _, why := f.Apply(b); why != filter.Passed {
				t.Errorf("%s: frame %d does not leave: %s", kind, n, why)
			}
			for _, e := range b.Events {
				if e.Kind == event.KindText && !b.Partial {
					t.Errorf("frame %d reports a whole text", n)
				}
			}
		})
		if got := last(leavesOf(t, newAnswer(), event.PolicyPublic, append(sent, rest[1], rest[0])...)); got != withheld {
			t.Errorf("%s: a piece after the end leaves as %s", kind, got)
		}
	}
}

// TestBrokenErrors sends frames that cannot be read. A client learns of an error, which ends the answer, and of nothing else.
func TestBrokenErrors(t *testing.T) {
	for sent, isError := range map[string]bool{
		`{"type":"error","errorText":"said "no" and died"}`:                                                   true,
		`{"type": "error", "errorText": "said "no" and died"}`:                                                true,
		`{"type":"error","errorText":"x","a":1,"A":2}`:                                                        true,
		`{"type":"tool-output-error","toolCallId":"c","errorText":"said "no""}`:                               false,
		`{"type":"tool-output-error","toolCallId":"c","errorText":"x","other":{"Id":1,"id":2}}`:               false,
		`{"type":"tool-output-available","toolCallId":"c","output":{"errorText":"none","a":1,"a":2}}`:         false,
		`{"type":"tool-input-error","toolCallId":"c","toolName":"f","errorText":"said "no""}`:                 false,
		`{"type":"tool-output-available","toolCallId":"c","output":{"type":"error","errorText":"said "no""}}`: false,
	} {
		each(t, []string{sent}, func(b *event.Batch) {
			if b.Rejected == "" || (len(b.Events) == 1 && b.Events[0].Kind == event.KindError) != isError {
				t.Errorf("%s is rejected as %q, with %d events", sent, b.Rejected, len(b.Events))
			}
		})
		want := []string{"final", "run_ended"}
		if isError {
			want = []string{"error agent_error", "run_ended agent_error"}
		}
		if diff := cmp.Diff(want, factsOf(begin, beginStep, sent, endStep, end, "[DONE]")); diff != "" {
			t.Errorf("%s: %s", sent, diff)
		}
	}
	if !strings.Contains(aisdk.Dialect{}.Table().FailureData, `"errorText"`) {
		t.Error("the frame that replaces an error is none")
	}
}

func last(all []string) string { return all[len(all)-1] }

// leaves returns what leaves of each frame.
func leaves(t *testing.T, policy event.Policy, sent ...string) (got []string) {
	t.Helper()
	return leavesOf(t, &event.Stream{}, policy, sent...)
}

// newAnswer returns the stream of a request for an answer to a new message.
func newAnswer() *event.Stream {
	return &event.Stream{Identity: event.Identity{RequestDialect: "aisdk"}}
}

// leavesOf returns what leaves of each frame of a stream.
func leavesOf(t *testing.T, s *event.Stream, policy event.Policy, sent ...string) (got []string) {
	t.Helper()
	f := filter.New(filter.Settings{Policy: policy})
	if policy == event.PolicyClient {
		f = filter.New(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed})
	}
	eachOf(t, s, sent, func(b *event.Batch) {
		frame, why := f.Apply(b)
		switch {
		case why != filter.Passed:
			got = append(got, withheld)
		case policy == event.PolicyClient && string(frame.Data) == string(b.Frame.Data):
			got = append(got, unchanged)
		default:
			got = append(got, string(frame.Data))
		}
	})
	return got
}

// each decodes frames, given as data, or as an event name, a blank and data.
func each(t *testing.T, sent []string, do func(*event.Batch)) {
	t.Helper()
	eachOf(t, &event.Stream{}, sent, do)
}

func eachOf(t *testing.T, stream *event.Stream, sent []string, do func(*event.Batch)) {
	t.Helper()
	var wire strings.Builder
	for _, s := range sent {
		if name, data, named := strings.Cut(s, " {"); named && !strings.HasPrefix(s, "{") {
			fmt.Fprintf(&wire, "event: %s\ndata: {%s\n\n", name, data)
			continue
		}
		fmt.Fprintf(&wire, "data: %s\n\n", s)
	}
	c := collector.New([]dialect.Dialect{aisdk.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	decoding := c.Decode(stream, collector.Input{Reader: strings.NewReader(wire.String()), ReceivedAt: func() time.Time { return time.Time{} }}, "aisdk")
	for range sent {
		b, err := decoding.Next()
		if err != nil {
			t.Fatal(err)
		}
		do(b)
	}
}
