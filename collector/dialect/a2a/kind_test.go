package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestKindsOfParts lets no part leave to the public whose kind the protocol does not have, and takes a kind that says so for a thought.
func TestKindsOfParts(t *testing.T) {
	for kind, thought := range map[string]bool{
		`"kind":"thought"`: true, `"kind":"reasoning"`: true, `"kind":"Thinking"`: true, `"type":"reasoning"`: true, `"Kind":"thought"`: true,
		`"kind":"text","type":"thought"`: true, `"kind":"note"`: false, `"kind":"Text"`: false, `"kind":5`: false, `"kind":{}`: false,
		`"kind":["text"]`: false, `"type":"note"`: false,
	} {
		part := `{` + kind + `,"text":"secret"}`
		for name, sent := range map[string]string{
			"a message":   envelopes["0.3"]("message", "", `"messageId":"m","role":"agent","parts":[`+part+`,`+hi+`]`),
			"an artifact": envelopes["0.3"]("artifact-update", "", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`,`+part+`]}`),
			"a last word": envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+hi+`,`+part+`]}}`),
			"a question":  envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","content":[`+hi+`,`+part+`]}}`),
			"a snapshot":  envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+part+`,`+hi+`]}]`),
		} {
			for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} {
				got := leave(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, "data: "+sent+"\n\n")[0]
				if strings.Contains(got, "secret") || !strings.Contains(got, `"hi"`) {
					t.Errorf("%s, %s: the public gets %s", name, kind, got)
				}
			}
			want := sent
			if thought {
				want = stays + ": setting"
			}
			if got := leave(t, filter.Settings{Policy: event.PolicyClient}, "data: "+sent+"\n\n")[0]; got != want {
				t.Errorf("%s, %s: without thoughts the client gets %s", name, kind, got)
			}
			if got := leave(t, client, "data: "+sent+"\n\n")[0]; got != sent {
				t.Errorf("%s, %s: the client gets %s", name, kind, got)
			}
		}
	}
}

// TestKindsAroundParts takes for a thought what stands in a message, or an artifact, that calls itself one.
func TestKindsAroundParts(t *testing.T) {
	for _, sent := range []string{
		envelopes["1.0"]("", "message", `"kind":"thought","messageId":"m","role":"agent","parts":[`+secret+`]`),
		envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"type":"reasoning","artifactId":"a","parts":[`+secret+`]}`),
		envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"completed","message":{"kind":"thought","messageId":"m","role":"agent","parts":[`+secret+`]}}`),
	} {
		if got := leave(t, public, "data: "+sent+"\n\n")[0]; strings.Contains(got, "secret") {
			t.Errorf("the public gets %s", got)
		}
	}
}
