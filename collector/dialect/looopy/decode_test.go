package looopy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// encodeFrame returns a frame as current servers send it, with the kind as its name.
func encodeFrame(kind, members string) string {
	return "event: " + kind + "\ndata: {" + members + "}\n\n"
}

// of returns a frame of a task.
func of(task, kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return encodeFrame(kind, `"taskId":"`+task+`"`+members)
}

// by returns a frame of task t.
func by(kind, members string) string { return of("t", kind, members) }

// factsOf decodes frames. It returns a line for each: its fields, then its facts.
func factsOf(s *event.Stream, frames ...string) string {
	var all []string
	for line := range strings.Lines(dialecttest.Facts(Dialect{}, s, strings.Join(frames, ""))) {
		line = strings.TrimSuffix(line, "\n")
		if fact, isFact := strings.CutPrefix(line, "  "); isFact {
			all[len(all)-1] += "; " + fact
			continue
		}
		_, head, _ := strings.Cut(line, " ") // its number
		all = append(all, head)
	}
	return strings.Join(all, "\n")
}

type decodeCase struct {
	name   string
	frames []string
	want   []string // a line for each frame
}

func runDecode(t *testing.T, cases []decodeCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(c.want, "\n"), factsOf(&event.Stream{}, c.frames...)); diff != "" {
				t.Errorf("the facts differ (-want +got):\n%s", diff)
			}
		})
	}
}

const (
	created = `"initiator":"user"`
	working = `"status":"working"`
)

