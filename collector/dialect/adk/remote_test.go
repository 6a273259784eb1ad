package adk_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRelayedThoughts puts each mark of a thought at each place in which an event with a remote agent's answer may have it.
func TestRelayedThoughts(t *testing.T) {
	const part = `{"text":"secret"}`
	of := func(parts, response string) string {
		return `{"invocationId":"e-1","author":"a","content":{"role":"model","parts":[` + parts + `]},"customMetadata":{"a2a:response":` + response + `}}`
	}
	for _, mark := range dialecttest.ThoughtMarks {
		meta := `"metadata":{` + mark + `}`
		marked := `{"text":"secret",` + meta + `}`
		for _, sent := range []string{
			of(`{"text":"secret","partMetadata":{`+mark+`}},{"text":"answer"}`, `{"parts":[`+marked+`,{"text":"answer"}]}`),
			of(part+`,{"text":"answer"}`, `{"parts":[`+marked+`,{"text":"answer"}]}`), // Vertex AI has no partMetadata
			of(part, `{"messageId":"m","parts":[`+part+`],`+meta+`}`),
			of(part, `{"messageId":"m","parts":[{"text":"sec"},{"text":"ret"}],`+meta+`}`),
			of(part, `{"messageId":"m","parts":[{"text":"sec"},{"text":"ret",`+meta+`}]}`),
			of(part, `{"status":{"state":"working","message":{"parts":[`+part+`],`+meta+`}}}`),
			of(part, `{"status":{"state":"working","message":{"parts":[`+part+`]}},`+meta+`}`),
			of(part, `{"artifact":{"parts":[`+part+`],`+meta+`}}`),
			of(part, `{"artifact":{"parts":[`+part+`]},`+meta+`}`),
			of(part, `{"artifactUpdate":{"artifact":{"parts":[`+marked+`]}}}`),
			of(part+`,{"text":"answer"}`, `{"status":{"state":"working"},"artifacts":[{"parts":[`+part+`],`+meta+`},{"parts":[{"text":"ans"},{"text":"wer"}]}]}`),
			of(part, `{"status":{"state":"working"},"history":[{"parts":[`+marked+`]}]}`),
			of(`{"text":"answer"}`, `{"status":{"state":"working"},"artifacts":[{"parts":[{"text":"answer"}]}],"history":[{"parts":[`+marked+`]}]}`),
			of(part, `{"artifact":{"parts":[`+part+`],"metadata":{"adk_custom_metadata":{"a2a:response":{"parts":[`+part+`],`+meta+`}}}}}`),
			of(part, `{"parts":[`+part+`],"metadata":{"adk_custom_metadata":`+strconv.Quote(`{"a2a:response":{"parts":[`+part+`],`+meta+`}}`)+`}}`),
			of(part, strconv.Quote(`{"parts":[`+marked+`]}`)),
		} {
			for name, spell := range spellings {
				data := spell(sent)
				for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} {
					got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, data)
					shown := thoughts != event.ThoughtsNone && strings.Contains(data, `etadata":{"adk_thought"`)
					if !shown && strings.Contains(got, "secret") || strings.Contains(sent, `{"text":"answer"}`) != strings.Contains(got, "answer") {
						t.Errorf("%s: %s leaves under public as %s", name, data, got)
					}
				}
				if got := filterFrame(t, filter.Settings{Policy: event.PolicyClient}, data); strings.Contains(got, "secret") {
					t.Errorf("%s: %s leaves under client as %s", name, data, got)
				}
				if got := filterFrame(t, filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, data); got != data {
					t.Errorf("%s: %s leaves under client with thoughts as %s", name, data, got)
				}
			}
		}
	}
	sent := of(part, `{"messageId":"m","parts":[`+part+`],"metadata":{"agno_content_category":"content"}}`)
	if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, sent); !strings.Contains(got, "secret") {
		t.Errorf("an answer leaves as %s", got)
	}
}

// TestRemoteAnswers checks that the error or the thought of a remote agent does not leave as the answer of the agent that
// asked it.
func TestRemoteAnswers(t *testing.T) {
	const content = `"content":{"role":"model","parts":[{"text":"hi"}]}`
	event1 := func(response string) string {
		return `{"invocationId":"e-1","author":"a",` + content + `,"customMetadata":{"a2a:response":` + response + `}}`
	}
	const message = `{"messageId":"m","parts":[{"text":"hi"}]`
	for response, want := range map[string]string{
		`{"status":{"state":"TASK_STATE_COMPLETED","message":` + message + `}}}`:                                                                      "hi",
		`{"status":{"state":"TASK_STATE_FAILED","message":` + message + `}}}`:                                                                         "the agent failed",
		`{"status":{"state":"rejected","message":` + message + `}}}`:                                                                                  "the agent failed",
		`{"status":{"state":"canceled","message":` + message + `}}}`:                                                                                  "the agent failed",
		`{"status":{"state":"working","message":` + message + `,"metadata":{"adk_error_code":"E"}}}}`:                                                 withheld,
		`{"metadata":{"adk_custom_metadata":{"a2a:response":{"status":{"state":"failed","message":` + message + `}}}}},"status":{"state":"working"}}`: withheld,
		`"{\"status\":{\"state\":\"failed\"}}"`:                                                                                                       "the agent failed",
		`{"status":{"state":"completed","message":` + message + `,"metadata":{"thought":true}}}}`:                                                     withheld,
		message + `,"metadata":{"adk_thought":true}}`:                                                                                                 withheld,
		`{"artifacts":[{"parts":[{"text":"h"},{"text":"i"}],"metadata":{"adk_thought":true}}]}`:                                                       withheld,
		`{"artifacts":[{"parts":[{"text":"ho"}],"metadata":{"adk_thought":true}},{"parts":[{"text":"hi"}]}]}`:                                         "hi",
		`{"artifact":{"parts":[{"text":"hi"}]},"metadata":{"adk_thought":true}}`:                                                                      withheld,
	} {
		for name, spell := range spellings {
			got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, spell(event1(response)))
			if !strings.Contains(got, want) || want != "hi" && strings.Contains(got, `"hi"`) {
				t.Errorf("%s: %s leaves as %s, want %q", name, response, got, want)
			}
		}
	}
}

// TestNewTasks checks that an event says whether its remote agent works on another task than before.
func TestNewTasks(t *testing.T) {
	decoder := adk.Dialect{}.New(&event.Stream{SingleRun: true})
	for _, c := range []struct {
		author, task string
		isNew        bool
	}{
		{"a", `"t1"`, false}, {"a", `"t1"`, false}, {"b", `"t2"`, false}, {"a", `null`, false}, {"a", `"t3"`, true}, {"a", `"t3"`, false}, {"b", `"t2"`, false},
	} {
		data := []byte(`{"invocationId":"e-1","author":"` + c.author + `","content":{"parts":[{"text":"x"}]},"customMetadata":{"a2a:task_id":` + c.task + `}}`)
		var doc strictjson.Doc
		if err := doc.Parse(data, 64, strictjson.Everywhere); err != nil {
			t.Fatal(err)
		}
		b := &event.Batch{JSON: doc.Root(), Table: adk.Dialect{}.Table()}
		if decoder.Decode(dialect.Frame{JSON: doc.Root()}, b); b.NewTask != c.isNew {
			t.Errorf("%s: the task is new: %t", data, b.NewTask)
		}
	}
}
