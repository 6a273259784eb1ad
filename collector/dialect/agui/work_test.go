package agui

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestCalls checks the facts of tool calls.
func TestCalls(t *testing.T) {
	call := ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"f"`)
	called := `TOOL_CALL_START; tool_started name="f" call="c"`
	result := func(content string) string {
		return ev("TOOL_CALL_RESULT", `"toolCallId":"c"`, `"content":`+content)
	}
	runDecode(t, []decodeCase{
		{"with a result in a text", []string{call, result(`"21 degrees"`)}, []string{called, `TOOL_CALL_RESULT; tool_ended name="f" call="c" settled "21 degrees"`}},
		{"with a result in parts", []string{call, result(`[{"type":"text","text":"x"}]`)}, []string{called, `TOOL_CALL_RESULT; tool_ended name="f" call="c" settled [{"type":"text","text":"x"}]`}},
		{"with an error as its result", []string{call, result(`"{\"error\":\"failed softly\"}"`)}, []string{called, `TOOL_CALL_RESULT; tool_ended name="f" call="c" tool_error settled {"error":"failed softly"}`}},
		{"with an error and its code", []string{call, result(`{"error":{"code":404}}`)}, []string{called, `TOOL_CALL_RESULT; tool_ended name="f" call="c" tool_error code="404" settled {"error":{"code":404}}`}},
		{"without an error", []string{call, result(`"{\"error\":null}"`)}, []string{called, `TOOL_CALL_RESULT; tool_ended name="f" call="c" settled {"error":null}`}},
		{"with two results", []string{call, result(`"1"`), result(`"2"`)}, []string{called, `TOOL_CALL_RESULT; tool_ended name="f" call="c" settled 1`, `TOOL_CALL_RESULT; tool_ended call="c" settled 2`}},
		{"in chunks", []string{ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`), ev("TOOL_CALL_CHUNK", `"delta":"{"`), ev("TOOL_CALL_CHUNK", `"toolCallId":"d"`, `"toolCallName":"g"`), ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`), ev("THINKING_END"), ev("TOOL_CALL_CHUNK", `"delta":"}"`)},
			[]string{`TOOL_CALL_CHUNK; tool_started name="f" call="c"`, "TOOL_CALL_ARGS; other", `TOOL_CALL_CHUNK; tool_started name="g" call="d"`, "TOOL_CALL_ARGS; other", "THINKING_END; other", "TOOL_CALL_ARGS; other"}},
		{"in chunks of a subagent", []string{ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`, `"subagentRunId":"s"`), ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`, `"delta":"{"`), ev("TOOL_CALL_CHUNK", `"delta":"}"`, `"subagentRunId":"s"`)},
			[]string{`TOOL_CALL_CHUNK agent="subagent" branch="s"; tool_started name="f" call="c"`, `TOOL_CALL_ARGS agent="subagent" branch="s"; other`, `TOOL_CALL_ARGS agent="subagent" branch="s"; other`}},
		{"of a message's agent", []string{ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"subagentRunId":"s"`), ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"f"`, `"parentMessageId":"m"`), ev("TOOL_CALL_END", `"toolCallId":"c"`), result(`"x"`)},
			[]string{`TEXT_MESSAGE_START agent="subagent" branch="s"; other`, `TOOL_CALL_START agent="subagent" branch="s"; tool_started name="f" call="c"`, `TOOL_CALL_END agent="subagent" branch="s"; other`, `TOOL_CALL_RESULT agent="subagent" branch="s"; tool_ended name="f" call="c" settled "x"`}},
		{"of the agent of a message that has ended", []string{ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"name":"bob"`), ev("TEXT_MESSAGE_END", `"messageId":"m"`), ev("TEXT_MESSAGE_CHUNK", `"messageId":"n"`, `"name":"eve"`), ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"f"`, `"parentMessageId":"m"`), result(`"x"`), ev("TOOL_CALL_CHUNK", `"toolCallId":"d"`, `"toolCallName":"g"`, `"parentMessageId":"n"`)},
			[]string{`TEXT_MESSAGE_START agent="bob"; other`, `TEXT_MESSAGE_END agent="bob"; other`, `TEXT_MESSAGE_CHUNK agent="eve"; other`, `TOOL_CALL_START agent="bob"; tool_started name="f" call="c"`, `TOOL_CALL_RESULT agent="bob"; tool_ended name="f" call="c" settled "x"`, `TOOL_CALL_CHUNK agent="eve"; tool_started name="g" call="d"`}},
		{"left to the client", []string{start, call, finish}, []string{startFacts, "TOOL_CALL_START" + runFields + `; tool_started name="f" call="c"`, "RUN_FINISHED" + runFields + `; tool_paused call="c"; run_ended awaits_outcome`}},
		{"left to the client by name", []string{start, call, ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"outcome":{"type":"success","pendingToolCallIds":["d",7]}`)},
			[]string{startFacts, "TOOL_CALL_START" + runFields + `; tool_started name="f" call="c"`, "RUN_FINISHED" + runFields + `; tool_paused call="d"; run_ended awaits_outcome`}},
	})
}

