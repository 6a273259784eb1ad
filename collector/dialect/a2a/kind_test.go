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
