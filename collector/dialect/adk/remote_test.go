package adk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRemoteAnswers checks that the error or the thought of a remote agent does not leave as the answer of the agent that
// asked it.
func TestRemoteAnswers(t *testing.T) {
	const content = `"content":{"role":"model","parts":[{"text":"hi"}]}`
	event1 := func(response string) string {
		return `{"invocationId":"e-1","author":"a",` + content + `,"customMetadata":{"a2a:response":` + response + `}}`
	}
	const message = `{"messageId":"m","parts":[{"text":"hi"}]`
	for response, want := range map[string]string{
		`{"status":{"state":"TASK_STATE_COMPLETED","message":` + message + `}}}`:                              "hi",
		`{"status":{"state":"TASK_STATE_FAILED","message":` + message + `}}}`:                                 "the agent failed",
		`{"status":{"state":"rejected","message":` + message + `}}}`:                                          "the agent failed",
		`{"status":{"state":"canceled","message":` + message + `}}}`:                                          "the agent failed",
		`"{\"status\":{\"state\":\"failed\"}}"`:                                                               "the agent failed",
		`{"status":{"state":"completed","message":` + message + `,"metadata":{"thought":true}}}}`:             withheld,
		message + `,"metadata":{"adk_thought":true}}`:                                                         withheld,
		`{"artifacts":[{"parts":[{"text":"h"},{"text":"i"}],"metadata":{"adk_thought":true}}]}`:               withheld,
		`{"artifacts":[{"parts":[{"text":"ho"}],"metadata":{"adk_thought":true}},{"parts":[{"text":"hi"}]}]}`: "hi",
		`{"artifact":{"parts":[{"text":"hi"}]},"metadata":{"adk_thought":true}}`:                              withheld,
	} {
		for name, spell := range spellings {
			got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, spell(event1(response)))
			if !strings.Contains(got, want) || want != "hi" && strings.Contains(got, `"hi"`) {
				t.Errorf("%s: %s leaves as %s, want %q", name, response, got, want)
			}
		}
	}
}
