package a2a_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMarks checks each mark that a reader might read as that of a thought, at each place.
func TestMarks(t *testing.T) {
	marks := []string{
		`"adk_thought":true`, `"adk_thought":"true"`, `"adk_thought":"yes"`, `"adk_thought":1`, `"ADK_Thought":true`, `"ADK_THOUGHT":{"x":1}`,
		`"thought":true`, `"adk_\u200bthought":true`, `"ａdk_thought":true`, `"adk_thoughT":"x"`, `"adk:thought":true`, `"adkThought":true`,
		`"kagent_thought":true`, `"isThought":1`, `"x-thought":"true"`, `"google.adk.thought":true`, `"adk_thoughts":true`, `"reasoning":true`, `"isThinking":true`,
		`"category":"thinking"`, `"agno_content_category":"plan"`, `"contentType":"reasoning"`,
	}
	text := func(metadata string) string { return `{"text":"secret","metadata":{` + metadata + `}}` }
	for _, mark := range marks {
		around := `"metadata":{` + mark + `}`
		for name, inMetadata := range map[string]string{
			"a part":                envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+text(mark)+`]}`),
			"an artifact":           envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`],`+around+`}`),
			"an artifact's update":  envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`]},`+around),
			"a message":             envelopes["1.0"]("", "message", `"messageId":"m","role":"agent","parts":[`+secret+`],`+around),
			"a final message":       envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+secret+`],`+around+`}}`),
			"a status":              envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+secret+`]}},`+around),
			"a question":            envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}}`),
			"a question's message":  envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+secret+`],`+around+`}}`),
			"a question's status":   envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+secret+`]}},`+around),
			"work":                  envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"working","message":{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}}`),
			"a failure":             envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"failed","message":{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}}`),
			"a snapshot":            envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+secret+`]}],`+around),
			"a snapshot's artifact": envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"b","parts":[`+text(mark)+`]},{"artifactId":"a","parts":[`+secret+`],`+around+`}]`),
			"a snapshot, at work":   envelopes["1.0"]("", "task", `"id":"t","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[`+text(mark)+`]}]`),
			"a history":             envelopes["1.0"]("", "task", `"id":"t","status":{"state":"working"},"history":[{"messageId":"m","role":"agent","parts":[`+text(mark)+`]}]`),
			"data":                  envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[{"data":{"x":"secret"},`+around+`}]}`),
		} {
			for _, sent := range []string{inMetadata, strings.Replace(inMetadata, around, mark, 1), strings.ReplaceAll(inMetadata, `"metadata"`, `"Metadata"`)} {
				if got := filterStream(t, public, "data: "+sent+"\n\n")[0]; strings.Contains(got, "secret") {
					t.Errorf("%s, %s: under public, the output is %s", name, mark, got)
				}
				if got := filterStream(t, filter.Settings{Policy: event.PolicyClient}, "data: "+sent+"\n\n")[0]; got != withheld+": setting" {
					t.Errorf("%s, %s: under client without thoughts, the output is %s", name, mark, got)
				}
				if got := filterStream(t, client, "data: "+sent+"\n\n")[0]; got != sent {
					t.Errorf("%s, %s: under client, the output is %s", name, mark, got)
				}
			}
		}
	}
	for _, mark := range []string{
		`"adk_thought":false`, `"thought":null`, `"kagent_thought":false`, `"thoughts":5`, `"reasoning":{"effort":"low"}`, `"enable_thinking":true`, `"include_thoughts":true`,
		`"thoughtSignature":"x"`, `"thoughtsTokenCount":5`, `"reasoning_effort":"high"`, `"reasoning_tokens":5`, `"type":"text"`, `"x":true`,
	} {
		sent := envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+text(mark)+`]}`)
		if got := filterStream(t, public, "data: "+sent+"\n\n")[0]; !strings.Contains(got, "secret") {
			t.Errorf("%s: under public, the output is %s", mark, got)
		}
	}
	for _, mark := range []string{`"google":{"thought":true}`, `"type":"thinking"`, `"kind":"thoughts"`, `"type":"reasoning_content"`, `"google":{"kind":"thought"}`, `"x":1},"metadata ":{"adk_thought":true`} {
		sent := envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+text(mark)+`]}`)
		for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} { // the mark would not leave with the part
			if got := filterStream(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, "data: "+sent+"\n\n")[0]; strings.Contains(got, "secret") {
				t.Errorf("%s: under public, the output is %s", mark, got)
			}
		}
		if got := filterStream(t, filter.Settings{Policy: event.PolicyClient}, "data: "+sent+"\n\n")[0]; got != withheld+": setting" {
			t.Errorf("%s: under client without thoughts, the output is %s", mark, got)
		}
	}
	// A thought sent in pieces is no answer at the end.
	last := filterStream(t, public, "data: "+envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`],"metadata":{"thought":1}}`)+"\n\n"+
		"data: "+envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"completed"}`)+"\n\n")
	if slices.ContainsFunc(last, func(one string) bool { return strings.Contains(one, "secret") }) {
		t.Errorf("the last frame becomes %q", last)
	}
}

