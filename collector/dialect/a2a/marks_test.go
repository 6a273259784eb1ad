package a2a_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMarks takes for a thought whatever any reader might, wherever it says so.
func TestMarks(t *testing.T) {
	marks := []string{
		`"adk_thought":true`, `"adk_thought":"true"`, `"adk_thought":"yes"`, `"adk_thought":1`, `"ADK_Thought":true`, `"ADK_THOUGHT":{"x":1}`,
		`"thought":true`, `"adk_\u200bthought":true`, `"ａdk_thought":true`, `"adk_thoughT":"x"`, `"adk:thought":true`,
	}
	text := func(metadata string) string { return `{"text":"secret","metadata":{` + metadata + `}}` }
	for _, mark := range marks {
		around := `"metadata":{` + mark + `}`
		for name, inMetadata := range map[string]string{
			"a part":                  envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+text(mark)+`]}`),
			"an artifact":             envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`],`+around+`}`),
			"an artifact's update":    envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`]},`+around),
			"a message":               envelopes["1.0"]("", "message", `"messageId":"m","role":"agent","parts":[`+secret+`],`+around),
			"a last word":             envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+secret+`],`+around+`}}`),
			"a status":                envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+secret+`]}},`+around),
			"a question":              envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}}`),
			"a question's message":    envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+secret+`],`+around+`}}`),
			"a question's status":     envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+secret+`]}},`+around),
			"work":                    envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"working","message":{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}}`),
			"a failure":               envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"failed","message":{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}}`),
			"a snapshot":              envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+secret+`]}],`+around),
			"a snapshot's artifact":   envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"b","parts":[`+text(mark)+`]},{"artifactId":"a","parts":[`+secret+`],`+around+`}]`),
			"a snapshot of one going": envelopes["1.0"]("", "task", `"id":"t","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[`+text(mark)+`]}]`),
			"what was said before":    envelopes["1.0"]("", "task", `"id":"t","status":{"state":"working"},"history":[{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}]`),
			"data":                    envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[{"data":{"x":"secret"},`+around+`}]}`),
		} {
			for _, sent := range []string{inMetadata, strings.Replace(inMetadata, around, mark, 1)} {
				if got := leave(t, public, "data: "+sent+"\n\n")[0]; strings.Contains(got, "secret") {
					t.Errorf("%s, %s: the public gets %s", name, mark, got)
				}
				if got := leave(t, filter.Settings{Policy: event.PolicyClient}, "data: "+sent+"\n\n")[0]; got != stays+": setting" {
					t.Errorf("%s, %s: without thoughts the client gets %s", name, mark, got)
				}
				if got := leave(t, client, "data: "+sent+"\n\n")[0]; got != sent {
					t.Errorf("%s, %s: the client gets %s", name, mark, got)
				}
			}
		}
	}
	for _, mark := range []string{`"adk_thought":false`, `"thought":null`, `"adk_thoughts":true`, `"x":true`} {
		sent := envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+text(mark)+`]}`)
		if got := leave(t, public, "data: "+sent+"\n\n")[0]; !strings.Contains(got, "secret") {
			t.Errorf("%s: the public gets %s", mark, got)
		}
	}
	for _, mark := range []string{`"google":{"thought":true}`, `"type":"thinking"`, `"google":{"kind":"thought"}`} {
		sent := envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+text(mark)+`]}`)
		for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} { // the mark would not leave with the part
			if got := leave(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, "data: "+sent+"\n\n")[0]; strings.Contains(got, "secret") {
				t.Errorf("%s: the public gets %s", mark, got)
			}
		}
		if got := leave(t, filter.Settings{Policy: event.PolicyClient}, "data: "+sent+"\n\n")[0]; got != stays+": setting" {
			t.Errorf("%s: without thoughts the client gets %s", mark, got)
		}
	}
	// What was told in pieces as a thought is no answer at the end.
	last := leave(t, public, "data: "+envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`],"metadata":{"thought":1}}`)+"\n\n"+
		"data: "+envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"completed"}`)+"\n\n")
	if slices.ContainsFunc(last, func(one string) bool { return strings.Contains(one, "secret") }) {
		t.Errorf("%q", last)
	}
}