// TestSameIDsOfAgents checks that the calls and messages of two agents stay apart if they have the same ids.
func TestSameIDsOfAgents(t *testing.T) {
	by := func(owner, kind string, members ...string) string {
		return ev(kind, append(members, `"subagentRunId":"`+owner+`"`)...)
	}
	call, chunk := []string{`"toolCallId":"c"`, `"toolCallName":"f"`}, []string{`"messageId":"m"`, `"role":"assistant"`}
	result := func(content string) []string { return []string{`"toolCallId":"c"`, `"content":"` + content + `"`} }
	piece := func(delta string) []string { return []string{`"messageId":"m"`, `"delta":"` + delta + `"`} }
	const one, two = ` agent="subagent" branch="1"; `, ` agent="subagent" branch="2"; `
	partly := func(speaker string) string { return strings.TrimSuffix(speaker, "; ") + " partial; " }
	const begun, whole, other = `tool_started name="f" call="c"`, `tool_ended name="f" call="c" settled `, "other"
	runDecode(t, []decodeCase{
		{"calls", []string{by("1", "TOOL_CALL_START", call...), by("2", "TOOL_CALL_START", call...), by("2", "TOOL_CALL_RESULT", result("x")...), ev("TOOL_CALL_RESULT", result("y")...)},
			[]string{"TOOL_CALL_START" + one + begun, "TOOL_CALL_START" + two + begun, "TOOL_CALL_RESULT" + two + whole + `"x"`, "TOOL_CALL_RESULT" + one + whole + `"y"`}},
		{"calls in chunks", []string{by("1", "TOOL_CALL_CHUNK", call...), by("2", "TOOL_CALL_CHUNK", call...), by("1", "TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"delta":"{"`)},
			[]string{"TOOL_CALL_CHUNK" + one + begun, "TOOL_CALL_CHUNK" + two + begun, "TOOL_CALL_ARGS" + one + other}},
		{"messages", []string{by("1", "TEXT_MESSAGE_START", chunk...), by("2", "TEXT_MESSAGE_START", chunk...), by("2", "TEXT_MESSAGE_CONTENT", piece("x")...), by("1", "TEXT_MESSAGE_CONTENT", piece("y")...), by("2", "TEXT_MESSAGE_END", `"messageId":"m"`), ev("TEXT_MESSAGE_END", `"messageId":"m"`)},
			[]string{"TEXT_MESSAGE_START" + one + other, "TEXT_MESSAGE_START" + two + other, "TEXT_MESSAGE_CONTENT" + partly(two) + `text "x"`, "TEXT_MESSAGE_CONTENT" + partly(one) + `text "y"`, "TEXT_MESSAGE_END" + two + `text "x"`, "TEXT_MESSAGE_END" + one + `text "y"`}},
		{"messages in chunks", []string{by("1", "TEXT_MESSAGE_CHUNK", append(chunk, `"delta":"x"`)...), by("2", "TEXT_MESSAGE_CHUNK", append(chunk, `"delta":"y"`)...), by("1", "TEXT_MESSAGE_CHUNK", `"delta":"z"`)},
			[]string{"TEXT_MESSAGE_CHUNK" + partly(one) + `text "x"`, "TEXT_MESSAGE_CHUNK" + partly(two) + `text "y"`, "TEXT_MESSAGE_CHUNK" + partly(one) + `text "z"`}},
		{"a message under the id of another role's", []string{by("1", "TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"user"`), by("2", "TEXT_MESSAGE_CHUNK", piece("x")...)},
			[]string{typeNonAnswer + one + other, typeNonAnswer + two + other}},
	})
}

// TestAgents checks the parents of agents and steps.
func TestAgents(t *testing.T) {
	step := func(kind, name string, more ...string) string {
		return ev("STEP_"+kind, append([]string{`"stepName":"` + name + `"`}, more...)...)
	}
	nested := func(name, id, parent string) string {
		return step("STARTED", name, `"rawEvent":{"attribution":{"step_id":`+id+`,"parent_step_id":`+parent+`}}`)
	}
	ended := func(name, id string) string {
		return step("FINISHED", name, `"rawEvent":{"attribution":{"step_id":`+id+`}}`)
	}
	custom := ev("CUSTOM", `"name":"x"`)
	runDecode(t, []decodeCase{
		{"steps, one after the other", []string{step("STARTED", "a"), custom, step("FINISHED", "a"), custom, step("STARTED", "a")},
			[]string{`STEP_STARTED step="a" branch="a#1"; agent_started`, `CUSTOM step="a" branch="a#1"; other`, `STEP_FINISHED step="a" branch="a#1"; agent_ended`, "CUSTOM; other", `STEP_STARTED step="a" branch="a#2"; agent_started`}},
		{"steps side by side", []string{step("STARTED", "a"), step("STARTED", "b"), custom, step("FINISHED", "a"), custom},
			[]string{`STEP_STARTED step="a" branch="a#1"; agent_started`, `STEP_STARTED step="b" branch="b#2"; agent_started`, "CUSTOM; other", `STEP_FINISHED step="a" branch="a#1"; agent_ended`, `CUSTOM step="b" branch="b#2"; other`}},
		{"nested steps", []string{nested("a", `"1"`, "null"), nested("b", `"2"`, `"1"`), custom, step("FINISHED", "b"), custom},
			[]string{`STEP_STARTED step="a" branch="a#1"; agent_started`, `STEP_STARTED step="b" branch="b#2" parent="a#1"; agent_started`, `CUSTOM step="b" branch="b#2" parent="a#1"; other`, `STEP_FINISHED step="b" branch="b#2" parent="a#1"; agent_ended`, `CUSTOM step="a" branch="a#1"; other`}},
		{"two steps of the same name", []string{step("STARTED", "a"), step("STARTED", "a"), custom, step("FINISHED", "a"), custom, step("FINISHED", "a"), step("FINISHED", "a")},
			[]string{`STEP_STARTED step="a" branch="a#1"; agent_started`, `STEP_STARTED step="a" branch="a#2"; agent_started`, "CUSTOM; other", `STEP_FINISHED step="a" branch="a#2"; agent_ended`, `CUSTOM step="a" branch="a#1"; other`, `STEP_FINISHED step="a" branch="a#1"; agent_ended`, "STEP_FINISHED; other"}},
		{"two steps of the same name, with another between them", []string{step("STARTED", "a"), step("STARTED", "b"), step("STARTED", "a"), step("FINISHED", "a"), step("FINISHED", "b"), step("FINISHED", "a")},
			[]string{`STEP_STARTED step="a" branch="a#1"; agent_started`, `STEP_STARTED step="b" branch="b#2"; agent_started`, `STEP_STARTED step="a" branch="a#3"; agent_started`, `STEP_FINISHED step="a" branch="a#3"; agent_ended`, `STEP_FINISHED step="b" branch="b#2"; agent_ended`, `STEP_FINISHED step="a" branch="a#1"; agent_ended`}},
		{"two steps of the same name, with ids", []string{nested("a", `"1"`, "null"), nested("a", `"2"`, "null"), nested("a", `"2"`, "null"), ended("a", `"1"`), ended("a", `"2"`)},
			[]string{`STEP_STARTED step="a" branch="a#1"; agent_started`, `STEP_STARTED step="a" branch="a#2"; agent_started`, `STEP_STARTED step="a" branch="a#2"; other`, `STEP_FINISHED step="a" branch="a#1"; agent_ended`, `STEP_FINISHED step="a" branch="a#2"; agent_ended`}},
		{"a step of a subagent", []string{step("STARTED", "a"), step("STARTED", "a", `"subagentRunId":"s"`), step("FINISHED", "a"), ev("CUSTOM", `"name":"x"`, `"subagentRunId":"s"`)},
			[]string{`STEP_STARTED step="a" branch="a#1"; agent_started`, `STEP_STARTED agent="subagent" step="a" branch="a#2" parent="s"; agent_started`, `STEP_FINISHED step="a" branch="a#1"; agent_ended`, `CUSTOM agent="subagent" step="a" branch="a#2" parent="s"; other`}},
		{"steps without a usable name", []string{step("STARTED", ""), step("STARTED", "user"), ev("STEP_STARTED")}, []string{"STEP_STARTED; other", "STEP_STARTED; other", "STEP_STARTED; other"}},
		{"subagents of calls, of subagents and of steps", []string{
			ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"n"`, `"parentToolCallId":"c"`), ev("SUBAGENT_STARTED", `"subagentRunId":"u"`, `"name":"user"`, `"parentSubagentRunId":"s"`),
			step("STARTED", "a"), ev("SUBAGENT_STARTED", `"subagentRunId":"w"`, `"name":"n"`)},
			[]string{`SUBAGENT_STARTED agent="n" branch="s" within="c"; agent_started`, `SUBAGENT_STARTED agent="subagent" branch="u" parent="s"; agent_started`,
				`STEP_STARTED step="a" branch="a#1"; agent_started`, `SUBAGENT_STARTED agent="n" branch="w" parent="a#1"; agent_started`}},
		{"a suspended subagent", []string{ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"n"`), ev("SUBAGENT_FINISHED", `"subagentRunId":"s"`, `"outcome":{"type":"suspended"}`)},
			[]string{`SUBAGENT_STARTED agent="n" branch="s"; agent_started`, `SUBAGENT_FINISHED agent="n" branch="s" agent waits; other`}},
		{"a subagent's event after its end", []string{ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"n"`), ev("SUBAGENT_FINISHED", `"subagentRunId":"s"`), ev("CUSTOM", `"name":"x"`, `"subagentRunId":"s"`)},
			[]string{`SUBAGENT_STARTED agent="n" branch="s"; agent_started`, `SUBAGENT_FINISHED agent="n" branch="s"; agent_ended`, `CUSTOM agent="n" branch="s"; other`}},
		{"subagents without an id", []string{ev("SUBAGENT_STARTED", `"subagentRunId":""`, `"name":"n"`), ev("SUBAGENT_ERROR", `"subagentRunId":null`)}, []string{"SUBAGENT_STARTED; other", "SUBAGENT_ERROR; other"}},
	})
}

// TestQuestions checks the requests for input at the end of a run.
func TestQuestions(t *testing.T) {
	interrupt := func(members string) string {
		return ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"timestamp":1795228205000`, `"outcome":{"type":"interrupt","interrupts":[`+members+`]}`)
	}
	const ended = `RUN_FINISHED run="r" session="t" 2026-11-21T02:30:05Z; `
	asked := ev("CUSTOM", `"name":"on_interrupt"`, `"value":"Go on?"`)
	runDecode(t, []decodeCase{
		{"for the approval of a call", []string{interrupt(`{"id":"i","reason":"tool_call","toolCallId":"c"}`)}, []string{ended + `tool_paused call="c"; input_requested call="i" confirmation; run_ended awaits_outcome`}},
		{"for a confirmation", []string{interrupt(`{"id":"i","reason":"confirmation","responseSchema":{}}`)}, []string{ended + `input_requested call="i" confirmation; run_ended awaits_outcome`}},
		{"for data", []string{interrupt(`{"id":"i","reason":"input_required"},{"id":"j","reason":"mastra:workflow_suspend","responseSchema":{}}`)},
			[]string{ended + `input_requested call="i" data; input_requested call="j" data; run_ended awaits_outcome`}},
		{"with a framework's own reason", []string{interrupt(`{"id":"i","reason":"langgraph:x"}`)}, []string{ended + `input_requested call="i" clarification; run_ended awaits_outcome`}},
		{"with an expiry", []string{interrupt(`{"id":"i","reason":"x","expiresAt":"2026-11-21T02:31:05Z"}`)}, []string{ended + `input_requested call="i" clarification expires=1m0s; run_ended awaits_outcome`}},
		{"with an unusable expiry", []string{interrupt(`{"id":"i","reason":"x","expiresAt":"2020-01-01T00:00:00Z"},{"id":"j","reason":"x","expiresAt":"9999-01-01T00:00:00Z"},{"id":"k","reason":"x","expiresAt":"soon"}`)},
			[]string{ended + `input_requested call="i" clarification; input_requested call="j" clarification; input_requested call="k" clarification; run_ended awaits_outcome`}},
		{"in a framework's event", []string{start, asked, asked, finish}, []string{startFacts, "on_interrupt" + runFields + "; other", "on_interrupt" + runFields + "; other", "RUN_FINISHED" + runFields + `; input_requested call="on_interrupt" clarification prompt="Go on?"; run_ended awaits_outcome`}},
		{"in an internal event", []string{start, ev("CUSTOM", `"name":"on_interrupt"`, `"value":"Go on?"`, `"kind":"internal"`), finish},
			[]string{startFacts, "on_interrupt" + runFields + " internal; other", "RUN_FINISHED" + runFields + `; input_requested call="on_interrupt" clarification; run_ended awaits_outcome`}},
		{"in both", []string{asked, interrupt(`{"id":"i","reason":"x"}`)}, []string{"on_interrupt; other", ended + `input_requested call="i" clarification; run_ended awaits_outcome`}},
		{"not repeated in the next run", []string{start, asked, finish, start, finish},
			[]string{startFacts, "on_interrupt" + runFields + "; other", "RUN_FINISHED" + runFields + `; input_requested call="on_interrupt" clarification prompt="Go on?"; run_ended awaits_outcome`, startFacts, finishFacts}},
		{"without interrupts", []string{ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"outcome":{"type":"interrupt","interrupts":7}`)},
			[]string{"RUN_FINISHED" + runFields + `; input_requested call="r" clarification; run_ended awaits_outcome`}},
	})
}

// TestDelegations checks that ADK's transfer function transfers control, and that members of Agno's
// teams work within the call that gives them a task. The run's own agent has the configured name.
func TestDelegations(t *testing.T) {
	calls := func(tool, args, result string) []string {
		return []string{
			ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"`+tool+`"`), ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"`+args[:4]+`"`),
			ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"`+args[4:]+`"`), ev("TOOL_CALL_END", `"toolCallId":"c"`),
			ev("TOOL_CALL_RESULT", `"messageId":"m"`, `"toolCallId":"c"`, `"content":"`+result+`"`), ev("CUSTOM", `"name":"x"`),
		}
	}
	called := func(tool, end, result, after string) []string {
		if !strings.HasPrefix(result, "tool_error") {
			result = "settled " + result
		}
		return []string{`TOOL_CALL_START agent="me"; tool_started name="` + tool + `" call="c"`, `TOOL_CALL_ARGS agent="me"; other`, `TOOL_CALL_ARGS agent="` + end,
			`TOOL_CALL_END agent="` + end, `TOOL_CALL_RESULT agent="me"; tool_ended name="` + tool + `" call="c" ` + result, `CUSTOM agent="` + after + `"; other`}
	}
	const to, member = `{\"agent_name\":\"billing\"}`, `{\"member_id\":\"writer\",\"task\":\"x\"}`
	const expert = `{\"description\":\"x\",\"subagent_type\":\"expert\"}`
	const (
		noExpert     = "We cannot invoke subagent expert because it does not exist, the only allowed types are `a`"
		noExpertJS   = `Error: Error: invoked agent of type expert, the only allowed types are writer`
		noFork       = "You are a subagent and cannot delegate to another subagent. Complete this task yourself"
		badArguments = "Error invoking tool 'task' with kwargs {'subagent_type': 'expert'} with error:"
		failedInside = "Error executing tool 'task' with kwargs {'subagent_type': 'expert'} with error:"
		noOther      = "We cannot invoke subagent boss because it does not exist"
	)
	long := `{\"member_id\":\"writer\",\"task\":\"` + strings.Repeat("x", maxArgs) + `\"}`
	runDecodeOf(t, &event.Stream{ConfiguredAgent: "me"}, []decodeCase{
		{"a transfer", calls("transfer_to_agent", to, `{\"result\":null}`), called("transfer_to_agent", `me"; other`, `{"result":null}; transfer name="billing" call="c" id="c"`, "billing")},
		{"a transfer that failed", calls("transfer_to_agent", to, `{\"error\":\"no\"}`), called("transfer_to_agent", `me"; other`, `tool_error settled {"error":"no"}`, "me")},
		{"a transfer to the user", calls("transfer_to_agent", `{\"agent_name\":\"user\"}`, "1"), called("transfer_to_agent", `me"; other`, "1", "me")},
		{"another tool", calls("look", to, "1"), called("look", `me"; other`, "1", "me")},
		{"a member of a team", calls("delegate_task_to_member", member, "1"), called("delegate_task_to_member", `writer" branch="c" within="c"; other`, "1", "me")},
		{"a member for a task of the team", calls("execute_task", member, "1"), called("execute_task", `writer" branch="c" within="c"; other`, "1", "me")},
		{"an unknown task", calls("execute_task", member, "Task with ID 't1' not found."), called("execute_task", `writer" branch="c" within="c"; other`, `tool_error settled no_agent "Task with ID 't1' not found."`, "me")},
		{"an unknown member", calls("delegate_task_to_member", member, "Member with ID writer not found in the team or any subteams. Please"),
			called("delegate_task_to_member", `writer" branch="c" within="c"; other`, `tool_error settled no_agent "Member with ID writer not found in the team or any subteams. Please"`, "me")},
		{"an unknown member, encoded", calls("delegate_task_to_member", member, `\"Member with ID writer not found in the team`),
			called("delegate_task_to_member", `writer" branch="c" within="c"; other`, `tool_error settled no_agent "\"Member with ID writer not found in the team"`, "me")},
		{"a member whose answer names another", calls("delegate_task_to_member", member, "Member with ID boss not found in the team"),
			called("delegate_task_to_member", `writer" branch="c" within="c"; other`, `"Member with ID boss not found in the team"`, "me")},
		{"a deep agent's subagent", calls("task", expert, "1"), called("task", `expert" branch="c" within="c"; other`, "1", "me")},
		{"an unknown subagent", calls("task", expert, noExpert), called("task", `expert" branch="c" within="c"; other`, `tool_error settled no_agent "`+noExpert+`"`, "me")},
		{"an unknown subagent, in JavaScript", calls("task", expert, noExpertJS), called("task", `expert" branch="c" within="c"; other`, `tool_error settled no_agent "`+noExpertJS+`"`, "me")},
		{"a subagent's subagent", calls("task", expert, noFork), called("task", `expert" branch="c" within="c"; other`, `tool_error settled no_agent "`+noFork+`"`, "me")},
		{"refused arguments", calls("task", expert, badArguments), called("task", `expert" branch="c" within="c"; other`, `tool_error settled no_agent "`+badArguments+`"`, "me")},
		{"a subagent that failed", calls("task", expert, failedInside), called("task", `expert" branch="c" within="c"; other`, `"`+failedInside+`"`, "me")},
		{"a subagent whose answer names another", calls("task", expert, noOther), called("task", `expert" branch="c" within="c"; other`, `"`+noOther+`"`, "me")},
		{"a task without an agent", calls("task", member, "1"), called("task", `me"; other`, "1", "me")},
		{"a member without a name", calls("delegate_task_to_member", `{\"member_id\":7}`, "1"), called("delegate_task_to_member", `me"; other`, "1", "me")},
		{"arguments that are too long", calls("delegate_task_to_member", long, "1"), called("delegate_task_to_member", `me"; other`, "1", "me")},
	})
}

// TestStartsOfDelegates checks that a delegate starts with the last piece of the arguments. Agno ends a call's arguments only after
// the delegate's work.
func TestStartsOfDelegates(t *testing.T) {
	piece := func(delta string) string { return ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"`+delta+`"`) }
	chunk := func(more string) string { return ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`+more) }
	call, named := ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"delegate_task_to_member"`), `,"toolCallName":"delegate_task_to_member"`
	end, result := ev("TOOL_CALL_END", `"toolCallId":"c"`), ev("TOOL_CALL_RESULT", `"toolCallId":"c"`, `"content":"1"`)
	const begun, others, writer = `; tool_started name="delegate_task_to_member" call="c"`, "TOOL_CALL_ARGS; other", ` agent="writer" branch="c" within="c"; other`
	const ended = `TOOL_CALL_RESULT; tool_ended name="delegate_task_to_member" call="c" settled 1`
	runDecode(t, []decodeCase{
		{"before the call's end", []string{call, piece(`{\"member_id\":\"writer\"}`), ev("CUSTOM", `"name":"x"`), end, result},
			[]string{"TOOL_CALL_START" + begun, "TOOL_CALL_ARGS" + writer, "CUSTOM; other", "TOOL_CALL_END" + writer, ended}},
		{"not with an inner brace", []string{call, piece(`{\"x\":{}`), piece(`,\"member_id\":\"writer\"} `), result},
			[]string{"TOOL_CALL_START" + begun, others, "TOOL_CALL_ARGS" + writer, ended}},
		{"in the last chunk", []string{chunk(named + `,"delta":"{\"member_id\":"`), chunk(`,"delta":"\"writer\"}"`), result},
			[]string{"TOOL_CALL_CHUNK" + begun, "TOOL_CALL_ARGS" + writer, ended}},
		{"not in the chunk that begins the call", []string{chunk(named + `,"delta":"{\"member_id\":\"writer\"}"`), result}, []string{"TOOL_CALL_CHUNK" + begun, ended}},
	})
}

// TestAnnouncedDelegates announces the agent of a delegation as a subagent too: both are one.
func TestAnnouncedDelegates(t *testing.T) {
	task := func(id, name string) []string {
		return []string{ev("TOOL_CALL_START", `"toolCallId":"`+id+`"`, `"toolCallName":"task"`),
			ev("TOOL_CALL_ARGS", `"toolCallId":"`+id+`"`, `"delta":"{\"subagent_type\":\"`+name+`\"}"`), ev("TOOL_CALL_END", `"toolCallId":"`+id+`"`)}
	}
	begun := func(id, speaker string) []string {
		return []string{`TOOL_CALL_START; tool_started name="task" call="` + id + `"`, `TOOL_CALL_ARGS agent=` + speaker + `; other`, `TOOL_CALL_END agent=` + speaker + `; other`}
	}
	announced := func(id, name, more string) string {
		return ev("SUBAGENT_STARTED", `"subagentRunId":"`+id+`"`, `"name":"`+name+`"`+more)
	}
	failed := ev("SUBAGENT_ERROR", `"subagentRunId":"s"`, `"message":"x"`, `"code":"E"`)
	const inC, expert = `,"parentToolCallId":"c"`, `"expert" branch="c" within="c"`
	const failure = `; agent_ended agent_error code="E"`
	runDecode(t, []decodeCase{
		{"after the call", slices.Concat(task("c", "expert"), []string{announced("s", "Expert", inC), failed}),
			append(begun("c", expert), `SUBAGENT_STARTED agent=`+expert+`; agent_started`, `SUBAGENT_ERROR agent=`+expert+failure)},
		{"without its call", slices.Concat(task("c", "expert"), task("d", "other"), []string{announced("s", "expert", ""), failed}),
			slices.Concat(begun("c", expert), begun("d", `"other" branch="d" within="d"`), []string{`SUBAGENT_STARTED agent=` + expert + `; agent_started`, `SUBAGENT_ERROR agent=` + expert + failure})},
		{"before the call", slices.Concat([]string{announced("s", "expert", inC)}, task("c", "expert")),
			append([]string{`SUBAGENT_STARTED agent="expert" branch="s" within="c"; agent_started`}, begun("c", `"expert" branch="s" within="c"`)...)},
		{"another agent of the call", append(task("c", "expert"), announced("s", "helper", inC)),
			append(begun("c", expert), `SUBAGENT_STARTED agent="helper" branch="s" within="c"; agent_started`)},
		{"a second one", append(task("c", "expert"), announced("s", "expert", inC), announced("u", "expert", inC)),
			append(begun("c", expert), `SUBAGENT_STARTED agent=`+expert+`; agent_started`, `SUBAGENT_STARTED agent="expert" branch="u" within="c"; agent_started`)},
	})
}

// TestLangChainAgents checks that a frame belongs to the agent that LangChain's event names, if that agent
// works within exactly one open call.
func TestLangChainAgents(t *testing.T) {
	task := func(id string) []string {
		return []string{ev("TOOL_CALL_START", `"toolCallId":"`+id+`"`, `"toolCallName":"task"`),
			ev("TOOL_CALL_ARGS", `"toolCallId":"`+id+`"`, `"delta":"{\"subagent_type\":\"expert\"}"`), ev("TOOL_CALL_END", `"toolCallId":"`+id+`"`)}
	}
	begun := func(id string) []string {
		return []string{`TOOL_CALL_START agent="me"; tool_started name="task" call="` + id + `"`, `TOOL_CALL_ARGS agent="expert" branch="` + id + `" within="` + id + `"; other`,
			`TOOL_CALL_END agent="expert" branch="` + id + `" within="` + id + `"; other`}
	}
	by := func(name string) string {
		return ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"rawEvent":{"metadata":{"lc_agent_name":"`+name+`"}}`)
	}
	result := ev("TOOL_CALL_RESULT", `"messageId":"m"`, `"toolCallId":"c"`, `"content":"1"`)
	ended := `TOOL_CALL_RESULT agent="me"; tool_ended name="task" call="c" settled 1`
	runDecodeOf(t, &event.Stream{ConfiguredAgent: "me"}, []decodeCase{
		{"the subagent", append(task("c"), by("expert")), append(begun("c"), `TEXT_MESSAGE_START agent="expert" branch="c" within="c"; other`)},
		{"another agent", append(task("c"), by("other")), append(begun("c"), `TEXT_MESSAGE_START agent="me"; other`)},
		{"after its call", append(task("c"), result, by("expert")), append(begun("c"), ended, `TEXT_MESSAGE_START agent="me"; other`)},
		{"one of two with the same name", slices.Concat(task("c"), task("d"), []string{by("expert")}), slices.Concat(begun("c"), begun("d"), []string{`TEXT_MESSAGE_START agent="me"; other`})},
	})
}

// TestSteps checks that a step is an agent only if its producer says so.
func TestSteps(t *testing.T) {
	in := func(name, more string) []string {
		return []string{ev("STEP_STARTED", `"stepName":"`+name+`"`+more), ev("TEXT_MESSAGE_START", `"messageId":"m"`)}
	}
	answered := func(kind string) string {
		return ev("CUSTOM", `"name":"workflow_output"`, `"value":{"type":"`+kind+`","author_name":"writer"}`)
	}
	runDecodeOf(t, &event.Stream{ConfiguredAgent: "me"}, []decodeCase{
		{"of a graph", in("tools", ""), []string{`STEP_STARTED agent="me" step="tools" branch="tools#1"; agent_started`, `TEXT_MESSAGE_START agent="me" step="tools" branch="tools#1"; other`}},
		{"CrewAI's agent", in("analyst", `,"rawEvent":{"attribution":{"boundary":"agent"}}`), []string{`STEP_STARTED agent="analyst" branch="analyst#1"; agent_started`, `TEXT_MESSAGE_START agent="analyst" branch="analyst#1"; other`}},
		{"CrewAI's method", in("plan", `,"rawEvent":{"attribution":{"boundary":"flow_method"}}`), []string{`STEP_STARTED agent="me" step="plan" branch="plan#1"; agent_started`, `TEXT_MESSAGE_START agent="me" step="plan" branch="plan#1"; other`}},
		{"an agent of Strands", in("agent:analyst", ""), []string{`STEP_STARTED agent="analyst" branch="agent:analyst#1"; agent_started`, `TEXT_MESSAGE_START agent="analyst" branch="agent:analyst#1"; other`}},
		{"Microsoft's agent", []string{ev("STEP_STARTED", `"stepName":"superstep:1"`), ev("STEP_STARTED", `"stepName":"writer"`), answered("agent_response_update"), ev("STEP_FINISHED", `"stepName":"writer"`)},
			[]string{`STEP_STARTED agent="me" step="superstep:1" branch="superstep:1#1"; agent_started`, `STEP_STARTED agent="me" step="writer" branch="writer#2"; agent_started`,
				`CUSTOM agent="writer" branch="writer#2"; other`, `STEP_FINISHED agent="writer" branch="writer#2"; agent_ended`}},
		{"Microsoft's executor that is no agent", []string{ev("STEP_STARTED", `"stepName":"writer"`), answered("text")},
			[]string{`STEP_STARTED agent="me" step="writer" branch="writer#1"; agent_started`, `CUSTOM agent="me" step="writer" branch="writer#1"; other`}},
		{"the user, in Strands", in("agent:user", ""), []string{`STEP_STARTED agent="me" step="agent:user" branch="agent:user#1"; agent_started`, `TEXT_MESSAGE_START agent="me" step="agent:user" branch="agent:user#1"; other`}},
	})
}

// TestFailedNodes checks that the step of a node that failed ends with an error, and that a group of agents is a step and no agent.
func TestFailedNodes(t *testing.T) {
	step := func(kind, name string) string { return ev("STEP_"+kind, `"stepName":"`+name+`"`) }
	status := func(node, status string) string {
		return ev("CUSTOM", `"name":"MultiAgentNodeStatus"`, `"value":{"node_id":"`+node+`","status":"`+status+`"}`)
	}
	const agent, group = ` agent="a" branch="agent:a#1"; `, ` step="multiagent:a" branch="multiagent:a#1"; `
	runDecode(t, []decodeCase{
		{"an agent", []string{step("STARTED", "agent:a"), status("a", "failed"), step("FINISHED", "agent:a")}, []string{"STEP_STARTED" + agent + "agent_started", "CUSTOM" + agent + "other", "STEP_FINISHED" + agent + "agent_ended agent_error"}},
		{"a group", []string{step("STARTED", "multiagent:a"), status("a", "failed"), step("FINISHED", "multiagent:a")}, []string{"STEP_STARTED" + group + "agent_started", "CUSTOM" + group + "other", "STEP_FINISHED" + group + "agent_ended agent_error"}},
		{"another status", []string{step("STARTED", "agent:a"), status("a", "interrupted"), step("FINISHED", "agent:a")}, []string{"STEP_STARTED" + agent + "agent_started", "CUSTOM" + agent + "other", "STEP_FINISHED" + agent + "agent_ended"}},
		{"another node", []string{step("STARTED", "agent:a"), status("b", "failed"), step("FINISHED", "agent:a")}, []string{"STEP_STARTED" + agent + "agent_started", "CUSTOM" + agent + "other", "STEP_FINISHED" + agent + "agent_ended"}},
	})
}
