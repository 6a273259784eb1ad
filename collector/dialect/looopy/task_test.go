package looopy

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

func decodeAll(t *testing.T, d dialect.Decoder, stream string) {
	t.Helper()
	frames := sse.NewReader(strings.NewReader(stream), 0)
	for {
		f, err := frames.Next()
		if err != nil {
			return
		}
		var b event.Batch
		d.Decode(dialect.Frame{Frame: f, JSON: value(t, string(f.Data))}, &b)
		if b.Rejected != "" {
			t.Fatalf("rejected for %s: %s", b.Rejected, f.Data)
		}
	}
}

// TestTasks checks the parent of each task and the call that started it.
func TestTasks(t *testing.T) {
	child := func(task, parent, agent string) string {
		return of(task, "task-created", `"parentTaskId":"`+parent+`","initiator":"user","path":["agent:`+agent+`"]`)
	}
	status := func(task string) string { return of(task, "task-status", working) }
	start := func(task, id, tool, more string) string {
		return of(task, "tool-start", `"toolCallId":"`+id+`","toolName":"`+tool+`"`+more)
	}
	done := func(task, id, tool string) string {
		return of(task, "tool-complete", `"toolCallId":"`+id+`","toolName":"`+tool+`","success":true`)
	}
	root := of("t", "task-created", created)
	const (
		newTaskFacts = `task-created run="t"; run_started`
		invoke       = "agent__weather-bot__invoke"
		callFacts    = `tool-start run="t"; tool_started name="` + invoke + `" call="c1"`
		callFacts2   = `tool-start run="t"; tool_started name="` + invoke + `" call="c2"`
		other        = `; other`
	)
	runDecode(t, []decodeCase{
		{"by the tool of the agent", []string{root, start("t", "c1", invoke, ""), child("s", "t", "weather-bot"), status("s")},
			[]string{newTaskFacts, callFacts, `task-created run="t" agent="weather-bot" branch="s" within="c1"; agent_started`,
				`task-status run="t" agent="weather-bot" branch="s" within="c1"` + other}},
		{"by a name that is sanitized", []string{root, start("t", "c1", invoke, ""), child("s", "t", "Weather  Bot")},
			[]string{newTaskFacts, callFacts, `task-created run="t" agent="Weather  Bot" branch="s" within="c1"; agent_started`}},
		{"by a tool with the agent's name", []string{root, start("t", "c1", "analyst", ""), child("s", "t", "analyst")},
			[]string{newTaskFacts, `tool-start run="t"; tool_started name="analyst" call="c1"`, `task-created run="t" agent="analyst" branch="s" within="c1"; agent_started`}},
		{"by a tool that an agent provides", []string{root, start("t", "c1", "ask", `,"metadata":{"provider":"analyst"}`), child("s", "t", "analyst")},
			[]string{newTaskFacts, `tool-start run="t"; tool_started name="ask" call="c1"`, `task-created run="t" agent="analyst" branch="s" within="c1"; agent_started`}},
		{"by another tool", []string{root, start("t", "c1", "look", ""), child("s", "t", "analyst")},
			[]string{newTaskFacts, `tool-start run="t"; tool_started name="look" call="c1"`, `task-created run="t" agent="analyst" branch="s"; agent_started`}},
		{"by a call that has ended", []string{root, start("t", "c1", invoke, ""), done("t", "c1", invoke), child("s", "t", "weather-bot")},
			[]string{newTaskFacts, callFacts, `tool-complete run="t"; tool_ended name="` + invoke + `" call="c1"`, `task-created run="t" agent="weather-bot" branch="s"; agent_started`}},
		{"by a call that waits for input", []string{root, start("t", "c1", invoke, ""), of("t", "tool-input-required", `"toolCallId":"c1","toolName":"`+invoke+`","inputId":"i1","inputType":"data"`), child("s", "t", "weather-bot")},
			[]string{newTaskFacts, callFacts, `tool-input-required run="t"; tool_paused call="c1"; input_requested call="i1" data routing="agent"`, `task-created run="t" agent="weather-bot" branch="s"; agent_started`}},
		{"by a call that starts later", []string{root, child("s", "t", "weather-bot"), start("t", "c1", invoke, ""), status("s")},
			[]string{newTaskFacts, `task-created run="t" agent="weather-bot" branch="s"; agent_started`, callFacts, `task-status run="t" agent="weather-bot" branch="s"` + other}},
		{"in parallel, each after its call", []string{root, start("t", "c1", invoke, ""), child("s1", "t", "weather-bot"), start("t", "c2", invoke, ""), child("s2", "t", "weather-bot")},
			[]string{newTaskFacts, callFacts, `task-created run="t" agent="weather-bot" branch="s1" within="c1"; agent_started`,
				callFacts2, `task-created run="t" agent="weather-bot" branch="s2" within="c2"; agent_started`}},
		{"by one of two calls", []string{root, start("t", "c1", invoke, ""), start("t", "c2", invoke, ""), child("s1", "t", "weather-bot"), child("s2", "t", "weather-bot")},
			[]string{newTaskFacts, callFacts, callFacts2, `task-created run="t" agent="weather-bot" branch="s1"; agent_started`, `task-created run="t" agent="weather-bot" branch="s2"; agent_started`}},
		{"a second task of the same call", []string{root, start("t", "c1", invoke, ""), child("s1", "t", "weather-bot"), child("s2", "t", "weather-bot")},
			[]string{newTaskFacts, callFacts, `task-created run="t" agent="weather-bot" branch="s1" within="c1"; agent_started`, `task-created run="t" agent="weather-bot" branch="s2" within="c1"; agent_started`}},
		{"an agent of an agent", []string{root, child("s", "t", "a"), start("s", "c1", "b", ""),
			of("u", "content-delta", `"parentTaskId":"s","path":["agent:a","agent:b","tool:x"],"delta":"hi"`)},
			[]string{newTaskFacts, `task-created run="t" agent="a" branch="s"; agent_started`, `tool-start run="t" agent="a" branch="s"; tool_started name="b" call="c1"`,
				`content-delta run="t" agent="b" branch="u" within="c1" parent="s" partial; model_started; text "hi"`}},
		{"by subtask-created, first", []string{root, of("t", "subtask-created", `"subtaskId":"s","agentId":"analyst"`), of("s", "task-created", `"initiator":"agent"`), status("s")},
			[]string{newTaskFacts, `subtask-created run="t"` + other, `task-created run="t" agent="analyst" branch="s"; agent_started`, `task-status run="t" agent="analyst" branch="s"` + other}},
		{"by subtask-created, late", []string{root, of("s", "task-created", `"initiator":"agent"`), status("u"), of("u", "subtask-created", `"subtaskId":"v","agentId":"deep"`),
			of("s", "subtask-created", `"subtaskId":"u","agentId":"inner"`), of("t", "subtask-created", `"subtaskId":"s","agentId":"analyst"`), status("s"), status("u"), status("v")},
			[]string{newTaskFacts, `task-created run="s" orphan; run_started`, `task-status run="u" orphan` + other, `subtask-created run="u" orphan` + other,
				`subtask-created run="s" orphan; adopted name="inner" id="u"`, `subtask-created run="t"; adopted name="analyst" id="s"`,
				`task-status run="t" agent="analyst" branch="s"` + other, `task-status run="t" agent="inner" branch="u" parent="s"` + other,
				`task-status run="t" agent="deep" branch="v" parent="u"` + other}},
		{"by task-created, late", []string{root, status("s"), child("s", "t", "a")},
			[]string{newTaskFacts, `task-status run="s" orphan` + other, `task-created run="t" agent="a" branch="s"; adopted name="a" id="s"; agent_started`}},
		{"of an unknown parent", []string{child("s", "t", "a"), status("t"), root},
			[]string{`task-created run="t" orphan agent="a" branch="s"; agent_started`, `task-status run="t" orphan` + other, newTaskFacts}},
		{"of a parent that gets a parent later", []string{child("s", "t", "a"), of("r", "subtask-created", `"subtaskId":"t","agentId":"b"`), status("s")},
			[]string{`task-created run="t" orphan agent="a" branch="s"; agent_started`, `subtask-created run="r" orphan; adopted name="b" id="t"`, `task-status run="r" orphan agent="a" branch="s" parent="t"` + other}},
		{"after the end", []string{root, of("s", "task-complete", ""), of("t", "subtask-created", `"subtaskId":"s","agentId":"a"`), status("s")},
			[]string{newTaskFacts, `task-complete run="s" orphan; final; run_ended`, `subtask-created run="t"` + other, `task-status run="s" orphan agent="a"` + other}},
		{"in a circle", []string{child("a", "b", "x"), child("b", "a", "y"), child("c", "c", "z")},
			[]string{`task-created run="b" orphan agent="x" branch="a"; agent_started`, `task-created run="b" agent="y"; run_started`, `task-created run="c" agent="z"; run_started`}},
		{"with two parents", []string{root, child("s", "t", "a"), child("s", "u", "b")},
			[]string{newTaskFacts, `task-created run="t" agent="a" branch="s"; agent_started`, `task-created run="t" agent="a" branch="s"` + other}},
		{"with the user's name", []string{of("t", "task-created", created+`,"metadata":{"agentId":"user"}`), child("s", "t", "user")},
			[]string{newTaskFacts, `task-created run="t" branch="s"; agent_started`}},
	})
}

