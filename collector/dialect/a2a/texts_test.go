package a2a_test

import (
	"fmt"
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

// TestRepeatsOfThoughts repeats a message and an artifact of which one part is a thought, without the mark. The
// other part is still an answer, and so is the same text under another id.
func TestRepeatsOfThoughts(t *testing.T) {
	const mixed = `{"text":"secret","metadata":{"adk_thought":true}},` + hi
	const byADK = `"metadata":{"adk_author":"a"}`
	first := []string{
		envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"working","message":{"messageId":"m","role":"agent","parts":[`+mixed+`]}}`),
		envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+mixed+`]},`+byADK),
	}
	history := envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"working"},"history":[{"messageId":"m","role":"agent","parts":[`+secret+`]}]`)
	thoughtless := filter.Settings{Policy: event.PolicyClient}
	for _, parts := range []string{secret + "," + hi, `{"text":" secret\n"},` + hi} {
		for name, sent := range answerFrames(parts, "") {
			if got := lastOutput(t, public, first[0], first[1], sent); strings.Contains(got, "secret") || !strings.Contains(got, `"hi"`) {
				t.Errorf("under public, %s becomes %s", name, got)
			}
			if got := lastOutput(t, thoughtless, first[0], first[1], sent); got != withheld+": setting" {
				t.Errorf("under client without thoughts, %s becomes %s", name, got)
			}
			if got := lastOutput(t, client, first[0], first[1], sent); got != sent {
				t.Errorf("under client, %s becomes %s", name, got)
			}
			other := strings.NewReplacer(`"m"`, `"m2"`, `"a"`, `"a2"`).Replace(sent)
			if got := lastOutput(t, public, first[0], first[1], other); !strings.Contains(got, "secret") {
				t.Errorf("under public, %s of another id becomes %s", name, got)
			}
		}
	}
	if got := lastOutput(t, thoughtless, first[0], history); got != withheld+": setting" {
		t.Errorf("under client without thoughts, the history becomes %s", got)
	}
	marked := strings.Replace(history, secret, strings.Replace(secret, "}", `,"thought":true}`, 1), 1)
	final := answerFrames(secret, "")["a status"]
	if got := lastOutput(t, public, marked, final); strings.Contains(got, "secret") {
		t.Errorf("after a marked history, the status becomes %s", got)
	}
	piece := func(text, mark string) string {
		return envelopes["1.0"]("", "artifactUpdate", ids+`,"append":true,"artifact":{"artifactId":"a","parts":[{"text":"`+text+`"`+mark+`}]},`+byADK)
	}
	for text, leaves := range map[string]bool{" the": true, strings.Repeat("long ", 10): false} {
		if got := lastOutput(t, public, piece(text, `,"thought":true`), piece(text, "")); strings.Contains(got, text) != leaves {
			t.Errorf("a piece %q becomes %s", text, got)
		}
	}
}

// TestManyThoughts sends more thoughts than are remembered. Then nothing is an answer under an id whose thoughts were
// forgotten, but texts under other ids are.
func TestManyThoughts(t *testing.T) {
	artifact := func(id, parts, more string) string {
		return envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"`+id+`","parts":[`+parts+`]},"metadata":{"adk_author":"a"}`+more)
	}
	long := func(word string) string { // no block of the text is that of another one
		var text strings.Builder
		for i := 0; text.Len() < 100<<10; i++ {
			fmt.Fprintf(&text, "%s%d", word, i)
		}
		return markedPart(text.String())
	}
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, `{"text":"%d","thought":true},`, i)
	}
	many.WriteString(hi)
	for name, c := range map[string]struct {
		first  []string
		leaves bool
	}{
		"a few":                     {[]string{artifact("a", markedPart("hm"), "")}, true},
		"a long one":                {[]string{artifact("a", long("hm"), "")}, true},
		"two long ones":             {[]string{artifact("a", long("hm")+","+long("oh"), "")}, false},
		"many short ones":           {[]string{artifact("a", many.String(), "")}, false},
		"of others":                 {[]string{artifact("b", long("hm")+","+long("oh"), "")}, true},
		"one, then those of others": {[]string{artifact("a", markedPart("hm"), ""), artifact("b", long("hm"), ""), artifact("c", long("oh"), "")}, false},
		"one after those of others": {[]string{artifact("b", long("hm"), ""), artifact("c", long("oh"), ""), artifact("a", markedPart("hm"), "")}, true},
	} {
		for _, sent := range []string{answerFrames(secret, "")["a snapshot"], artifact("a", secret, ""), artifact("a", secret, `,"append":true`)} {
			if got := lastOutput(t, public, append(c.first, sent)...); strings.Contains(got, "secret") != c.leaves {
				t.Errorf("after %s, %s becomes %s", name, sent, got)
			}
		}
	}
	var parts []string
	for i := range 1100 {
		parts = append(parts, markedPart(fmt.Sprint("thought ", i)))
	}
	thoughts := strings.Join(parts, ",")
	for _, s := range []filter.Settings{public, client} { // more repeats than are listed
		if got := lastOutput(t, s, artifact("a", thoughts, ""), strings.ReplaceAll(artifact("a", thoughts, ""), `"adk_thought":true`, "")); !strings.HasPrefix(got, withheld) {
			t.Errorf("under %s, too many repeats become %.80s", s.Policy, got)
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
