package agui

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestNamedAgents checks that the agents within a run do not lend their names to the run's own agent, which has no branch.
func TestNamedAgents(t *testing.T) {
	delegation := func(id string) string {
		return ev("TOOL_CALL_CHUNK", `"toolCallId":"`+id+`"`, `"toolCallName":"task"`, `"delta":"{\"subagent_type\":\"worker\"}"`)
	}
	delegated := func(id string) string {
		return `TOOL_CALL_CHUNK; tool_started name="task" call="` + id + `"`
	}
	message := ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"assistant"`, `"name":"worker"`)
	subagent := func(id, more string) string {
		return ev("SUBAGENT_STARTED", `"subagentRunId":"`+id+`"`, `"name":"worker"`+more)
	}
	step := ev("STEP_STARTED", `"stepName":"x"`, `"subagentRunId":"s"`)
	pieces := []string{ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"task"`), ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"{\"subagent_type\":\"worker\"}"`)}
	begun := []string{`TOOL_CALL_START; tool_started name="task" call="c"`, `TOOL_CALL_ARGS agent="worker" branch="c" within="c"; other`}
	const within = ` agent="worker" branch="c" within="c"; agent_started`
	runDecode(t, []decodeCase{
		{"a message of no other agent", []string{message}, []string{`TEXT_MESSAGE_START agent="worker"; other`}},
		{"a message of a delegate", []string{delegation("c"), message}, []string{delegated("c"), `TEXT_MESSAGE_START agent="worker" branch="c" within="c"; other`}},
		{"a message of one of two delegates", []string{delegation("c"), delegation("d"), message}, []string{delegated("c"), delegated("d"), "TEXT_MESSAGE_START agent unknown; other"}},
		{"a message of a subagent", []string{subagent("s", ""), message}, []string{`SUBAGENT_STARTED agent="worker" branch="s"; agent_started`, `TEXT_MESSAGE_START agent="worker" branch="s"; other`}},
		{"a step of a delegate that is announced", append(slices.Clone(pieces), subagent("s", `,"parentToolCallId":"c"`), step), append(slices.Clone(begun), "SUBAGENT_STARTED"+within, `STEP_STARTED agent="worker" step="x" branch="x#1" parent="c"; agent_started`)},
		{"a subagent of such a delegate", append(slices.Clone(pieces), subagent("s", `,"parentToolCallId":"c"`), ev("SUBAGENT_STARTED", `"subagentRunId":"u"`, `"name":"other"`, `"parentSubagentRunId":"s"`)),
			append(slices.Clone(begun), "SUBAGENT_STARTED"+within, `SUBAGENT_STARTED agent="other" branch="u" parent="c"; agent_started`)},
	})
}

// TestChunkTargets checks which call a chunk without an ID continues.
func TestChunkTargets(t *testing.T) {
	first := func(id, owner string) string {
		return ev("TOOL_CALL_CHUNK", `"toolCallId":"`+id+`"`, `"toolCallName":"f"`, `"subagentRunId":`+owner)
	}
	next := func(owner string) string {
		return ev("TOOL_CALL_CHUNK", `"delta":"{}"`, `"subagentRunId":`+owner)
	}
	text := ev("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, `"role":"assistant"`, `"delta":"x"`)
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"its own":                    {[]string{first("c", "null"), first("d", `"s"`), next("null")}, "c"},
		"its subagent's":             {[]string{first("c", "null"), first("d", `"s"`), next(`"s"`)}, "d"},
		"the last":                   {[]string{first("c", "null"), first("d", "null"), next("null")}, "d"},
		"the only one":               {[]string{first("d", `"s"`), next("null")}, "d"},
		"one of two":                 {[]string{first("d", `"s"`), first("e", `"u"`), next("null")}, ""},
		"none after a text":          {[]string{first("c", "null"), text, next("null")}, ""},
		"none after a state":         {[]string{first("c", "null"), ev("STATE_SNAPSHOT", `"snapshot":{}`), next("null")}, ""},
		"none after a list":          {[]string{first("d", `"s"`), ev("MESSAGES_SNAPSHOT", `"messages":[]`), next(`"s"`)}, ""},
		"after an unknown type":      {[]string{first("c", "null"), ev("OTHER"), next("null")}, "c"},
		"none after an internal one": {[]string{first("c", "null"), ev("internal:OTHER", `"messageId":"m"`), next("null")}, ""},
	} {
		d := Dialect{}.New(&event.Stream{})
		var got string
		for _, frame := range c.sent {
			f := dialect.Frame{JSON: parse(t, frame)}
			b := &event.Batch{JSON: f.JSON, Table: &table}
			d.Decode(f, b)
			got = b.ArgumentsOf
		}
		if got != c.want {
			t.Errorf("%s: the last chunk continues %q, want %q", name, got, c.want)
		}
	}
}
