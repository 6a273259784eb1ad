package filter_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestPlainThoughts checks text that is marked as a thought by a member that its protocol does not define.
func TestPlainThoughts(t *testing.T) {
	said := func(members string) string { return `{"kind":"content-delta","delta":"hi"` + members + `}` }
	apply := func(s filter.Settings, sent string) string {
		return leaves(s, kindedBatches(strings.NewReader(data(sent))))
	}
	for _, sign := range []string{
		`"thought":true`, `"thought":1`, `"thought":0.5`, `"thought":"true"`, `"Thought":"Yes"`, `"adk_thought":true`, `"th\u006fught":true`, `"THOUGHT":"TRUE"`,
	} {
		sent := said("," + sign)
		trySettings(t, []settingCase{
			{sign, filter.Settings{}, sent, empty, setting},
			{sign + " that may leave", filter.Settings{Thoughts: event.ThoughtsDetailed}, sent, empty, wholeRule}, // without its sign
		}, apply)
	}
	for _, sign := range []string{`"thought":false`, `"thought":0`, `"thought":null`, `"thought":""`, `"thought":"hm"`, `"thought":{"x":true}`, `"thoughts":true`} {
		trySettings(t, []settingCase{{sign, filter.Settings{}, said("," + sign), said(""), wholeRule}}, apply)
	}
}

// TestForeignMarkers checks parts of ADK events that are marked by a framework's own member.
func TestForeignMarkers(t *testing.T) {
	for _, mark := range []string{`"kagent_thought":true`, `"metadata":{"isThought":true}`, `"metadata":{"x.thought":1}`} {
		part := func(text, more string) string { return `{"text":"` + text + `"` + more + `}` }
		sent := adkEvent(adkParts(part("secret", ","+mark), part("hello", "")))
		for _, thoughts := range []event.Verbosity{event.ThoughtsNone, event.ThoughtsDetailed} {
			s := filter.Settings{Policy: event.PolicyPublic, Thoughts: thoughts}
			if got := leavesADK(t, s, sent); strings.Contains(got, "secret") || !strings.Contains(got, "hello") {
				t.Errorf("%s, thoughts %d: %s", mark, thoughts, got)
			}
		}
		if got := leavesADK(t, filter.Settings{Policy: event.PolicyClient}, sent); strings.Contains(got, "secret") {
			t.Errorf("%s, client without thoughts: %s", mark, got)
		}
		around := strings.Replace(adkEvent(adkParts(part("secret", ""))), `"parts"`, mark+`,"parts"`, 1)
		if got := leavesADK(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, around); strings.Contains(got, "secret") {
			t.Errorf("%s around the parts: %s", mark, got)
		}
	}
}
