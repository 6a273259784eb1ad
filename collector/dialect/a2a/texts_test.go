package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// lastOutput returns what becomes of the last frame.
func lastOutput(t *testing.T, s filter.Settings, sent ...string) string {
	t.Helper()
	got := filterStream(t, s, "data: "+strings.Join(sent, "\n\ndata: ")+"\n\n")
	return got[len(got)-1]
}

// answerFrames returns frames that state an answer with parts, with members beside the parts.
func answerFrames(parts, beside string) map[string]string {
	message := `{"messageId":"m","role":"agent","parts":[` + parts + `]` + beside + `}`
	artifact := `{"artifactId":"a","parts":[` + parts + `]` + beside + `}`
	return map[string]string{
		"a message":   envelopes["1.0"]("", "message", strings.Trim(message, "{}")+strings.Repeat("}", strings.Count(beside, "}"))),
		"a status":    envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":`+message+`}`),
		"a question":  envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":`+message+`}`),
		"an artifact": envelopes["0.3"]("artifact-update", "", ids+`,"artifact":`+artifact),
		"a snapshot":  envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[`+artifact+`]`),
	}
}

// TestTextsOfTools checks that a text that is marked as that of a tool, or has other content beside it, is no answer.
func TestTextsOfTools(t *testing.T) {
	toolless := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{event.KindToolStarted, event.KindToolEnded}}
	try := func(name, mark, sent string, beside, tool bool) {
		t.Helper()
		if got := lastOutput(t, public, sent); strings.Contains(got, "secret") || beside && !strings.Contains(got, `"hi"`) {
			t.Errorf("%s, %s: under public, the output is %s", name, mark, got)
		}
		if got := lastOutput(t, toolless, sent); tool != (got == withheld+": setting") {
			t.Errorf("%s, %s: under client without tools, the output is %s", name, mark, got)
		}
		if got := lastOutput(t, client, sent); got != sent {
			t.Errorf("%s, %s: under client, the output is %s", name, mark, got)
		}
	}
	for _, kind := range []string{"function_call", "function_response", "executable_code", "code_execution_result", "Function_Response"} {
		for _, member := range []string{"adk_type", "adk:type", "ADK_Type", "adkType"} {
			mark := `"` + member + `":"` + kind + `"`
			for _, marked := range []string{`"metadata":{` + mark + `}`, mark} {
				for name, sent := range answerFrames(`{"kind":"text","text":"secret",`+marked+`},`+hi, "") {
					try(name, marked, sent, true, true)
				}
				for name, sent := range answerFrames(secret, ","+marked) {
					try(name+"'s parts", marked, sent, false, true)
				}
			}
		}
	}
	for _, more := range []string{`"kind":"data","data":{"r":1}`, `"kind":"file","file":{"name":"n"}`, `"kind":"data"`, `"kind":"file"`, `"data":{"r":1}`, `"url":"u"`, `"raw":"eA=="`} {
		for name, sent := range answerFrames(`{"text":"secret",`+more+`},`+hi, "") {
			try(name, more, sent, true, false)
		}
	}
}

// TestTextsOfTheUser checks that a text whose author is the user is no answer.
func TestTextsOfTheUser(t *testing.T) {
	for _, author := range []string{`"user"`, `"USER"`, `"ｕｓｅｒ"`, `"us\u200ber"`, `" user "`, `["user"]`, `["a",["User"]]`} {
		for _, member := range []string{"adk_author", "adk:author", "ADK_Author", "adkAuthor"} {
			mark := `"` + member + `":` + author
			for _, marked := range []string{`"metadata":{` + mark + `}`, `"Metadata":{"x":1,` + mark + `}`, mark} {
				for name, sent := range answerFrames(`{"kind":"text","text":"secret",`+marked+`},`+hi, "") {
					if got := lastOutput(t, public, sent); strings.Contains(got, "secret") || !strings.Contains(got, `"hi"`) {
						t.Errorf("%s with a part by %s: under public, the output is %s", name, marked, got)
					}
				}
				for name, sent := range answerFrames(secret, ","+marked) {
					around := strings.TrimSuffix(strings.Replace(sent, ","+marked, "", 1), "}}") + "," + marked + "}}"
					for _, sent := range []string{sent, around} {
						if got := lastOutput(t, public, sent); strings.Contains(got, "secret") {
							t.Errorf("%s by %s: under public, the output is %s", name, marked, got)
						}
						if got := lastOutput(t, client, sent); got != sent {
							t.Errorf("%s by %s: under client, the output is %s", name, marked, got)
						}
						if got := lastOutput(t, filter.Settings{Policy: event.PolicyClient, Authors: []string{"a"}}, sent); got != withheld+": setting" && name != "a question" {
							t.Errorf("%s by %s: under client with authors, the output is %s", name, marked, got)
						}
					}
				}
			}
		}
	}
}

// TestMarksBesideUpdates marks the envelope of an update as a thought.
func TestMarksBesideUpdates(t *testing.T) {
	for _, mark := range []string{`"type":"thinking"`, `"kind":"thought"`, `"adk_thought":true`, `"agno_content_category":"reasoning"`} {
		for name, sent := range answerFrames(secret, "") {
			inner := strings.TrimSuffix(sent, "}}") + `},"metadata":{` + mark + `}}`
			outer := strings.TrimSuffix(sent, "}") + `,"metadata":{` + mark + `}}`
			for _, sent := range []string{inner, outer} {
				if got := lastOutput(t, public, sent); strings.Contains(got, "secret") {
					t.Errorf("%s, %s: under public, the output is %s", name, mark, got)
				}
				if got := lastOutput(t, filter.Settings{Policy: event.PolicyClient}, sent); got != withheld+": setting" {
					t.Errorf("%s, %s: under client without thoughts, the output is %s", name, mark, got)
				}
			}
		}
	}
}

// TestRepeatedAnswers checks that an answer leaves again in the snapshot that ends its task.
func TestRepeatedAnswers(t *testing.T) {
	artifact, said := `"artifact":{"artifactId":"a","parts":[`+hi+`]}`, message("agent", hi)
	snapshot := func(more string) string {
		return envelopes["1.0"]("", "task", `"id":"t","contextId":"c",`+more)
	}
	const ended = `"status":{"state":"completed"}`
	whole := snapshot(ended + `,"artifacts":[{"artifactId":"a","parts":[` + hi + `]}]`)
	last := envelopes["1.0"]("", "artifactUpdate", ids+`,`+artifact+`,"lastChunk":true`)
	for name, sent := range map[string][]string{
		"an artifact":                          {last, whole},
		"an artifact of an ended task":         {last, envelopes["1.0"]("", "statusUpdate", ids+`,`+ended), whole},
		"a snapshot":                           {whole, whole},
		"an artifact of a snapshot":            {snapshot(`"status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[` + hi + `]}]`), whole},
		"a message":                            {envelopes["1.0"]("", "statusUpdate", status("completed", said)), snapshot(`"status":{"state":"completed","message":` + said + `}`)},
		"a message that the status says again": {envelopes["1.0"]("", "statusUpdate", status("completed", said)), envelopes["1.0"]("", "statusUpdate", status("completed", said))},
	} {
		got := filterStream(t, public, "data: "+strings.Join(sent, "\n\ndata: ")+"\n\n")
		if !strings.Contains(got[len(got)-1], `"hi"`) {
			t.Errorf("%s does not leave again: %q", name, got)
		}
	}
}
