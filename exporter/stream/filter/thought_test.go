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
