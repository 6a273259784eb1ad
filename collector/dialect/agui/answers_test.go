package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Frames of a call that runs a subagent, in the order of the protocol's example.
const (
	task         = `{"type":"TOOL_CALL_START","toolCallId":"call_1a2b3c","toolCallName":"task"}`
	taskEnd      = `{"type":"TOOL_CALL_END","toolCallId":"call_1a2b3c"}`
	worker       = `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"internal_worker","parentToolCallId":"call_1a2b3c"}`
	workerEnd    = `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":"CANARY"}`
	answer       = `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call_1a2b3c","content":"CANARY","role":"tool"}`
	emptyAnswer  = `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call_1a2b3c","content":"","role":"tool"}`
	listedCall   = `{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"call_1a2b3c","type":"function","function":{"name":"task","arguments":"{}"}}]}`
	listedAnswer = `{"id":"y","role":"tool","toolCallId":"call_1a2b3c","content":"CANARY"}`
	nextRun      = `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`
)

func named(name string) string { return strings.Replace(worker, "internal_worker", name, 1) }

// TestAnswersOfSubagents checks that the result of a call has no answer of a withheld subagent that the call began.
func TestAnswersOfSubagents(t *testing.T) {
	public := named("worker")
	inner := func(frame string) string {
		return strings.NewReplacer(`"s"`, `"u"`, "call_1a2b3c", "call_2", `"x"`, `"x2"`).Replace(frame)
	}
	innerTask := with(`"subagentRunId":"s"`)(inner(task))
	ended := `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	alone := strings.Replace(worker, `,"parentToolCallId":"call_1a2b3c"`, "", 1)
	taskFor := func(name string) string {
		return `{"type":"TOOL_CALL_ARGS","toolCallId":"call_1a2b3c","delta":"{\"subagent_type\":\"` + name + `\"}"}`
	}
	for name, c := range map[string]struct {
		sent []string
		want string // of the last frame
	}{
		"named":                           {[]string{task, taskEnd, worker, workerEnd, answer}, emptyAnswer},
		"marked":                          {[]string{task, evasions["kind"](public), answer}, emptyAnswer},
		"an internal event":               {[]string{task, evasions["SSE name"](public), answer}, emptyAnswer},
		"without an ID":                   {[]string{task, strings.Replace(worker, `"s"`, `""`, 1), answer}, emptyAnswer},
		"of an internal type":             {[]string{task, evasions["type, longer"](public), answer}, emptyAnswer},
		"of an unreadable type":           {[]string{task, evasions["type, a list"](public), answer}, emptyAnswer},
		"of Python's members":             {[]string{task, strings.Replace(public, "parentToolCallId", "parent_tool_call_id", 1), answer}, emptyAnswer},
		"unreadable":                      {[]string{task, evasions["unreadable"](worker), workerEnd, answer}, emptyAnswer},
		"too large":                       {[]string{task, with(`"description":"` + strings.Repeat("x", 2<<20) + `"`)(worker), workerEnd, answer}, emptyAnswer},
		"of the only delegate":            {[]string{task, taskFor("worker"), `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"worker","kind":"internal"}`, answer}, emptyAnswer},
		"marked at its end":               {[]string{task, public, evasions["kind"](workerEnd), answer}, emptyAnswer},
		"with a marked result":            {[]string{task, public, strings.Replace(workerEnd, `"CANARY"`, `{"type":"internal:x"}`, 1), answer}, emptyAnswer},
		"marked at an unseen start's end": {[]string{task, evasions["kind"](workerEnd), answer}, emptyAnswer},
		"a second result":                 {[]string{task, worker, answer, strings.Replace(answer, `"x"`, `"x2"`, 1)}, strings.Replace(emptyAnswer, `"x"`, `"x2"`, 1)},
		"one of two":                      {[]string{task, worker, inner(public), answer}, emptyAnswer},
		"in a later run":                  {[]string{task, worker, ended, nextRun, answer}, withheld},
		"a reused ID":                     {[]string{task, worker, answer, ended, nextRun, task, strings.Replace(answer, `"x"`, `"x2"`, 1)}, strings.Replace(emptyAnswer, `"x"`, `"x2"`, 1)},
		"in a subagent":                   {[]string{task, public, innerTask, with(`"parentSubagentRunId":"s"`)(inner(worker)), inner(answer)}, inner(emptyAnswer)},
		"around a subagent":               {[]string{task, public, innerTask, with(`"parentSubagentRunId":"s"`)(inner(worker)), inner(answer), answer}, answer},
		"of a subagent of one":            {[]string{task, worker, inner(task), with(`"parentSubagentRunId":"s"`)(inner(public)), inner(answer)}, inner(emptyAnswer)},
		"a nested run":                    {[]string{task, evasions["kind"](with(`"parentRunId":"r"`)(nextRun)), strings.Replace(ended, `"r"`, `"q"`, 1), answer}, emptyAnswer},
		"of a withheld call":              {[]string{evasions["kind"](task), worker, answer}, withheld},
		"a public one":                    {[]string{task, public, workerEnd, answer}, answer},
		"a public sibling":                {[]string{task, inner(task), worker, inner(public), inner(answer)}, inner(answer)},
		"a public sibling's text":         {[]string{task, worker, inner(named("other")), `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","subagentRunId":"u"}`}, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","subagentRunId":"u"}`},
		"a public sibling at the end":     {[]string{task, public, inner(task), inner(public), evasions["kind"](workerEnd), inner(answer)}, inner(answer)},
		"no call":                         {[]string{task, alone, answer}, emptyAnswer},
		"no call, and the next one":       {[]string{alone, task, answer}, answer},
		"no call, and one with another":   {[]string{task, inner(task), inner(public), alone, inner(answer)}, inner(answer)},
		"no call, another works in it":    {[]string{task, public, alone, answer}, answer},
		"no call, another is to work":     {[]string{task, taskFor("expert"), alone, answer}, answer},
		"no call, of another agent":       {[]string{task, public, innerTask, alone, inner(answer)}, inner(answer)},
		"no call, of the same agent":      {[]string{task, public, innerTask, with(`"parentSubagentRunId":"s"`)(strings.Replace(alone, `"s"`, `"u"`, 1)), inner(answer)}, inner(emptyAnswer)},
		"no call, in a nested run":        {[]string{with(`"parentRunId":"r"`)(nextRun), task, alone, answer}, emptyAnswer},
		"a public one without a call":     {[]string{task, strings.Replace(alone, "internal_", "", 1), answer}, answer},
		"another unreadable":              {[]string{task, `{"rawEvent":{"US":1,"us":2}}`, answer}, answer},
		"an unknown type":                 {[]string{task, public, `{"type":"SUBAGENT_X","subagentRunId":"s","parentToolCallId":"call_1a2b3c"}`, answer}, answer},
	} {
		got := last(filterFrames(t, allSettings[0], append([]string{run}, c.sent...)...))
		if got != c.want {
			t.Errorf("%s: the last frame leaves as %s", name, got)
		}
		public := last(filterFrames(t, filter.Settings{Policy: event.PolicyPublic}, append([]string{run}, c.sent...)...))
		if strings.Contains(public, "CANARY") {
			t.Errorf("%s, public: the last frame leaves as %s", name, public)
		}
	}
}

// TestRepeatedAnswers checks that no other frame has the answer of a withheld subagent, whether the subagent began before the result of
// the call or after it.
func TestRepeatedAnswers(t *testing.T) {
	const end = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"`
	const langchain = `{"type":"tool","content":"CANARY","tool_call_id":"call_1a2b3c"}`
	list := func(messages string) string { return `{"type":"MESSAGES_SNAPSHOT","messages":[` + messages + `]}` }
	state := func(messages string) string {
		return `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + messages + `],"page":1}}`
	}
	for sent, want := range map[string]string{
		list(hello + "," + listedCall + "," + listedAnswer): list(hello + "," + listedCall),
		state(langchain): state(""),
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/messages/-","value":` + langchain + `}]}`:                    withheld,
		end + `,"result":{"messages":[` + listedAnswer + `]}}`:                                                            end + `}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"q","input":{"messages":[` + listedAnswer + `]}}`:                   nextRun,
		`{"type":"CUSTOM","name":"x","value":{"toolCallId":"call_1a2b3c","out":"CANARY"}}`:                                withheld,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"a2ui-surface-call_1a2b3c","activityType":"a","content":{"x":"CANARY"}}`: withheld,
		`{"type":"RUN_ERROR","message":"failed: the CANARY plan"}`:                                                        `{"type":"RUN_ERROR","message":"the run failed"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m-call_1a2b3c","role":"assistant"}`:                                    unchanged,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"call_1a2b3c-2","name":"n","parentToolCallId":"call_1a2b3c"}`:         unchanged,
	} {
		if want == unchanged {
			want = sent
		}
		answer := strings.Replace(answer, "CANARY", "the CANARY plan", 1)
		for _, before := range [][]string{{run, task, worker, answer, sent}, {run, task, answer, worker, sent}, {run, task, worker, sent}} {
			if strings.Contains(sent, "RUN_ERROR") && before[2] != worker || strings.Contains(sent, "RUN_ERROR") && len(before) == 4 {
				continue // the result left, or there is none
			}
			if got := last(filterFrames(t, allSettings[0], before...)); got != want {
				t.Errorf("after %s, %s becomes %s", before[2:len(before)-1], sent, got)
			}
		}
		if got := last(filterFrames(t, allSettings[0], run, task, named("worker"), answer, sent)); got != sent {
			t.Errorf("of another subagent, %s becomes %s", sent, got)
		}
	}
}