// TestMarkedStatuses repeats the message of a status that is marked as a thought, without the mark.
func TestMarkedStatuses(t *testing.T) {
	const message = `{"messageId":"m","role":"agent","parts":[` + secret + `]}`
	status := func(state, more string) string {
		return envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"`+state+`","message":`+message+`}`+more)
	}
	sent := []string{
		status("working", `,"metadata":{"thought":true}`),
		envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"working"},"history":[`+message+`]`),
		status("input-required", ""), status("working", ""),
		envelopes["1.0"]("", "message", `"messageId":"m","taskId":"t","role":"agent","parts":[`+secret+`]`),
		status("completed", ""),
	}
	for _, reader := range []filter.Settings{public, {Policy: event.PolicyClient}} {
		for i, got := range filterStream(t, reader, "data: "+strings.Join(sent, "\n\ndata: ")+"\n\n") {
			if strings.Contains(got, "secret") {
				t.Errorf("under %s, of %s this leaves: %s", reader.Policy, sent[i], got)
			}
		}
	}
}

// TestMarkedArtifacts continues and repeats an artifact of which only one piece is marked as a
// thought, also after its task was forgotten or started again. Another artifact
// leaves, and so do one that begins again without the mark and an ADK agent's next part.
func TestMarkedArtifacts(t *testing.T) {
	artifact := func(id, text, more, outside string) string {
		return envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"`+id+`","parts":[{"text":"`+text+`"}]`+more+`}`+outside)
	}
	const marked, author = `,"metadata":{"thought":true}`, `,"metadata":{"adk_author":"a"}`
	const partial = `,"metadata":{"adk_author":"a","adk_partial":true}`
	snapshot := envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+secret+`]}]`)
	working := func(parts string) string {
		return envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[`+parts+`]}]`)
	}
	const thought = `{"text":"one"` + marked + `}`
	for _, sent := range [][]string{
		{working(thought), artifact("a", "secret", "", `,"append":true`), artifact("a", "secret", "", `,"append":true`), snapshot},
		{working(`{"text":"zero"},` + thought), artifact("a", "secret", "", `,"append":true`)},
		{working(thought + `,{"text":""}`), artifact("a", "secret", "", `,"append":true`)},
		{strings.Replace(artifact("a", "", "", ""), `{"text":""}`, thought+`,{"text":""}`, 1), artifact("a", "secret", "", `,"append":true`)},
		{artifact("a", "one", marked, author), working(thought), artifact("a", "secret", "", `,"append":true`)},
		{artifact("a", "one", marked, ""), artifact("a", "secret", "", `,"append":true`)},
		{artifact("a", "one", "", marked), artifact("a", "secret", "", `,"append":true`)},
		{strings.Replace(artifact("a", "one", "", ""), `"one"`, `"one"`+marked, 1), artifact("a", "secret", "", `,"append":true`), artifact("a", "secret", "", `,"append":true`), snapshot},
		{artifact("a", "secret", marked, ""), snapshot},
		{artifact("a", "one", "", ""), artifact("a", "two", marked, `,"append":true`), artifact("a", "secret", "", `,"append":true`), snapshot},
		{artifact("a", "one", marked, author), artifact("a", "secret", "", `,"append":true`+author)},
		{artifact("a", "one", marked, ""), artifact("a", "secret", "", `,"append":true`+author)},
		{artifact("a", "one", marked, author), artifact("a", "secret", "", `,"append":true`)},
		{artifact("a", "one", "", `,"metadata":{"adk_author":"a","adk_thought":true}`), artifact("a", "secret", "", `,"append":true`+author), snapshot},
		{artifact("a", "one", `,"metadata":{"type":"reasoning"}`, author), artifact("a", "two", "", `,"append":true`+author), artifact("a", "secret", "", `,"append":true`+author)},
		{artifact("a", "one", marked, partial), artifact("a", "secret", "", `,"append":true`+partial)},
		{artifact("a", "one", marked, partial), artifact("a", "secret", "", partial)},
		{artifact("a", "one", marked, author), artifact("a", "secret", "", `,"append":"true"`+author)},
		{artifact("a", "one", "", author), artifact("a", "two", "", `,"append":true,"metadata":{"adk_author":"a","thought":true}`), artifact("a", "secret", "", `,"append":true`+author), snapshot},
		{artifact("a", "one", "", ""), artifact("a", "two", "", `,"append":true,"thought":true`), artifact("a", "secret", "", `,"append":true`)},
		{strings.Replace(snapshot, `}]}`, `}],"metadata":{"thought":true}}`, 1), artifact("a", "secret", "", `,"append":true`+author)},
		{strings.Replace(artifact("a", "one", "", ""), `{"jsonrpc"`, `{"thought":true,"jsonrpc"`, 1), artifact("a", "secret", "", `,"append":true`+author)},
	} {
		stream := "data: " + strings.Join(sent, "\n\ndata: ") + "\n\n"
		const id = `"artifactId":"a"`
		numbered := strings.ReplaceAll(strings.Replace(stream, id, `"artifactId":5`, 1), id, `"artifactId":"5"`) // the same id
		for _, reader := range []filter.Settings{public, {Policy: event.PolicyClient}} {
			for _, got := range append(filterStream(t, reader, stream), filterStream(t, reader, numbered)...) {
				if strings.Contains(got, "secret") {
					t.Errorf("under %s this leaves: %s\nof %s", reader.Policy, got, strings.Join(sent, "\n"))
				}
			}
		}
	}
	status := func(task, state string) string {
		return envelopes["1.0"]("", "statusUpdate", `"taskId":"`+task+`","contextId":"c","status":{"state":"`+state+`"}`)
	}
	var others []string // more tasks than the decoder remembers
	for _, task := range []string{"t1", "t2", "t3", "t4"} {
		others = append(others, status(task, "working"))
	}
	for _, between := range [][]string{{status("t", "completed"), status("t", "submitted")}, others} {
		sent := slices.Concat([]string{artifact("a", "one", marked, "")}, between, []string{artifact("a", "secret", "", `,"append":true`)})
		if got := filterStream(t, public, "data: "+strings.Join(sent, "\n\ndata: ")+"\n\n"); strings.Contains(got[len(got)-1], "secret") {
			t.Errorf("this leaves: %s\nof %s", got[len(got)-1], strings.Join(sent, "\n"))
		}
	}
	beside := filterStream(t, public, "data: "+artifact("a", "one", marked, "")+"\n\ndata: "+artifact("b", "two", "", "")+"\n\ndata: "+artifact("a", "three", "", "")+"\n\n")
	if !strings.Contains(beside[1], "two") || !strings.Contains(beside[2], "three") {
		t.Errorf("of other artifacts this leaves: %q", beside)
	}
	thoughtPart := strings.Replace(artifact("a", "one", "", author), `"one"`, `"one"`+marked, 1)
	if got := filterStream(t, public, "data: "+thoughtPart+"\n\ndata: "+artifact("a", "two", "", `,"append":true`+author)+"\n\n"); !strings.Contains(got[1], "two") {
		t.Errorf("of an ADK agent's artifact this leaves: %q", got)
	}
	if got := filterStream(t, public, "data: "+thoughtPart+"\n\ndata: "+working(thought)+"\n\ndata: "+artifact("a", "two", "", `,"append":true`+author)+"\n\n"); !strings.Contains(got[len(got)-1], "two") {
		t.Errorf("of an ADK agent's artifact this leaves after a snapshot: %q", got)
	}
}

