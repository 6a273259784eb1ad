package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// openWork are frames after which the work of an internal agent or step is surely open.
var openWork = map[string][]string{
	"a step":                {`{"type":"STEP_STARTED","stepName":"internal_x"}`},
	"a wrapped step":        {`{"type":"STEP_STARTED","stepName":"superstep:1"}`, `{"type":"STEP_STARTED","stepName":"internal_x"}`},
	"a step beside another": {`{"type":"STEP_STARTED","stepName":"internal_x"}`, `{"type":"STEP_STARTED","stepName":"editor"}`},
	"a task":                toolCall("c", "task", `{"subagent_type":"internal_x"}`, "")[:3],
	"a delegation":          toolCall("c", "delegate_task_to_member", `{"member_id":"internal_x"}`, "")[:2],
	"a transfer":            toolCall("c", "transfer_to_agent", `{"agent_name":"internal_x"}`, `{"result":null}`),
}

// workEnds are frames that end that work.
var workEnds = map[string][]string{
	"a step":                {`{"type":"STEP_FINISHED","stepName":"internal_x"}`, `{"type":"STEP_STARTED","stepName":"writer"}`},
	"a wrapped step":        {`{"type":"STEP_FINISHED","stepName":"internal_x"}`, `{"type":"STEP_FINISHED","stepName":"superstep:1"}`, `{"type":"STEP_STARTED","stepName":"writer"}`},
	"a step beside another": {`{"type":"STEP_FINISHED","stepName":"internal_x"}`, `{"type":"STEP_FINISHED","stepName":"editor"}`, `{"type":"STEP_STARTED","stepName":"writer"}`},
	"a task":                toolCall("c", "", "", "done")[3:],
	"a delegation":          toolCall("c", "", "", "done")[3:],
	"a transfer":            toolCall("e", "transfer_to_agent", `{"agent_name":"root"}`, `{"result":null}`),
}

const (
	customQuestion = `{"type":"CUSTOM","name":"on_interrupt","value":"{\"q\":\"CANARY\"}"}`
	endQuestion    = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"x","message":"CANARY"}]}}`
)

// TestStatesOfOpenWork checks that states, activities, events of applications and questions that name no agent do not leave in the middle
// of internal work, and leave after it.
func TestStatesOfOpenWork(t *testing.T) {
	for what, before := range openWork {
		for _, frame := range []string{
			`{"type":"STATE_SNAPSHOT","snapshot":{"a":"CANARY"}}`, `{"type":"STATE_SNAPSHOT","snapshot":{"a":{"toolCallId":"k","b":"CANARY"}}}`, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":"CANARY"}]}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"a1","activityType":"PLAN","content":{"t":"CANARY"}}`, `{"type":"CUSTOM","name":"progress","value":"CANARY"}`,
			customQuestion, endQuestion,
		} {
			sent := slices.Concat([]string{run}, toolCall("k", "look", "{}", "")[:3], before)
			for _, s := range allSettings {
				if got := last(filterFrames(t, s, append(slices.Clone(sent), frame)...)); strings.Contains(got, "CANARY") {
					t.Errorf("in %s, %s: %s", what, s.Policy, got)
				}
			}
			if got := last(filterFrames(t, allSettings[0], append(append(slices.Clone(sent), workEnds[what]...), frame)...)); got != frame {
				t.Errorf("after %s: %s leaves as %s", what, frame, got)
			}
		}
	}
}

// TestMessagesOfOpenWork checks that a snapshot in the middle of internal work loses only messages that may be of that work, also later.
func TestMessagesOfOpenWork(t *testing.T) {
	const (
		old    = `{"id":"o","role":"assistant","content":"of an earlier run"}`
		asked  = `{"id":"u","role":"user","content":"hi"}`
		said   = `{"id":"m","role":"assistant","content":"x"}`
		called = `{"id":"n","role":"assistant","toolCalls":[{"id":"k","type":"function","function":{"name":"look","arguments":"{}"}}]}`
		found  = `{"id":"f","role":"tool","toolCallId":"k","content":"found"}`
		hidden = `{"id":"h","role":"assistant","content":"CANARY"}`
		whole  = `{"type":"MESSAGES_SNAPSHOT","messages":[` + old + "," + asked + "," + said + "," + called + "," + found
	)
	for what, before := range openWork {
		sent := slices.Concat([]string{run, begun[0], `{"type":"TEXT_MESSAGE_END","messageId":"m"}`}, toolCall("k", "look", "{}", "")[:3], before, []string{whole + "," + hidden + "]}"}, workEnds[what], []string{whole + "," + hidden + "]}"})
		got := filterFrames(t, allSettings[0], sent...)
		for _, list := range []string{got[len(got)-len(workEnds[what])-2], last(got)} {
			if list != whole+"]}" {
				t.Errorf("in %s: %s", what, list)
			}
		}
	}
}