// TestAnswersOfManySubagents checks that no result leaves whole after more subagents were withheld than are remembered.
func TestAnswersOfManySubagents(t *testing.T) {
	var sent []string
	for i := range 1100 {
		sent = append(sent, strings.NewReplacer(`"s"`, fmt.Sprintf(`"s%d"`, i), "call_1a2b3c", fmt.Sprintf("call_%d", i)).Replace(worker))
	}
	sent = append(sent, task, worker, answer)
	if got := last(filterFrames(t, allSettings[0], append([]string{run}, sent...)...)); got != emptyAnswer {
		t.Errorf("the last result leaves as %s", got)
	}
	var crowd []string // as many subagents as are known
	for i := range 256 {
		crowd = append(crowd, fmt.Sprintf(`{"type":"SUBAGENT_STARTED","subagentRunId":"s%d","name":"n"}`, i))
	}
	crowd = append(crowd, task, named("worker"), evasions["kind"](workerEnd), answer)
	if got := last(filterFrames(t, allSettings[0], append([]string{run}, crowd...)...)); got != emptyAnswer {
		t.Errorf("the result of the last of many subagents leaves as %s", got)
	}
}

// TestErrorsOfUnansweredCalls checks that errors leave as under public while a call of a withheld message, or of an internal delegate,
// has no result.
func TestErrorsOfUnansweredCalls(t *testing.T) {
	message := strings.Replace(markedMessage, "%MARK%", `,"name":"internal_audit"`, 1)
	result := `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call-00000001","content":"y"}`
	other := []string{`{"type":"TOOL_CALL_START","toolCallId":"call-00000002","toolCallName":"f"}`, `{"type":"TOOL_CALL_END","toolCallId":"call-00000002"}`}
	failures := map[string]string{
		`{"type":"RUN_ERROR","message":"failed"}`:                                                                     `{"type":"RUN_ERROR","message":"the run failed"}`,
		`{"type":"SUBAGENT_ERROR","subagentRunId":"t","message":"failed"}`:                                            `{"type":"SUBAGENT_ERROR","subagentRunId":"t","message":"the subagent failed"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"z","toolCallId":"call-00000002","content":"{\"error\":\"failed\"}"}`: `{"type":"TOOL_CALL_RESULT","messageId":"z","toolCallId":"call-00000002","content":""}`,
	}
	before := map[string][]string{
		"an open delegation": {task, `{"type":"TOOL_CALL_ARGS","toolCallId":"call_1a2b3c","delta":"{\"subagent_type\":\"internal_x\"}"}`, taskEnd},
	}
	for place, frames := range placesOfMessages {
		if frames = slices.Clone(frames); last(frames) == nextRun || place == "a state, late" {
			continue // the run has ended, or the state has the result
		}
		for i := range frames {
			frames[i] = strings.Replace(frames[i], "$", message, 1)
		}
		before[place] = frames
	}
	for place, frames := range before {
		for failure, public := range failures {
			sent := slices.Concat([]string{run, otherAgent}, other, frames, []string{failure})
			if got := last(filterFrames(t, allSettings[0], sent...)); got != public {
				t.Errorf("%s: %s", place, got)
			}
			answered := slices.Insert(slices.Clone(sent), len(sent)-1, result, strings.Replace(answer, "CANARY", "y", 1))
			if got := last(filterFrames(t, allSettings[0], answered...)); got != failure {
				t.Errorf("%s, answered: %s", place, got)
			}
			if got := last(filterFrames(t, allSettings[0], append(answered[:len(answered)-1:len(answered)-1], frames[0], failure)...)); place == "a state" && got != failure {
				t.Errorf("%s, answered and repeated: %s", place, got)
			}
		}
	}
	list := `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + message + `,` + markedResult + `]}}`
	for failure := range failures {
		if got := last(filterFrames(t, allSettings[0], slices.Concat([]string{run, otherAgent}, other, []string{list, list, failure})...)); got != failure {
			t.Errorf("with the result: %s", got)
		}
	}
}

// TestAnswersOfNamedDelegates checks that the answer of an internal agent does not leave with, or after, the call in a list, a state or a
// value that names it. LangGraph's adapter may send no other frame of the call.
func TestAnswersOfNamedDelegates(t *testing.T) {
	shapes := map[string]string{
		"AG-UI":      `{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"call_1a2b3c","type":"function","function":{"name":"task","arguments":"{\"subagent_type\":\"NAME\"}"}}]},{"id":"y","role":"tool","toolCallId":"call_1a2b3c","content":"CANARY"}`,
		"LangChain":  `{"id":"a","type":"ai","content":"x","name":null,"tool_calls":[{"id":"call_1a2b3c","name":"task","args":{"subagent_type":"NAME"},"type":"tool_call"}]},{"id":"y","type":"tool","name":"task","tool_call_id":"call_1a2b3c","content":"CANARY"}`,
		"Anthropic":  `{"id":"a","role":"assistant","content":[{"type":"tool_use","id":"call_1a2b3c","name":"task","input":{"subagent_type":"NAME"}}]},{"id":"y","role":"tool","tool_call_id":"call_1a2b3c","content":"CANARY"}`,
		"of a team":  `{"id":"a","role":"assistant","tool_calls":[{"id":"call_1a2b3c","function":{"name":"delegate_task_to_member","arguments":"{\"member_id\":\"NAME\"}"}}]},{"id":"y","role":"tool","tool_call_id":"call_1a2b3c","content":"CANARY"}`,
		"the answer": `{"id":"y","role":"tool","toolCallId":"call_1a2b3c","content":"CANARY"},{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"call_1a2b3c","type":"function","function":{"name":"task","arguments":"{\"subagent_type\":\"NAME\"}"}}]}`,
	}
	for shape, messages := range shapes {
		for place, frames := range placesOfMessages {
			for name, leaves := range map[string]bool{"internal_x": false, "writer": true} {
				sent := []string{run, otherAgent}
				for _, frame := range frames {
					list := "[" + strings.ReplaceAll(messages, "NAME", name) + "]"
					sent = append(sent, strings.NewReplacer("[$]", list, markedResult+",$", list[1:len(list)-1], "$", `{"messages":`+list+`}`).Replace(frame))
				}
				if last(frames) != nextRun {
					sent = append(sent, task)
				}
				for _, s := range allSettings {
					got := filterFrames(t, s, append(sent, answer)...)
					if all := strings.Join(got, ""); strings.Contains(all, "CANARY") && !leaves || leaves && place == "a state" && s.Policy == event.PolicyClient && strings.Count(all, "CANARY") != 2 || place == "a state" && s.Policy == event.PolicyClient && !strings.Contains(all, name) {
						t.Errorf("%s, %s, %s: %q", shape, place, name, got)
					}
				}
			}
		}
	}
}