// TestPartsBesideThoughts checks that an answer leaves that stands beside a thought with a mark that does not leave.
func TestPartsBesideThoughts(t *testing.T) {
	for _, mark := range []string{`"metadata":{"type":"thinking"}`, `"metadata":{"acme_thought":true}`, `"kind":"reasoning"`, `"acme_thought":true`, `"metadata":{"google":{"thought":true}}`, `"metadata":{"adk_thought":true}`} {
		parts := `[{"text":"secret",` + mark + `},{"text":"answer"}]`
		files := `[{"filename":"secret","url":"x",` + mark + `},{"text":"answer"}]`
		for _, parts := range []string{parts, files} {
			for name, sent := range map[string]string{
				"an artifact":     envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":`+parts+`}`),
				"a message":       envelopes["1.0"]("", "message", `"messageId":"m","role":"agent","parts":`+parts),
				"a final message": envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":`+parts+`}}`),
				"a question":      envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":`+parts+`}}`),
				"a snapshot":      envelopes["1.0"]("", "task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":`+parts+`}]`),
			} {
				for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} {
					got := filterStream(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}, "data: "+sent+"\n\n")[0]
					if isShown := thoughts != event.ThoughtsNone && strings.Contains(mark, "adk_thought"); !strings.Contains(got, "answer") || !isShown && strings.Contains(got, "secret") {
						t.Errorf("%s, %s, thoughts %d: the output is %s", name, mark, thoughts, got)
					}
				}
			}
		}
	}
}
