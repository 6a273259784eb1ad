package agui

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestCallersWithoutName checks to which agent a call belongs that names none, while the run's own agent waits for others.
func TestCallersWithoutName(t *testing.T) {
	begin := func(id, tool, message string, more ...string) string {
		return ev("TOOL_CALL_START", append(more, `"toolCallId":"`+id+`"`, `"toolCallName":"`+tool+`"`, `"parentMessageId":"`+message+`"`)...)
	}
	args := func(id, agent string) string {
		return ev("TOOL_CALL_ARGS", `"toolCallId":"`+id+`"`, `"delta":"{\"member_id\":\"`+agent+`\",\"subagent_type\":\"`+agent+`\"}"`)
	}
	member := func(id, agent, message string) []string {
		return []string{begin(id, "delegate_task_to_member", message), args(id, agent)}
	}
	task := func(id, agent, message string) []string {
		return []string{begin(id, "task", message), args(id, agent), ev("TOOL_CALL_END", `"toolCallId":"`+id+`"`)}
	}
	all := func(id, message string) []string {
		return []string{begin(id, "delegate_task_to_members", message), ev("TOOL_CALL_ARGS", `"toolCallId":"`+id+`"`, `"delta":"{\"task\":\"x\"}"`)}
	}
	end := func(id string) string { return ev("TOOL_CALL_END", `"toolCallId":"`+id+`"`) }
	result := func(id string) string { return ev("TOOL_CALL_RESULT", `"toolCallId":"`+id+`"`, `"content":"1"`) }
	by := func(name string) string { return `"rawEvent":{"metadata":{"lc_agent_name":"` + name + `"}}` }
	agno := ev("RAW", `"source":"agno"`, `"event":{"event":"RunStarted"}`)
	reasoning := ev("REASONING_MESSAGE_START", `"messageId":"r"`)
	const me, a, b, unknown = ` agent="me"`, ` agent="a" branch="1" within="1"`, ` agent="b" branch="2" within="2"`, ` agent unknown`
	both := slices.Concat(member("1", "a", "m"), member("2", "b", "m"))
	teams := slices.Concat(member("1", "a", "m"), member("2", "b", "n"), member("3", "c", "n"))
	for name, c := range map[string]struct {
		before []string
		call   string
		want   string
	}{
		"nobody else works":                     {nil, begin("x", "f", "m"), me},
		"one member works":                      {member("1", "a", "m"), begin("x", "f", "n"), a},
		"one subagent works":                    {task("1", "a", "m"), begin("x", "f", "n"), a},
		"two members work":                      {both, begin("x", "f", "n"), unknown},
		"one of two is left":                    {append(both, end("1"), result("1")), begin("x", "f", "n"), b},
		"none is left":                          {append(both, end("1"), result("1"), end("2"), result("2")), begin("x", "f", "m"), me},
		"a team within a team":                  {member("1", "a", "m"), begin("x", "delegate_task_to_member", "n"), a},
		"a member of the inner team":            {teams[:4], begin("x", "f", "o"), ` agent="b" branch="2" within="2" parent="1"`},
		"two members of the inner team":         {teams, begin("x", "f", "o"), ` parent="1"` + unknown},
		"members of both teams":                 {append(both, teams[2:]...), begin("x", "f", "o"), unknown},
		"in the response that delegates":        {member("1", "a", "m"), begin("x", "f", "m"), me},
		"in the inner team's response":          {teams, begin("x", "f", "n"), a},
		"after an event of the member":          {append(member("1", "a", "m"), agno), begin("x", "f", "m"), a},
		"after a result":                        {append(both, end("1"), result("1")), begin("x", "f", "m"), b},
		"after a thought":                       {append(member("1", "a", "m"), reasoning), begin("x", "f", "m"), a},
		"after a text of the same response":     {append(task("1", "a", "m"), ev("TEXT_MESSAGE_START", `"messageId":"m"`)), begin("x", "f", "m"), me},
		"after another text":                    {append(task("1", "a", "m"), ev("TEXT_MESSAGE_START", `"messageId":"n"`)), begin("x", "f", "m"), a},
		"after a framework's event":             {append(task("1", "a", "m"), ev("RAW", `"event":{}`)), begin("x", "f", "m"), me},
		"all members work":                      {all("1", "m"), begin("x", "f", "n"), unknown},
		"in the response that calls all":        {all("1", "m"), begin("x", "f", "m"), me},
		"all members are done":                  {append(all("1", "m"), end("1"), result("1")), begin("x", "f", "n"), me},
		"all members of an inner team":          {append(member("1", "a", "m"), all("2", "n")...), begin("x", "f", "o"), ` parent="1"` + unknown},
		"all members, and one of another":       {append(all("1", "m"), member("2", "b", "m")...), begin("x", "f", "n"), unknown},
		"LangChain names one of two":            {slices.Concat(task("1", "a", "m"), task("2", "b", "m")), begin("x", "f", "n", by("b")), b},
		"LangChain names another agent":         {task("1", "a", "m"), begin("x", "f", "n", by("boss")), me},
		"LangChain names two":                   {slices.Concat(task("1", "a", "m"), task("2", "a", "m")), begin("x", "f", "n", by("a")), unknown},
		"a subagent says what is its own":       {append(task("1", "a", "m"), ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"a"`, `"parentToolCallId":"1"`)), begin("x", "f", "n"), me},
		"the frame names a subagent":            {append(task("1", "a", "m"), ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"c"`)), begin("x", "f", "n", `"subagentRunId":"s"`), ` agent="c" branch="s"`},
		"a subagent may be each of two":         {slices.Concat(task("1", "a", "m"), task("2", "a", "m"), []string{ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"a"`)}), begin("x", "f", "n", `"subagentRunId":"s"`), ` agent="a" branch="s"`},
		"its message names an agent":            {append(member("1", "a", "m"), ev("TEXT_MESSAGE_START", `"messageId":"n"`, `"name":"bob"`)), begin("x", "f", "n"), ` agent="bob"`},
		"in a step of the graph":                {append(task("1", "a", "m"), ev("STEP_STARTED", `"stepName":"tools"`)), begin("x", "f", "n"), a},
		"in an agent's step":                    {append(task("1", "a", "m"), ev("STEP_STARTED", `"stepName":"agent:c"`)), begin("x", "f", "n"), ` agent="c" branch="agent:c#1"`},
		"the team is closed without a result":   {append(member("1", "a", "m"), end("1")), begin("x", "f", "n"), unknown},
		"a tool that is called like a task":     {[]string{begin("1", "task", "m"), ev("TOOL_CALL_ARGS", `"toolCallId":"1"`, `"delta":"{\"title\":\"x\"}"`)}, begin("x", "f", "n"), me},
		"a member whose arguments are in chunk": {[]string{ev("TOOL_CALL_CHUNK", `"toolCallId":"1"`, `"toolCallName":"task"`, `"delta":"{\"subagent_type\":\"a\"}"`)}, begin("x", "f", "n"), a},
	} {
		t.Run(name, func(t *testing.T) {
			facts := factsOf(t, &event.Stream{ConfiguredAgent: "me"}, append(slices.Clip(c.before), c.call, end("x"))...)
			got, want := facts[strings.LastIndexByte(facts, '\n')+1:], "TOOL_CALL_END"+c.want+"; other"
			if got != want {
				t.Errorf("the call is of\n%s, want\n%s", got, want)
			}
		})
	}
}

// TestCallersInCircles checks that agents that work for one another, as far as their IDs say, end no search for the caller: only the run itself is
// above them.
func TestCallersInCircles(t *testing.T) {
	text := func(id, of string) string {
		return ev("TEXT_MESSAGE_START", `"messageId":"`+id+`"`, `"subagentRunId":"`+of+`"`)
	}
	begin := func(id, message string) string {
		return ev("TOOL_CALL_START", `"toolCallId":"`+id+`"`, `"toolCallName":"task"`, `"parentMessageId":"`+message+`"`)
	}
	args := func(id, delta string) string {
		return ev("TOOL_CALL_ARGS", `"toolCallId":"`+id+`"`, `"delta":"`+delta+`"`)
	}
	task := func(id, message string) []string {
		return []string{begin(id, message), args(id, `{\"subagent_type\":\"`+id+`\"}`)}
	}
	const begun = `{\"subagent_type\":\"x\"`
	for name, frames := range map[string][]string{
		"for itself":        {text("m", "c1"), begin("c1", "m"), args("c1", begun), begin("c0", "m0"), args("c0", begun+"}"), args("c1", "}")},
		"for each other":    slices.Concat([]string{text("m1", "c2"), text("m2", "c1")}, task("c1", "m1"), task("c2", "m2"), task("c3", "n")),
		"for one of them":   slices.Concat([]string{text("m1", "c2"), text("m2", "c1"), text("m3", "c1")}, task("c3", "m3"), task("c1", "m1"), task("c2", "m2")),
		"for another first": slices.Concat([]string{text("m1", "c2"), text("m2", "c1")}, task("c3", "n"), task("c1", "m1"), task("c2", "m2")),
	} {
		frames = append([]string{start}, append(frames, begin("c9", "m9"))...)
		facts := factsOf(t, &event.Stream{ConfiguredAgent: "me"}, frames...)
		got, want := facts[strings.LastIndexByte(facts, '\n')+1:], "TOOL_CALL_START"+runFields+` agent unknown; tool_started name="task" call="c9"`
		if got != want {
			t.Errorf("%s: the call is\n%s, want\n%s", name, got, want)
		}
	}
}