// TestSubtasksEnd checks the ends of agents and of the calls that started them.
func TestSubtasksEnd(t *testing.T) {
	const tool = `"toolCallId":"c1","toolName":"a"`
	begin := []string{of("t", "task-created", created), of("t", "tool-start", tool), of("s", "task-created", `"parentTaskId":"t","path":["agent:a"]`)}
	startFacts := []string{`task-created run="t"; run_started`, `tool-start run="t"; tool_started name="a" call="c1"`, `task-created run="t" agent="a" branch="s" within="c1"; agent_started`}
	done := of("t", "tool-complete", tool+`,"success":true`)
	for _, c := range []struct{ name, end, endFacts, callFacts string }{
		{"completed", of("s", "task-complete", `"content":"hi","metadata":{"duration":7}`), `task-complete%s; text "hi"; final; agent_ended took=7ms`, `tool_ended name="a" call="c1"`},
		{"failed", of("s", "task-status", `"status":"failed"`), `task-status%s; agent_ended agent_error awaits_outcome`, `tool_ended name="a" call="c1" tool_error`},
		{"canceled", of("s", "task-status", `"status":"canceled"`), `task-status%s; agent_ended canceled awaits_outcome`, `tool_ended name="a" call="c1" canceled`},
		{"paused", of("s", "task-status", `"status":"waiting-input"`), `task-status%s; other`, `tool_paused call="c1"; tool_ended name="a" call="c1"`},
		{"paused and resumed", of("s", "task-status", `"status":"waiting-auth"`) + of("s", "task-status", working),
			`task-status%[1]s; other` + "\n" + `task-status%[1]s; other`, `tool_ended name="a" call="c1"`},
		{"paused and completed", of("s", "task-status", `"status":"waiting-input"`) + of("s", "task-complete", ""),
			`task-status%[1]s; other` + "\n" + `task-complete%[1]s; final; agent_ended`, `tool_ended name="a" call="c1"`},
		{"working", of("s", "task-status", working), `task-status%s; other`, `tool_ended name="a" call="c1"`},
	} {
		ended := strings.NewReplacer("%s", ` run="t" agent="a" branch="s" within="c1"`, "%[1]s", ` run="t" agent="a" branch="s" within="c1"`).Replace(c.endFacts)
		want := strings.Join(append(startFacts[:3:3], ended, `tool-complete run="t"; `+c.callFacts), "\n")
		if got := factsOf(&event.Stream{}, append(begin[:3:3], c.end, done)...); got != want {
			t.Errorf("%s: the facts are\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// TestInterleaved checks that two runs whose frames alternate on one stream decode as they do alone.
func TestInterleaved(t *testing.T) {
	alone := func(n string) []string {
		return []string{
			of("t"+n, "task-created", created), of("t"+n, "content-complete", `"content":"","finishReason":"tool_calls","toolCalls":[{"id":"c1"}]`),
			of("t"+n, "llm-usage", `"model":"m`+n+`","prompt_tokens":1`), of("t"+n, "tool-start", `"toolCallId":"c1","toolName":"a"`),
			of("s"+n, "task-created", `"parentTaskId":"t`+n+`","path":["agent:a"]`), of("s"+n, "llm-usage", `"model":"m`+n+`","prompt_tokens":1`),
			of("s"+n, "content-delta", `"delta":"x"`), of("s"+n, "task-status", `"status":"failed"`),
			of("t"+n, "tool-complete", `"toolCallId":"c1","toolName":"a","success":true`),
			of("t"+n, "content-delta", `"delta":"x"`), of("t"+n, "content-complete", `"content":"x","finishReason":"stop"`), of("t"+n, "task-complete", `"content":"x"`),
		}
	}
	one, two := alone("1"), alone("2")
	var mixed, want []string
	onesLines, twosLines := strings.Split(factsOf(&event.Stream{}, one...), "\n"), strings.Split(factsOf(&event.Stream{}, two...), "\n")
	for i := range one {
		mixed = append(mixed, one[i], two[i])
		want = append(want, onesLines[i], twosLines[i])
	}
	if got := factsOf(&event.Stream{}, mixed...); got != strings.Join(want, "\n") {
		t.Errorf("the facts are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestSingleRun checks that a stream that answers one request is a run, regardless of its initiator.
func TestSingleRun(t *testing.T) {
	const want = `tool-start run="t" session="ctx"; tool_started name="x" call="c1"`
	stream := &event.Stream{SingleRun: true, Identity: event.Identity{Session: "ctx"}}
	if got := factsOf(stream, of("t", "tool-start", `"toolCallId":"c1","toolName":"x"`)); got != want {
		t.Errorf("a call decodes to\n%s\nwant\n%s", got, want)
	}
	const newTaskFacts = `task-created run="t" session="ctx"; run_started`
	if got := factsOf(stream, of("t", "task-created", `"initiator":"agent"`)); got != newTaskFacts {
		t.Errorf("a new task decodes to\n%s\nwant\n%s", got, newTaskFacts)
	}
}
