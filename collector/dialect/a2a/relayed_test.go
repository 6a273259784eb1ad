package a2a_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRelayedThoughts puts each mark of a thought into the answer of a remote agent that an ADK agent passes on, and repeats
// the text without it.
func TestRelayedThoughts(t *testing.T) {
	const answer, part = `{"text":"answer"}`, `"parts":[` + secret + `,{"text":"answer"}]`
	for _, mark := range dialecttest.ThoughtMarks {
		for _, response := range []string{
			`{"parts":[` + secret + `],"metadata":{` + mark + `}}`,
			`{"parts":[{"text":"secret","metadata":{` + mark + `}},` + answer + `]}`,
			`{"status":{"state":"working"},"artifacts":[{"parts":[` + secret + `],"metadata":{` + mark + `}},{"parts":[` + answer + `]}]}`,
		} {
			custom := `{"a2a:response":` + response + `}`
			for _, meta := range []string{
				`"metadata":{"adk_author":"a","adk_invocation_id":"e-1","adk_custom_metadata":` + custom + `}`,
				`"metadata":{"adk_author":"a","adk_invocation_id":"e-1","adk_custom_metadata":` + strconv.Quote(custom) + `}`,
				`"metadata":{"adk_author":"a","adk_invocation_id":"e-1","adk_custom_metadata":[{"key":"a2a:response","stringValue":` + strconv.Quote(response) + `}]}`,
			} {
				// The filter withholds content beside an object with a marker that many protocols use.
				isMarker := strings.Contains(mark, `thought":true`) && !strings.Contains(meta, `\"`)
				answers := strings.Contains(response, answer)
				for name, sent := range map[string]string{
					"an artifact":          envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a",`+part+`,`+meta+`}`),
					"an artifact's update": envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a",`+part+`},`+meta),
					"a piece":              envelopes["1.0"]("", "artifactUpdate", ids+`,"append":true,"artifact":{"artifactId":"a",`+part+`,`+meta+`}`),
					"a final message":      envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent",`+part+`}},`+meta),
					"a question":           envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent",`+part+`,`+meta+`}}`),
					"a message":            envelopes["1.0"]("", "message", `"messageId":"m","role":"agent",`+part+`,`+meta),
					"a snapshot":           envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a",`+part+`,`+meta+`}]`),
				} {
					for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} {
						got := filterStream(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, "data: "+sent+"\n\n")
						if strings.Contains(got[0], "secret") {
							t.Errorf("%s, under public, of %s this leaves: %s", name, sent, got)
						}
						if !isMarker && (answers || name == "a snapshot") != strings.Contains(got[0], "answer") {
							t.Errorf("%s, under public, of %s this leaves: %s", name, sent, got)
						}
					}
					if got := filterStream(t, filter.Settings{Policy: event.PolicyClient}, "data: "+sent+"\n\n")[0]; strings.Contains(got, "secret") {
						t.Errorf("%s, under client without thoughts, of %s this leaves: %s", name, sent, got)
					}
					if got := filterStream(t, client, "data: "+sent+"\n\n")[0]; got != sent {
						t.Errorf("%s, under client, %s becomes %s", name, sent, got)
					}
				}
			}
		}
	}
}
