package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestKindsOfParts checks that the policy public withholds parts of unknown kinds, and that a part counts as a
// thought if its kind says so.
func TestKindsOfParts(t *testing.T) {
	for kind, thought := range map[string]bool{
		`"kind":"thought"`: true, `"kind":"reasoning"`: true, `"kind":"Thinking"`: true, `"type":"reasoning"`: true, `"Kind":"thought"`: true,
		`"kind":"text","type":"thought"`: true, `"kind":"note"`: false, `"kind":"Text"`: false, `"kind":5`: false, `"kind":{}`: false,
		`"kind":["text"]`: false, `"type":"note"`: false,
	} {
		part := `{` + kind + `,"text":"secret"}`
		for name, sent := range map[string]string{
			"a message":      envelopes["0.3"]("message", "", `"messageId":"m","role":"agent","parts":[`+part+`,`+hi+`]`),
			"an artifact":    envelopes["0.3"]("artifact-update", "", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`,`+part+`]}`),
			"a final status": envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+hi+`,`+part+`]}}`),
			"a question":     envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","content":[`+hi+`,`+part+`]}}`),
			"a snapshot":     envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+part+`,`+hi+`]}]`),
		} {
			for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} {
				got := filterStream(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, "data: "+sent+"\n\n")[0]
				if strings.Contains(got, "secret") || !strings.Contains(got, `"hi"`) {
					t.Errorf("%s, %s: under public, the output is %s", name, kind, got)
				}
			}
			want := sent
			if thought {
				want = withheld + ": setting"
			}
			if got := filterStream(t, filter.Settings{Policy: event.PolicyClient}, "data: "+sent+"\n\n")[0]; got != want {
				t.Errorf("%s, %s: under client without thoughts, the output is %s", name, kind, got)
			}
			if got := filterStream(t, client, "data: "+sent+"\n\n")[0]; got != sent {
				t.Errorf("%s, %s: under client, the output is %s", name, kind, got)
			}
		}
	}
}

// TestKindsAroundParts checks that the parts of a message or artifact whose kind means a thought are thoughts.
func TestKindsAroundParts(t *testing.T) {
	for _, sent := range []string{
		envelopes["1.0"]("", "message", `"kind":"thought","messageId":"m","role":"agent","parts":[`+secret+`]`),
		envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"type":"reasoning","artifactId":"a","parts":[`+secret+`]}`),
		envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"completed","message":{"kind":"thought","messageId":"m","role":"agent","parts":[`+secret+`]}}`),
	} {
		if got := filterStream(t, public, "data: "+sent+"\n\n")[0]; strings.Contains(got, "secret") {
			t.Errorf("under public, the output is %s", got)
		}
	}
}

// TestCodes checks that the policy public lets out states, kinds and codes only if they are codes, because an agent may write anything
// into them.
func TestCodes(t *testing.T) {
	call := strings.Replace(called, "function_call", "%", 1)
	for _, c := range []struct{ kind, wrapper, sent string }{
		{"status-update", "statusUpdate", ids + `,"status":{"state":"%"},"final":true`},
		{"task", "task", `"id":"t","contextId":"c","status":{"state":"%"}`},
		{"status-update", "statusUpdate", status("completed", `{"kind":"%","messageId":"m","role":"agent","parts":[`+hi+`]}`)},
		{"message", "message", `"messageId":"m","role":"agent","parts":[` + called + `,` + call + `]`},
	} {
		for name, wrap := range envelopes {
			for text, leaves := range map[string]bool{"paused": true, "TASK_STATE_PAUSED": true, "secret words": false, "secret: 1": false, strings.Repeat("secret", 20): false} {
				sent := strings.Replace(wrap(c.kind, c.wrapper, c.sent), "%", text, 1)
				if got := filterStream(t, public, "data: "+sent+"\n\n")[0]; strings.Contains(got, text) && !leaves {
					t.Errorf("%s: under public, filtering %s gives %s", name, sent, got)
				}
			}
		}
	}
	for _, failure := range []string{`{"error":{"code":"secret words","message":"x"}}`, `{"code":5,"status":"secret words","message":"x"}`, `{"error":{"code":5,"status":"secret words","message":"x"}}`} {
		if got := filterStream(t, public, "data: "+envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"working"}`)+"\n\ndata: "+failure+"\n\n"); strings.Contains(got[1], "secret") {
			t.Errorf("under public, filtering %s gives %s", failure, got[1])
		}
	}
	if got := filterStream(t, public, "data: "+envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"paused"}`)+"\n\n")[0]; !strings.Contains(got, "paused") {
		t.Errorf("a state that is not known yet leaves as %s", got)
	}
}

// TestTextsInMetadata checks that texts in metadata that are no internal JSON leave.
func TestTextsInMetadata(t *testing.T) {
	for _, member := range []string{
		`"x":"\"Internal\" is a word"`, `"x":"[internal] a\\b"`, `"x":"{\"a\":\"internal\"}"`, `"x":"\"internal\""`, `"x":"internal"`, `"x":"["`,
		`"adk_error_message":"{\"error\":{\"type\":\"internal_server_error\"}}"`, `"adk_custom_metadata":{"x":"{\"kind\":\"k\"}"}`,
		`"adk_actions":{"stateDelta":{"ticket":{"type":"internal"},"answer":"{\"kind\":\"internal medicine\"}"}}`,
	} {
		sent := envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"working"},"metadata":{`+member+`}`)
		if got := filterStream(t, client, "data: "+sent+"\n\n"); got[0] != sent {
			t.Errorf("%s becomes %s", sent, got[0])
		}
	}
}