// TestShapes checks one event in the formats of the design document, of the servers of November 2025, and of
// current servers.
func TestShapes(t *testing.T) {
	const (
		want = `tool-start run="t" orphan session="ctx-1" 2025-11-06T10:30:05Z; tool_started name="look" call="c1" {"q":"x"}`
		data = `"taskId":"t","toolCallId":"c1","toolName":"look","arguments":{"q":"x"},"timestamp":"2025-11-06T10:30:05Z"`
		full = `data: {"kind":"tool-start","contextId":"ctx-1",` + data + "}\n\n"
	)
	for name, frame := range map[string]string{
		"kind and name":             "event: tool-start\n" + full,
		"kind, name and id":         "id: ctx-1-7\nevent: tool-start\n" + full,
		"name, and context in id":   "id: ctx-1-7\nevent: tool-start\ndata: {" + data + "}\n\n",
		"time in id":                "id: ctx-1-1795229586762\nevent: tool-start\ndata: {" + data + "}\n\n",
		"kind alone":                full,
		"the data's context counts": "id: other-7\nevent: tool-start\n" + full,
	} {
		if got := factsOf(&event.Stream{}, frame); got != want {
			t.Errorf("%s decodes to\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestKinds checks each kind on its own.
func TestKinds(t *testing.T) {
	const head, call = ` run="t" orphan`, `"toolCallId":"c1","toolName":"look"`
	for _, c := range []struct{ kind, members, want string }{
		{"task-created", `"initiator":"agent"`, head + `; run_started`},
		{"task-created", `"initiator":"user"`, ` run="t"; run_started`},
		{"task-created", `"initiator":"agent","metadata":{"agentId":"a","model":"m"}`, head + ` agent="a"; run_started`},
		{"task-status", `"status":"working"`, head + `; other`},
		{"task-status", `"status":"waiting-input"`, head + `; other`},
		{"task-status", `"status":"waiting-auth"`, head + `; other`},
		{"task-status", `"status":"waiting-subtask"`, head + `; other`},
		{"task-status", `"status":"completed"`, head + `; final; run_ended awaits_outcome`},
		{"task-status", `"status":"failed","message":"x","metadata":{"error":"x"}`, head + `; error agent_error; run_ended agent_error awaits_outcome`},
		{"task-status", `"status":"canceled"`, head + `; error canceled; run_ended canceled awaits_outcome`},
		{"task-status", `"status":7`, head + `; other`},
		{"task-complete", `"content":"hi","artifacts":["a"],"metadata":{"duration":44250,"iterations":3,"tokensUsed":1547}`,
			head + `; text "hi"; final; run_ended took=44.25s iterations=3`},
		{"task-complete", ``, head + `; final; run_ended`},
		{"content-delta", `"delta":"hi","index":0`, head + ` partial; model_started; text "hi"`},
		{"content-delta", `"delta":"","index":0`, head + ` partial; model_started`},
		{"content-complete", `"content":"hi"`, head + `; model_ended unmetered; text "hi"`},
		{"content-complete", `"content":"hi","finishReason":"stop"`, head + `; model_ended finish="stop" unmetered; text "hi"; final`},
		{"content-complete", `"content":"hi","finishReason":"length"`, head + `; model_ended finish="length" unmetered; text "hi"; final`},
		{"content-complete", `"content":"hi","finishReason":""`, head + `; model_ended unmetered; text "hi"`},
		{"content-complete", `"content":"hi","finishReason":"null"`, head + `; model_ended unmetered; text "hi"`},
		{"content-complete", `"content":"hi","finishReason":"content_filter"`, head + `; model_ended finish="content_filter" model_error code="content_filter" unmetered; text "hi"; final`},
		{"content-complete", `"content":"","finishReason":"tool_calls","toolCalls":[{"id":"c1"}]`, head + `; model_ended finish="tool_calls" unmetered`},
		{"tool-call", call + `,"arguments":{"x":1}`, head + ` partial; model_started`},
		{"tool-start", call + `,"arguments":{"x":1},"icon":"i","metadata":{"provider":"local"}`, head + `; tool_started name="look" call="c1" {"x":1}`},
		{"tool-progress", `"toolCallId":"c1","progress":0.5,"message":"x"`, head + `; tool_progress call="c1" progress=0.5`},
		{"tool-progress", `"toolCallId":"c1","progress":"half"`, head + `; tool_progress call="c1"`},
		{"tool-complete", call + `,"success":true,"result":[1],"metadata":{"duration":12}`, head + `; tool_ended name="look" call="c1" took=12ms [1]`},
		{"tool-complete", call + `,"success":false,"result":null,"error":"x"`, head + `; tool_ended name="look" call="c1" tool_error null`},
		{"tool-complete", call + `,"error":"x"`, head + `; tool_ended name="look" call="c1" tool_error`},
		{"tool-complete", call + `,"error":{"code":"E_BUSY"}`, head + `; tool_ended name="look" call="c1" tool_error code="E_BUSY"`},
		{"tool-complete", call + `,"error":{}`, head + `; tool_ended name="look" call="c1"`},
		{"tool-complete", call + `,"error":null`, head + `; tool_ended name="look" call="c1"`},
		{"tool-complete", call + `,"success":true,"error":"x"`, head + `; tool_ended name="look" call="c1"`},
		{"tool-complete", call, head + `; tool_ended name="look" call="c1"`},
		{"tool-input-required", call + `,"inputId":"i1","inputType":"data","prompt":"?","schema":{}`,
			head + `; tool_paused call="c1"; input_requested call="i1" data routing="agent" prompt="?"`},
		{"tool-input-required", `"toolCallId":"c1","toolName":"request_input","inputId":"i1","inputType":"selection"`,
			head + `; input_requested call="i1" selection routing="agent"`},
		{"input-required", `"inputId":"i1","requireUser":true,"inputType":"confirmation","metadata":{"timeout":300}`,
			head + `; input_requested call="i1" confirmation expires=5m0s routing="user"`},
		{"input-required", `"inputId":"i1","requireUser":false,"inputType":"tool-execution","metadata":{"timeout":1.5}`,
			head + `; input_requested call="i1" tool expires=1.5s routing="agent"`},
		{"input-required", `"inputId":"i1","inputType":"clarification"`, head + `; input_requested call="i1" clarification routing="agent"`},
		{"input-required", `"inputId":"i1","inputType":"custom","schema":{}`, head + `; input_requested call="i1" data routing="agent"`},
		{"input-required", `"inputId":"i1","inputType":"custom"`, head + `; input_requested call="i1" clarification routing="agent"`},
		{"input-received", `"inputId":"i1","providedBy":"user","userId":"u","metadata":{"duration":900}`, head + `; input_answered call="i1"`},
		{"auth-required", `"authId":"a1","authType":"oauth2","metadata":{"expiresIn":600}`, head + `; input_requested call="a1" credential expires=10m0s routing="user"`},
		{"auth-required", `"authId":"a1","metadata":{"toolCallId":"c1"}`, head + `; tool_paused call="c1"; input_requested call="a1" credential routing="user"`},
		{"auth-required", `"authId":"a1","toolCallId":"c1"`, head + `; tool_paused call="c1"; input_requested call="a1" credential routing="user"`},
		{"auth-completed", `"authId":"a1","userId":"u"`, head + `; input_answered call="a1"`},
		{"subtask-created", `"subtaskId":"s","agentId":"a","prompt":"x"`, head + `; other`},
		{"subtask-created", `"agentId":"a"`, head + `; other`},
		{"thought-stream", `"thoughtId":"h","content":"hm","metadata":{"confidence":0.9}`,
			head + `; thought id="h" "hm"; confidence {Value:0.9 Known:true Scope: Label: Topic: Overall:false Origin:thought}`},
		{"thought-stream", `"thoughtId":"h","content":"hm","metadata":{"confidence":90}`, head + `; thought id="h" "hm"`},
		{"thought-stream", `"thoughtId":"h","content":"hm","metadata":{"source":"content-delta"}`, head + `; model_started; thought id="h" "hm"`},
		{"thought-stream", `"thoughtId":"h","content":"hm","metadata":{"source":"tool-call"}`, head + `; thought id="h" "hm"`},
		{"thought-stream", `"thoughtId":"h"`, head + `; other`},
		{"message", `"message":{"role":"user","content":"x"}`, head + `; other`},
		{"message", `"message":{"role":"system","content":"x"}`, head + ` internal; other`},
		{"no-such-kind", ``, ` withheld` + head + `; other`},
		{"undefined", ``, ` withheld` + head + `; other`},
		{"error", `"error":"x"`, ` withheld` + head + `; error agent_error`},
	} {
		if got := factsOf(&event.Stream{}, by(c.kind, c.members)); got != c.kind+c.want {
			t.Errorf("%s {%s} decodes to\n%s\nwant\n%s", c.kind, c.members, got, c.kind+c.want)
		}
	}
}

// TestInternal checks each way in which servers and their filters mark an event as internal.
func TestInternal(t *testing.T) {
	const task = `"taskId":"t"`
	for _, c := range []struct {
		name, data string
		internal   bool
	}{
		{"internal:llm-call", task, true},
		{"internal:thought-process", task, true},
		{"internal:checkpoint", task, true},
		{"internal:tool-message", task, true},
		{"internal:tool-start", task + `,"toolCallId":"c1","toolName":"look"`, true},
		{"internal:tool-complete", task + `,"toolCallId":"c1","success":true`, true},
		{"Internal:thought-process", task, true},
		{"INTERNAL:X", task, true},
		{" internal:x", task, true},
		{"internalEvent", task, true},
		{"llm-call", task, true},
		{"LLM-Call ", task, true},
		{"checkpoint", task, true},
		{"thought-process", task, true},
		{"tool-message", task, true},
		{"llm-call", `"kind":"internal:llm-call",` + task, true},
		{"tool-start", `"kind":"internal:tool-start",` + task, true},
		{"tool-start", `"kind":" Internal:tool-start",` + task, true},
		{"tool-start", `"kind":"checkpoint",` + task, true},
		{"internal:x", `"kind":"content-delta","delta":"x",` + task, true},
		{"llm-call", `"kind":"content-delta","delta":"x",` + task, true},
		{"", `"kind":"internal:x",` + task, true},
		{"tool-start", task, false},
		{"tool-complete", task, false},
		{"llm-usage", task, false},
		{"", task, false},
		{"intern", task, false},
	} {
		got := factsOf(&event.Stream{}, encodeFrame(c.name, c.data))
		if isInternal := strings.Contains(got, " internal;"); isInternal != c.internal || isInternal && !strings.HasSuffix(got, "internal; other") && !strings.HasSuffix(got, "internal; iteration asks_model") {
			t.Errorf("the event %q with the data {%s} decodes to %s, want it internal: %t", c.name, c.data, got, c.internal)
		}
	}
}

// TestResponses checks that model responses are derived from text, calls and usage.
func TestResponses(t *testing.T) {
	const (
		head  = ` run="t"`
		calls = `"content":"","finishReason":"tool_calls","toolCalls":[{"id":"c1"},{"id":"c2"}]`
		stop  = `"content":"hi","finishReason":"stop"`
		usage = `"model":"m","prompt_tokens":5,"completion_tokens":2,"total_tokens":7`
		used  = ` input=5 output=2`
	)
	newTask := by("task-created", created)
	newTaskFacts := `task-created` + head + `; run_started`
	call := func(id string) string { return by("tool-call", `"toolCallId":"`+id+`","toolName":"look"`) }
	start := func(id string) string { return by("tool-start", `"toolCallId":"`+id+`","toolName":"look"`) }
	done := func(id string) string {
		return by("tool-complete", `"toolCallId":"`+id+`","toolName":"look","success":true`)
	}
	startedCall := func(id string) string { return `tool-start` + head + `; tool_started name="look" call="` + id + `"` }
	endedCall := func(id string) string { return `tool-complete` + head + `; tool_ended name="look" call="` + id + `"` }
	whole := `content-complete` + head + `; model_ended finish="stop" unmetered; text "hi"; final`
	runDecode(t, []decodeCase{
		{"usage after the response", []string{newTask, by("content-complete", stop), by("llm-usage", usage), by("task-complete", `"content":"hi"`)},
			[]string{newTaskFacts, whole, `llm-usage` + head + `; usage model="m"` + used, `task-complete` + head + ` partial repeats; text "hi"; run_ended`}},
		{"usage before the end of the response", []string{newTask, by("content-delta", `"delta":"hi"`), by("llm-usage", usage), by("content-complete", stop)},
			[]string{newTaskFacts, `content-delta` + head + ` partial; model_started; text "hi"`, `llm-usage` + head + `; other`,
				`content-complete` + head + `; model_ended model="m" finish="stop"` + used + `; text "hi"; final`}},
		{"usage as the first sign of the response", []string{newTask, by("llm-usage", usage), by("content-complete", calls), start("c1"), done("c1"), by("llm-usage", usage), by("content-complete", stop)},
			[]string{newTaskFacts, `llm-usage` + head + `; model_started model="m"`, `content-complete` + head + `; model_ended model="m" finish="tool_calls"` + used,
				startedCall("c1"), endedCall("c1"), `llm-usage` + head + `; model_started model="m"`,
				`content-complete` + head + `; model_ended model="m" finish="stop"` + used + `; text "hi"; final`}},
		{"usage before and after", []string{newTask, by("llm-usage", usage), by("content-complete", stop), by("llm-usage", usage)},
			[]string{newTaskFacts, `llm-usage` + head + `; model_started model="m"`,
				`content-complete` + head + `; model_ended model="m" finish="stop"` + used + `; text "hi"; final`, `llm-usage` + head + `; usage model="m"` + used}},
		{"calls within the response", []string{newTask, call("c1"), call("c2"), by("content-complete", calls), start("c1"), start("c2"), done("c1"), done("c2"), call("c3"), by("content-complete", stop)},
			[]string{newTaskFacts, `tool-call` + head + ` partial; model_started`, `tool-call` + head + ` partial; other`,
				`content-complete` + head + `; model_ended finish="tool_calls" unmetered`, startedCall("c1"), startedCall("c2"), endedCall("c1"), endedCall("c2"),
				`tool-call` + head + ` partial; model_started`, whole}},
		{"calls of tools that do not exist, after the response", []string{newTask, by("content-complete", calls), start("c1"), done("c1"), call("c2"), by("content-complete", stop)},
			[]string{newTaskFacts, `content-complete` + head + `; model_ended finish="tool_calls" unmetered`, startedCall("c1"), endedCall("c1"), `tool-call` + head + `; other`, whole}},
		{"usage of the response after such a call", []string{newTask, by("content-complete", `"content":"","finishReason":"tool_calls","toolCalls":[{"id":"c1"}]`), by("llm-usage", usage), call("c1"), by("llm-usage", usage), by("content-complete", stop)},
			[]string{newTaskFacts, `content-complete` + head + `; model_ended finish="tool_calls" unmetered`, `llm-usage` + head + `; usage model="m"` + used, `tool-call` + head + `; other`,
				`llm-usage` + head + `; model_started model="m"`, `content-complete` + head + `; model_ended model="m" finish="stop"` + used + `; text "hi"; final`}},
		{"usage in two events", []string{newTask, by("llm-usage", usage), by("llm-usage", usage), by("content-complete", stop)},
			[]string{newTaskFacts, `llm-usage` + head + `; model_started model="m"`, `llm-usage` + head + `; other`,
				`content-complete` + head + `; model_ended model="m" finish="stop" input=10 output=4; text "hi"; final`}},
		{"a call that the response does not list", []string{newTask, by("content-complete", `"content":"","finishReason":"tool_calls"`), call("c1"), by("content-complete", stop)},
			[]string{newTaskFacts, `content-complete` + head + `; model_ended finish="tool_calls" unmetered`, `tool-call` + head + `; other`, whole}},
		{"the model of the task", []string{by("task-created", created+`,"metadata":{"model":"m0"}`), by("content-delta", `"delta":"hi"`), by("content-complete", stop), by("llm-usage", usage)},
			[]string{newTaskFacts, `content-delta` + head + ` partial; model_started model="m0"; text "hi"`,
				`content-complete` + head + `; model_ended model="m0" finish="stop" unmetered; text "hi"; final`, `llm-usage` + head + `; usage model="m"` + used}},
		{"interrupted by a failure", []string{newTask, by("content-delta", `"delta":"h"`), by("llm-usage", usage), by("task-status", `"status":"failed"`)},
			[]string{newTaskFacts, `content-delta` + head + ` partial; model_started; text "h"`, `llm-usage` + head + `; other`,
				`task-status` + head + `; model_ended model="m" model_error` + used + `; error agent_error; run_ended agent_error awaits_outcome`}},
		{"canceled during a response", []string{newTask, by("content-delta", `"delta":"h"`), by("task-status", `"status":"canceled"`)},
			[]string{newTaskFacts, `content-delta` + head + ` partial; model_started; text "h"`,
				`task-status` + head + `; model_ended canceled; error canceled; run_ended canceled awaits_outcome`}},
		{"ended by the end of the task", []string{newTask, by("content-delta", `"delta":"h"`), by("task-complete", `"content":"hi","metadata":{"finishReason":"stop"}`)},
			[]string{newTaskFacts, `content-delta` + head + ` partial; model_started; text "h"`,
				`task-complete` + head + `; model_ended finish="stop"; text "hi"; final; run_ended`}},
	})
}

// TestEnds checks that a task ends once, even if its end is sent repeatedly.
func TestEnds(t *testing.T) {
	const head = ` run="t"`
	newTask, newTaskFacts := by("task-created", created), `task-created`+head+`; run_started`
	completed, done := by("task-status", `"status":"completed"`), by("task-complete", `"content":"hi","metadata":{"duration":5}`)
	failed := by("task-status", `"status":"failed"`)
	answer := by("content-complete", `"content":"hi","finishReason":"stop"`)
	answered := `content-complete` + head + `; model_ended finish="stop" unmetered; text "hi"; final`
	runDecode(t, []decodeCase{
		{"a status, then task-complete", []string{newTask, completed, done},
			[]string{newTaskFacts, `task-status` + head + `; final; run_ended awaits_outcome`, `task-complete` + head + `; text "hi"; outcome took=5ms`}},
		{"task-complete, then a status", []string{newTask, done, completed},
			[]string{newTaskFacts, `task-complete` + head + `; text "hi"; final; run_ended took=5ms`, `task-status` + head + `; other`}},
		{"failed, then completed", []string{newTask, failed, done, failed},
			[]string{newTaskFacts, `task-status` + head + `; error agent_error; run_ended agent_error awaits_outcome`, `task-complete` + head + `; text "hi"; outcome took=5ms`, `task-status` + head + `; other`}},
		{"a repeated answer", []string{newTask, answer, done},
			[]string{newTaskFacts, answered, `task-complete` + head + ` partial repeats; text "hi"; run_ended took=5ms`}},
		{"another answer", []string{newTask, answer, by("task-complete", `"content":"hi there"`)},
			[]string{newTaskFacts, answered, `task-complete` + head + `; text "hi there"; run_ended`}},
		{"an answer without an end", []string{newTask, by("task-status", working), answer},
			[]string{newTaskFacts, `task-status` + head + `; other`, answered}},
		{"tools after an answer", []string{newTask, answer, by("content-complete", `"content":"wait","finishReason":"tool_calls"`), completed},
			[]string{newTaskFacts, answered, `content-complete` + head + `; model_ended finish="tool_calls" unmetered; text "wait"`, `task-status` + head + `; final; run_ended awaits_outcome`}},
		{"a response after the end", []string{newTask, done, by("content-delta", `"delta":"x"`), completed},
			[]string{newTaskFacts, `task-complete` + head + `; text "hi"; final; run_ended took=5ms`, `content-delta` + head + ` partial; text "x"`, `task-status` + head + `; other`}},
		{"created twice", []string{newTask, newTask}, []string{newTaskFacts, `task-created` + head + `; other`}},
		{"created again after the end", []string{newTask, answer, done, newTask, answer, done, done},
			[]string{newTaskFacts, answered, `task-complete` + head + ` partial repeats; text "hi"; run_ended took=5ms`, newTaskFacts, answered, `task-complete` + head + ` partial repeats; text "hi"; run_ended took=5ms`, `task-complete` + head + ` partial repeats; text "hi"`}},
		{"created again as a part of another", []string{newTask, done, of("u", "task-created", created), of("t", "task-created", `"parentTaskId":"u","path":["agent:a"]`), done},
			[]string{newTaskFacts, `task-complete` + head + `; text "hi"; final; run_ended took=5ms`, `task-created run="u"; run_started`, `task-created run="u" agent="a" branch="t"; agent_started`,
				`task-complete run="u" agent="a" branch="t"; text "hi"; final; agent_ended took=5ms`}},
		{"named by an internal event after the end", []string{newTask, done, by("internal:task-created", ""), by("task-status", working), done},
			[]string{newTaskFacts, `task-complete` + head + `; text "hi"; final; run_ended took=5ms`, `internal:task-created withheld` + head + ` internal; other`, `task-status` + head + `; other`, `task-complete` + head + ` partial repeats; text "hi"`}},
	})
}

// TestPauses checks calls that pause and continue: in the same task, in another turn's task, or not.
func TestPauses(t *testing.T) {
	const calendar, transfer = `"toolCallId":"c1","toolName":"calendar"`, `"toolCallId":"c1","toolName":"transfer"`
	start := func(task string) string { return of(task, "tool-start", calendar) }
	done := func(task string) string { return of(task, "tool-complete", calendar+`,"success":true`) }
	asks := of("t1", "auth-required", `"authId":"a1","metadata":{"toolCallId":"c1"}`)
	const (
		newTaskFacts  = `task-created run="t1"; run_started`
		newTaskFacts2 = `task-created run="t2"; run_started`
		callFacts     = `tool-start run="t1"; tool_started name="calendar" call="c1"`
		requestFacts  = `auth-required run="t1"; tool_paused call="c1"; input_requested call="a1" credential routing="user"`
	)
	runDecode(t, []decodeCase{
		{"another turn continues the call", []string{of("t1", "task-created", created), start("t1"), asks, start("t2"), done("t2"), of("t2", "task-created", created)},
			[]string{newTaskFacts, callFacts, requestFacts,
				`tool-start run="t2" orphan; input_answered call="a1"; tool_started name="calendar" call="c1"`,
				`tool-complete run="t2" orphan; tool_ended name="calendar" call="c1"`, newTaskFacts2}},
		{"another turn has a call with the same id", []string{of("t1", "task-created", created), start("t1"), asks, of("t2", "task-created", created), start("t2"), done("t2")},
			[]string{newTaskFacts, callFacts, requestFacts, newTaskFacts2,
				`tool-start run="t2"; tool_started name="calendar" call="c1"`, `tool-complete run="t2"; tool_ended name="calendar" call="c1"`}},
		{"the same task continues the call", []string{of("t1", "task-created", created), start("t1"), asks, of("t1", "auth-completed", `"authId":"a1"`), done("t1")},
			[]string{newTaskFacts, callFacts, requestFacts, `auth-completed run="t1"; input_answered call="a1"`,
				`tool-complete run="t1"; input_answered call="a1"; tool_ended name="calendar" call="c1"`}},
		{"a tool asks, and its call runs again", []string{of("t1", "tool-start", transfer), of("t1", "tool-input-required", transfer+`,"inputId":"i1","inputType":"confirmation"`), of("t2", "tool-start", transfer)},
			[]string{`tool-start run="t1" orphan; tool_started name="transfer" call="c1"`,
				`tool-input-required run="t1" orphan; tool_paused call="c1"; input_requested call="i1" confirmation routing="agent"`,
				`tool-start run="t2" orphan; input_answered call="i1"; tool_started name="transfer" call="c1"`}},
		{"the model asks, and its answer is no result", []string{
			of("t1", "tool-input-required", `"toolCallId":"c1","toolName":"request_input","inputId":"i1","inputType":"selection"`),
			of("t2", "tool-complete", `"toolCallId":"c1","toolName":"request_input","success":true,"result":"a"`)},
			[]string{`tool-input-required run="t1" orphan; input_requested call="i1" selection routing="agent"`,
				`tool-complete run="t2" orphan; input_answered call="i1"`}},
		{"the answer to a question of another stream", []string{of("t2", "tool-complete", `"toolCallId":"c1","toolName":"request_input","success":true,"result":"a"`)},
			[]string{`tool-complete run="t2" orphan; input_answered call="c1"`}},
		{"a tool with the name of the input tool", []string{of("t1", "tool-start", `"toolCallId":"c1","toolName":"request_input"`), of("t1", "tool-complete", `"toolCallId":"c1","toolName":"request_input","success":true`)},
			[]string{`tool-start run="t1" orphan; tool_started name="request_input" call="c1"`, `tool-complete run="t1" orphan; tool_ended name="request_input" call="c1"`}},
		{"a tool that the client runs", []string{
			of("t1", "input-required", `"inputId":"i1","inputType":"tool-execution","metadata":{"toolCall":{"id":"c1"}}`),
			of("t1", "tool-complete", `"toolCallId":"c1","toolName":"camera","success":true`)},
			[]string{`input-required run="t1" orphan; input_requested call="i1" tool routing="agent"`,
				`tool-complete run="t1" orphan; input_answered call="i1"; tool_ended name="camera" call="c1"`}},
	})
}

// TestRejected checks that frames that are not events are rejected without a run.
func TestRejected(t *testing.T) {
	for frame, want := range map[string]string{
		"event: task-created\ndata: {\n\n":                                 `task-created rejected=syntax`,
		"event: task-created\ndata: []\n\n":                                `task-created rejected=shape`,
		"event: task-created\ndata: {}\n\n":                                `task-created rejected=shape`,
		"event: task-created\ndata: {\"taskId\":\"\"}\n\n":                 `task-created rejected=shape`,
		"event: task-created\ndata: {\"taskId\":7}\n\n":                    `task-created rejected=shape`,
		"event: file-write\ndata: {\"data\":\"x\"}\n\n":                    `file-write rejected=shape`,
		"event: tool-start\ndata: {\"kind\":[\"x\"],\"taskId\":\"t\"}\n\n": `- rejected=shape`,
		"event: internal:x\ndata: {}\n\n":                                  `internal:x withheld internal rejected=shape`,
		"event: task-created\ndata: {\"taskId\":\"t\",\"TASKID\":1}\n\n":   `task-created rejected=folded_name`,
	} {
		if got := factsOf(&event.Stream{}, frame); got != want {
			t.Errorf("%q decodes to %s, want %s", frame, got, want)
		}
	}
}

// TestBounds checks that the decoder keeps a limited number of names, tasks, questions and artifacts.
func TestBounds(t *testing.T) {
	var stream strings.Builder
	stream.WriteString(of("root", "task-created", created))
	for i := range 3 * maxTasks {
		stream.WriteString(of(fmt.Sprint("s", i), "tool-start", fmt.Sprintf(`"parentTaskId":"root","path":["agent:a%d"],"toolCallId":"c%d","toolName":"n%d"`, i, i, i)))
		stream.WriteString(of("root", "tool-start", fmt.Sprintf(`"toolCallId":"r%d","toolName":"m%d"`, i, i)))
		stream.WriteString(of("root", "auth-required", fmt.Sprintf(`"authId":"i%d","toolCallId":"r%d"`, i, i)))
		stream.WriteString(of("root", "file-write", fmt.Sprintf(`"artifactId":"f%d","data":"x","index":0`, i)))
	}
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	decodeAll(t, d, stream.String())
	root, known := d.tasks.Get("root")
	if !known || root.orphan || !root.started || len(root.calls) != maxCalls {
		t.Errorf("root task: known %v, %+v, want it known, started and with the maximum number of calls", known, root)
	}
	if d.tasks.Len() != maxTasks || d.questions.Len() != maxQuestions || d.encodings.Len() != maxArtifacts || d.names.Len() != wire.MaxCachedNames {
		t.Errorf("the decoder keeps %d tasks, %d questions, %d artifacts and %d names", d.tasks.Len(), d.questions.Len(), d.encodings.Len(), d.names.Len())
	}
}