// TestQuestionsBesideOpenWork checks that questions leave that the stream shows to be of other work.
func TestQuestionsBesideOpenWork(t *testing.T) {
	look := toolCall("k", "look", `{"a": 1}`, "")[:3]
	asks := func(graph string) string {
		return `{"type":"RAW","event":{"event":"on_chain_stream","metadata":{"lc_agent_name":"boss"},"data":{"chunk":[[` + graph + `],{"__interrupt__":[{"value":"CANARY","id":"i1"}]}]}}}`
	}
	fails := func(agent, namespace string) string {
		return `{"type":"RAW","event":{"event":"on_tool_error","metadata":{"lc_agent_name":"` + agent + `","langgraph_checkpoint_ns":"` + namespace + `"},"data":{"error":{"error":"GraphInterrupt","message":"(Interrupt(value='CANARY', id='i1', response_schema=None),)"}}}}`
	}
	ask := func(members string) []string {
		return []string{`{"type":"CUSTOM","name":"on_interrupt","rawEvent":{"id":"i1"},"value":{"q":"CANARY",` + members + `}}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"x","message":"CANARY",` + members + `}]}}`}
	}
	const nothing = `"x":1`
	for what, c := range map[string]struct {
		sent, questions []string
		leave           bool
	}{
		"about a call":               {openWork["a task"], ask(`"toolCallId":"k"`), true},
		"about a call's arguments":   {openWork["a task"], ask(`"action_requests":[{"name":"look","args":{"a":1}}]`), true},
		"about other arguments":      {openWork["a task"], ask(`"action_requests":[{"name":"look","args":{"a":2}}]`), false},
		"about the delegation":       {openWork["a task"], ask(`"action_requests":[{"name":"task","args":{"subagent_type":"internal_x"}}]`), true},
		"of a graph":                 {append(slices.Clone(openWork["a task"]), asks(`"tools:2"`), asks("")), ask(nothing), false},
		"of another agent's graph":   {append(slices.Clone(openWork["a task"]), `{"type":"RAW","event":{"event":"on_chain_start","metadata":{"lc_agent_name":"writer","langgraph_checkpoint_ns":"tools:2|model:2"}}}`, asks(`"tools:2"`), asks("")), ask(nothing), true},
		"of the run's graph":         {append(slices.Clone(openWork["a task"]), asks("")), ask(nothing), false},
		"of the run's graph alone":   {[]string{asks("")}, ask(nothing), true},
		"of an internal agent tool":  {[]string{fails("internal_x", "tools:1|tools:2"), fails("boss", "tools:1")}, ask(nothing), false},
		"of an ordinary agent tool":  {[]string{fails("writer", "tools:1|tools:2"), fails("boss", "tools:1")}, ask(nothing), true},
		"of a tool within internal":  {[]string{`{"type":"RAW","event":{"event":"on_chain_start","metadata":{"lc_agent_name":"internal_x","langgraph_checkpoint_ns":"tools:1|model:2"}}}`, fails("writer", "tools:1|tools:2|tools:3")}, ask(nothing), false},
		"after an internal node":     {[]string{`{"type":"STEP_STARTED","stepName":"internal_x"}`, `{"type":"STEP_FINISHED","stepName":"internal_x"}`}, ask(nothing), false},
		"after a later node":         {[]string{`{"type":"STEP_STARTED","stepName":"internal_x"}`, `{"type":"STEP_FINISHED","stepName":"internal_x"}`, `{"type":"STEP_STARTED","stepName":"writer"}`, `{"type":"STEP_FINISHED","stepName":"writer"}`}, ask(nothing), true},
		"after a later text":         {[]string{`{"type":"STEP_STARTED","stepName":"internal_x"}`, `{"type":"STEP_FINISHED","stepName":"internal_x"}`, begun[0], `{"type":"TEXT_MESSAGE_END","messageId":"m"}`}, ask(nothing), true},
		"of a node, about its call":  {[]string{`{"type":"STEP_STARTED","stepName":"internal_x"}`, `{"type":"STEP_FINISHED","stepName":"internal_x"}`}, ask(`"toolCallId":"k"`), true},
		"beside an open agent, both": {append(slices.Clone(openWork["a task"]), fails("internal_x", "tools:1|tools:2")), ask(nothing), false},
	} {
		got := filterFrames(t, allSettings[0], slices.Concat([]string{run}, look, c.sent, c.questions)...)
		for _, question := range got[len(got)-2:] {
			if strings.Contains(question, "CANARY") != c.leave {
				t.Errorf("a question %s: %s", what, question)
			}
		}
	}
}
