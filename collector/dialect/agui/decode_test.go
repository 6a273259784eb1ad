package agui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// factsOf decodes frames, each given as its data. It returns a line for each frame: its type and author,
// then its facts, separated by semicolons.
func factsOf(t *testing.T, s *event.Stream, frames ...string) string {
	t.Helper()
	var wire []byte
	for _, data := range frames {
		var err error
		if wire, err = sse.AppendFrame(wire, sse.Frame{Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	for line := range strings.Lines(dialecttest.Facts(Dialect{}, s, string(wire))) {
		line = strings.TrimSuffix(line, "\n")
		if fact, isFact := strings.CutPrefix(line, "  "); isFact {
			lines[len(lines)-1] += "; " + fact
			continue
		}
		_, line, _ = strings.Cut(line, " ")
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// ev returns an event of a type with additional members.
func ev(kind string, members ...string) string {
	return `{"type":"` + strings.Join(append([]string{kind + `"`}, members...), ",") + `}`
}

// Frames of many cases.
var (
	start  = ev("RUN_STARTED", `"threadId":"t"`, `"runId":"r"`)
	finish = ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`)
)

// Descriptions of these frames.
const (
	runFields   = ` run="r" session="t"`
	startFacts  = "RUN_STARTED" + runFields + "; run_started"
	finishFacts = "RUN_FINISHED" + runFields + "; run_ended awaits_outcome"
)

type decodeCase struct {
	name   string
	frames []string
	want   []string // a line for each frame
}

func runDecode(t *testing.T, cases []decodeCase) {
	t.Helper()
	runDecodeOf(t, &event.Stream{}, cases)
}

func runDecodeOf(t *testing.T, s *event.Stream, cases []decodeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(c.want, "\n"), factsOf(t, s, c.frames...)); diff != "" {
				t.Errorf("the facts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTypes checks one event of each type, on its own.
func TestTypes(t *testing.T) {
	known := map[string]bool{}
	for _, c := range []struct{ sent, want string }{
		{ev("RUN_STARTED", `"threadId":"t"`, `"runId":"r"`, `"timestamp":1795228205183`), `RUN_STARTED run="r" session="t" 2026-11-21T02:30:05.183Z; run_started`},
		{ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"outcome":{"type":"success"}`), `RUN_FINISHED run="r" session="t"; run_ended awaits_outcome`},
		{ev("RUN_ERROR", `"message":"x"`, `"code":"503"`), `RUN_ERROR; error agent_error code="503"; run_ended agent_error code="503"`},
		{ev("STEP_STARTED", `"stepName":"a"`), `STEP_STARTED step="a" branch="a#1"; agent_started`},
		{ev("STEP_FINISHED", `"stepName":"a"`), `STEP_FINISHED; other`},
		{ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"n"`), `SUBAGENT_STARTED agent="n" branch="s"; agent_started`},
		{ev("SUBAGENT_FINISHED", `"subagentRunId":"s"`), `SUBAGENT_FINISHED agent="subagent" branch="s"; agent_ended`},
		{ev("SUBAGENT_ERROR", `"subagentRunId":"s"`, `"message":"x"`), `SUBAGENT_ERROR agent="subagent" branch="s"; agent_ended agent_error`},
		{ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"assistant"`), `TEXT_MESSAGE_START; other`},
		{ev("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"x"`), `stray text withheld; other`},
		{ev("TEXT_MESSAGE_END", `"messageId":"m"`), `stray text withheld; other`},
		{ev("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, `"delta":"x"`), `TEXT_MESSAGE_CHUNK partial; text "x"`},
		{ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"f"`), `TOOL_CALL_START; tool_started name="f" call="c"`},
		{ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"{"`), `TOOL_CALL_ARGS; other`},
		{ev("TOOL_CALL_END", `"toolCallId":"c"`), `TOOL_CALL_END; other`},
		{ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`), `TOOL_CALL_CHUNK; tool_started name="f" call="c"`},
		{ev("TOOL_CALL_RESULT", `"messageId":"m"`, `"toolCallId":"c"`, `"content":"[1]"`), `TOOL_CALL_RESULT; tool_ended call="c" settled [1]`},
		{ev("REASONING_START", `"messageId":"m"`), `REASONING_START; other`},
		{ev("REASONING_MESSAGE_START", `"messageId":"m"`), `REASONING_MESSAGE_START; other`},
		{ev("REASONING_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"Hm."`), `REASONING_MESSAGE_CONTENT; thought "Hm."`},
		{ev("REASONING_MESSAGE_END", `"messageId":"m"`), `REASONING_MESSAGE_END; other`},
		{ev("REASONING_MESSAGE_CHUNK", `"delta":"Hm."`), `REASONING_MESSAGE_CHUNK; thought "Hm."`},
		{ev("REASONING_END", `"messageId":"m"`), `REASONING_END; other`},
		{ev("REASONING_ENCRYPTED_VALUE", `"subtype":"message"`, `"entityId":"m"`, `"encryptedValue":"x"`), `REASONING_ENCRYPTED_VALUE; other`},
		{ev("STATE_SNAPSHOT", `"snapshot":{"a":1,"b":{}}`), `STATE_SNAPSHOT; state keys=["a" "b"] bytes=14`},
		{ev("STATE_DELTA", `"delta":[{"op":"add","path":"/a~1b/0","value":1},{"path":"/a~1b"},{"path":"/c"},{"path":""}]`), `STATE_DELTA; state keys=["a/b" "c"]`},
		{ev("MESSAGES_SNAPSHOT", `"messages":[]`), `MESSAGES_SNAPSHOT; other`},
		{ev("ACTIVITY_SNAPSHOT", `"messageId":"a"`, `"activityType":"PLAN"`, `"content":{"x":1}`), `ACTIVITY_SNAPSHOT; artifact name="PLAN" id="a" data bytes=7 (data {"x":1})`},
		{ev("ACTIVITY_SNAPSHOT", `"messageId":"a"`, `"activityType":"PLAN"`, `"content":{}`), `ACTIVITY_SNAPSHOT; artifact name="PLAN" id="a" data bytes=2`},
		{ev("ACTIVITY_DELTA", `"messageId":"a"`, `"activityType":"PLAN"`, `"patch":[]`), `ACTIVITY_DELTA; artifact name="PLAN" id="a" data append`},
		{ev("ACTIVITY_DELTA", `"messageId":"a"`, `"activityType":"PLAN"`, `"patch":{"op":"add"}`), `ACTIVITY_DELTA; artifact name="PLAN" id="a" data append`},
		{ev("ACTIVITY_DELTA", `"messageId":"a"`, `"activityType":"PLAN"`, `"patch":[{"op":"remove","path":"/x"}]`), `ACTIVITY_DELTA; artifact name="PLAN" id="a" data append (patch [{"op":"remove","path":"/x"}])`},
		{ev("RAW", `"event":{"x":1}`), `RAW withheld internal; other`},
		{ev("CUSTOM", `"name":"x"`, `"value":1`), `CUSTOM; other`},
		{ev("THINKING_START", `"title":"x"`), `THINKING_START; other`},
		{ev("THINKING_END"), `THINKING_END; other`},
		{ev("THINKING_TEXT_MESSAGE_START"), `THINKING_TEXT_MESSAGE_START; other`},
		{ev("THINKING_TEXT_MESSAGE_CONTENT", `"delta":"Hm."`), `THINKING_TEXT_MESSAGE_CONTENT; thought "Hm."`},
		{ev("THINKING_TEXT_MESSAGE_END"), `THINKING_TEXT_MESSAGE_END; other`},
	} {
		kind, _, _ := strings.Cut(strings.TrimPrefix(c.sent, `{"type":"`), `"`)
		known[kind] = true
		if got := factsOf(t, &event.Stream{}, c.sent); got != c.want {
			t.Errorf("decoding %s\ngives %s\nwant  %s", c.sent, got, c.want)
		}
	}
	for name := range kinds {
		if !known[name] {
			t.Errorf("no case for the type %s", name)
		}
		if _, inTable := table.Types[name]; inTable == (name == typeRaw) {
			t.Errorf("%s is in the policy table: %t", name, inTable)
		}
	}
}

// TestRuns checks when a run starts and how it ends.
func TestRuns(t *testing.T) {
	other := ev("RUN_STARTED", `"threadId":"t"`, `"runId":"r2"`, `"parentRunId":"r"`)
	otherEnd := ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r2"`, `"usage":[{"inputTokens":1}]`)
	metered := ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"usage":[{"inputTokens":1}]`)
	runDecode(t, []decodeCase{
		{"one run", []string{start, finish}, []string{startFacts, finishFacts}},
		{"one after the other", []string{start, finish, other, otherEnd},
			[]string{startFacts, finishFacts, `RUN_STARTED run="r2" session="t"; run_started`, `RUN_FINISHED run="r2" session="t"; usage input=1; run_ended awaits_outcome`}},
		{"one within another", []string{start, other, otherEnd, finish},
			[]string{startFacts, "RUN_STARTED" + runFields + ` agent="subagent" branch="r2"; agent_started`, "RUN_FINISHED" + runFields + ` agent="subagent" branch="r2"; usage input=1; agent_ended`, finishFacts}},
		{"three nested runs", []string{start, other, ev("RUN_STARTED", `"threadId":"t"`, `"runId":"r3"`, `"parentRunId":"r2"`)},
			[]string{startFacts, "RUN_STARTED" + runFields + ` agent="subagent" branch="r2"; agent_started`, "RUN_STARTED" + runFields + ` agent="subagent" branch="r3" parent="r2"; agent_started`}},
		{"a second run before the first has ended", []string{start, ev("RUN_STARTED", `"threadId":"t"`, `"runId":"r2"`)}, []string{startFacts, `RUN_STARTED run="r2" session="t"; run_started`}},
		{"the same start twice", []string{start, ev("TEXT_MESSAGE_START", `"messageId":"m"`), start, ev("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"x"`)},
			[]string{startFacts, "TEXT_MESSAGE_START" + runFields + "; other", startFacts, "TEXT_MESSAGE_CONTENT" + runFields + ` partial; text "x"`}},
		{"only the end of the second was seen", []string{start, finish, otherEnd}, []string{startFacts, finishFacts, `RUN_FINISHED run="r2" session="t"; usage input=1; run_ended awaits_outcome`}},
		{"the same end twice", []string{start, finish, finish}, []string{startFacts, finishFacts, "RUN_FINISHED" + runFields + "; other"}},
		{"an error", []string{start, ev("RUN_ERROR", `"message":"x"`, `"usage":[{"model":"m","inputTokens":3,"totalTokens":5}]`)},
			[]string{startFacts, "RUN_ERROR" + runFields + `; error agent_error; usage model="m" input=3 output=2; run_ended agent_error`}},
		{"an error after the end", []string{start, finish, ev("RUN_ERROR", `"message":"x"`)}, []string{startFacts, finishFacts, "RUN_ERROR" + runFields + "; error agent_error; run_ended agent_error"}},
		{"the tokens of the end again", []string{start, metered, metered, ev("RUN_ERROR", `"message":"x"`, `"usage":[{"inputTokens":1}]`)},
			[]string{startFacts, "RUN_FINISHED" + runFields + "; usage input=1; run_ended awaits_outcome", "RUN_FINISHED" + runFields + "; other", "RUN_ERROR" + runFields + "; error agent_error; run_ended agent_error"}},
		{"canceled", []string{start, ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"outcome":{"type":"cancelled"}`)},
			[]string{startFacts, "RUN_FINISHED" + runFields + "; error canceled; run_ended canceled"}},
		{"interrupted without a reason", []string{start, ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"outcome":{"type":"interrupt","interrupts":[]}`)},
			[]string{startFacts, "RUN_FINISHED" + runFields + `; input_requested call="r" clarification; run_ended awaits_outcome`}},
		{"an error of the server", []string{start, `{"error": "x"}`}, []string{startFacts, "error" + runFields + "; error agent_error; run_ended agent_error"}},
		{"an unreadable error", []string{start, `{"type":"RUN_ERROR","message":"said "no""}`}, []string{startFacts, "-" + runFields + " rejected=syntax; error agent_error"}},
		{"text before the run", []string{ev("TEXT_MESSAGE_START", `"messageId":"m"`), start, ev("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"x"`)},
			[]string{"TEXT_MESSAGE_START; other", startFacts, "TEXT_MESSAGE_CONTENT" + runFields + ` partial; text "x"`}},
		{"invalid usage", []string{ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"usage":[{"model":"m"},{"inputTokens":-1},7,{"inputTokens":1,"outputTokens":2,"cachedInputTokens":1,"reasoningTokens":1}]`)},
			[]string{"RUN_FINISHED" + runFields + "; usage input=1 output=2 cached=1 reasoning=1; run_ended awaits_outcome"}},
		{"malformed events", []string{`[]`, `{}`, `{"type":7}`, `{"type":"x"}`, `{`, `null`},
			[]string{"- rejected=shape", "- rejected=shape", "- rejected=shape", "-; other", "- rejected=syntax", "- rejected=shape"}},
	})
}

// TestText checks that the pieces of messages are joined.
func TestText(t *testing.T) {
	open := ev("TEXT_MESSAGE_START", `"messageId":"m"`)
	piece := func(text string) string {
		return ev("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"`+text+`"`)
	}
	end := ev("TEXT_MESSAGE_END", `"messageId":"m"`)
	chunk := func(members ...string) string { return ev("TEXT_MESSAGE_CHUNK", members...) }
	runDecode(t, []decodeCase{
		{"with a start and an end", []string{open, piece("a"), piece(""), piece(`\nb`), end},
			[]string{"TEXT_MESSAGE_START; other", `TEXT_MESSAGE_CONTENT partial; text "a"`, "TEXT_MESSAGE_CONTENT; other", `TEXT_MESSAGE_CONTENT partial; text "\nb"`, `TEXT_MESSAGE_END; text "a\nb"`}},
		{"empty", []string{open, end}, []string{"TEXT_MESSAGE_START; other", "TEXT_MESSAGE_END; other"}},
		{"with an agent's name", []string{ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"name":"writer"`), piece("a")}, []string{`TEXT_MESSAGE_START agent="writer"; other`, `TEXT_MESSAGE_CONTENT agent="writer" partial; text "a"`}},
		{"with the user's name", []string{ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"name":"user"`)}, []string{`TEXT_MESSAGE_START; other`}},
		{"the user's", []string{ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"user"`, `"name":"Ann"`), piece("a"), end}, []string{"foreign text; other", "foreign text; other", "foreign text; other"}},
		{"instructions for models", []string{ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"developer"`), piece("a"), end}, []string{"foreign text internal; other", "foreign text internal; other", "foreign text internal; other"}},
		{"two messages at once", []string{open, ev("TEXT_MESSAGE_START", `"messageId":"n"`), piece("a"), ev("TEXT_MESSAGE_CONTENT", `"messageId":"n"`, `"delta":"b"`), end},
			[]string{"TEXT_MESSAGE_START; other", "TEXT_MESSAGE_START; other", `TEXT_MESSAGE_CONTENT partial; text "a"`, `TEXT_MESSAGE_CONTENT partial; text "b"`, `TEXT_MESSAGE_END; text "a"`}},
		{"in chunks, until the run ends", []string{start, chunk(`"messageId":"m"`, `"role":"assistant"`), chunk(`"delta":"a"`), chunk(`"messageId":"m"`, `"delta":"b"`), finish},
			[]string{startFacts, "TEXT_MESSAGE_CHUNK" + runFields + "; other", "TEXT_MESSAGE_CHUNK" + runFields + ` partial; text "a"`, "TEXT_MESSAGE_CHUNK" + runFields + ` partial; text "b"`, "RUN_FINISHED" + runFields + `; text "ab"; run_ended awaits_outcome`}},
		{"in chunks, until the next", []string{chunk(`"messageId":"m"`, `"delta":"a"`), chunk(`"messageId":"n"`, `"delta":"b"`), finish},
			[]string{`TEXT_MESSAGE_CHUNK partial; text "a"`, `TEXT_MESSAGE_CHUNK partial; text "b"`, "RUN_FINISHED" + runFields + `; text "a"; text "b"; run_ended awaits_outcome`}},
		{"in chunks, until a call", []string{chunk(`"messageId":"m"`, `"delta":"a"`), ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"f"`), chunk(`"delta":"b"`)},
			[]string{`TEXT_MESSAGE_CHUNK partial; text "a"`, `TOOL_CALL_START; tool_started name="f" call="c"; text "a"`, "stray text withheld; other"}},
		{"in chunks, until a call in chunks", []string{chunk(`"messageId":"m"`, `"delta":"a"`), ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`), chunk(`"delta":"b"`)},
			[]string{`TEXT_MESSAGE_CHUNK partial; text "a"`, `TOOL_CALL_CHUNK; tool_started name="f" call="c"; text "a"`, "stray text withheld; other"}},
		{"in chunks, despite unrelated events", []string{chunk(`"messageId":"m"`, `"delta":"a"`), ev("RAW", `"event":1`), ev("ACTIVITY_DELTA", `"messageId":"x"`), chunk(`"delta":"b"`)},
			[]string{`TEXT_MESSAGE_CHUNK partial; text "a"`, "RAW withheld internal; other", `ACTIVITY_DELTA; artifact id="x" data append`, `TEXT_MESSAGE_CHUNK partial; text "b"`}},
		{"in chunks of a subagent, despite another agent's event", []string{chunk(`"messageId":"m"`, `"subagentRunId":"s"`, `"delta":"a"`), ev("STEP_STARTED", `"stepName":"x"`), chunk(`"delta":"b"`), ev("STEP_STARTED", `"stepName":"y"`, `"subagentRunId":"s"`), ev("SUBAGENT_FINISHED", `"subagentRunId":"s"`)},
			[]string{`TEXT_MESSAGE_CHUNK agent="subagent" branch="s" partial; text "a"`, `STEP_STARTED step="x" branch="x#1"; agent_started`, `TEXT_MESSAGE_CHUNK agent="subagent" branch="s" partial; text "b"`,
				`STEP_STARTED agent="subagent" step="y" branch="y#2" parent="s"; agent_started`, `SUBAGENT_FINISHED agent="subagent" branch="s"; agent_ended; text "ab"`}},
		{"in chunks of a subagent, until a snapshot of the messages", []string{chunk(`"messageId":"m"`, `"subagentRunId":"s"`), ev("MESSAGES_SNAPSHOT"), chunk(`"subagentRunId":"s"`, `"delta":"b"`)},
			[]string{`TEXT_MESSAGE_CHUNK agent="subagent" branch="s"; other`, "MESSAGES_SNAPSHOT; other", `stray text withheld agent="subagent" branch="s"; other`}},
		{"in chunks, until an error", []string{chunk(`"messageId":"m"`, `"delta":"a"`), ev("RUN_ERROR", `"message":"x"`)}, []string{`TEXT_MESSAGE_CHUNK partial; text "a"`, "RUN_ERROR; error agent_error; run_ended agent_error"}},
	})
}

// TestResultsInSnapshots checks that a result in a snapshot ends its call once.
func TestResultsInSnapshots(t *testing.T) {
	call := ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"f"`)
	callFacts := `TOOL_CALL_START; tool_started name="f" call="c"`
	snapshot := func(messages string) string { return ev("MESSAGES_SNAPSHOT", `"messages":[`+messages+`]`) }
	result := `{"id":"m","role":"tool","toolCallId":"c","content":"[1]"}`
	runDecode(t, []decodeCase{
		{"a result beside a prompt", []string{call, snapshot(`{"id":"s","role":"system","content":"x"},` + result), snapshot(result)},
			[]string{callFacts, `MESSAGES_SNAPSHOT; tool_ended name="f" call="c" settled [1]`, "MESSAGES_SNAPSHOT; other"}},
		{"a failure", []string{call, snapshot(`{"role":"tool","toolCallId":"c","content":"x","error":"ValueError: x"}`)},
			[]string{callFacts, `MESSAGES_SNAPSHOT; tool_ended name="f" call="c" tool_error code="ValueError" settled "x"`}},
		{"then an event with the result", []string{call, snapshot(result), ev("TOOL_CALL_RESULT", `"messageId":"m"`, `"toolCallId":"c"`, `"content":"[1]"`)},
			[]string{callFacts, `MESSAGES_SNAPSHOT; tool_ended name="f" call="c" settled [1]`, "TOOL_CALL_RESULT; other"}},
		{"after an event with the result", []string{call, ev("TOOL_CALL_RESULT", `"messageId":"m"`, `"toolCallId":"c"`, `"content":"[1]"`), snapshot(result)},
			[]string{callFacts, `TOOL_CALL_RESULT; tool_ended name="f" call="c" settled [1]`, "MESSAGES_SNAPSHOT; other"}},
		{"another call with the ID", []string{call, snapshot(result), call, ev("TOOL_CALL_RESULT", `"messageId":"m"`, `"toolCallId":"c"`, `"content":"2"`)},
			[]string{callFacts, `MESSAGES_SNAPSHOT; tool_ended name="f" call="c" settled [1]`, callFacts, `TOOL_CALL_RESULT; tool_ended name="f" call="c" settled 2`}},
		{"results of two agents, then the end", []string{start, call, ev("TOOL_CALL_START", `"toolCallId":"d"`, `"toolCallName":"g"`, `"subagentRunId":"s"`), snapshot(result + `,{"role":"tool","toolCallId":"d","content":"2"}`), finish},
			[]string{startFacts, strings.Replace(callFacts, ";", runFields+";", 1), "TOOL_CALL_START" + runFields + ` agent="subagent" branch="s"; tool_started name="g" call="d"`, "MESSAGES_SNAPSHOT" + runFields + `; tool_ended name="f" call="c" settled [1]`, finishFacts}},
		{"a result for another run's call", []string{snapshot(result)}, []string{"MESSAGES_SNAPSHOT; other"}},
		{"a message of the user", []string{call, snapshot(`{"role":"user","toolCallId":"c","content":"x"}`)}, []string{callFacts, "MESSAGES_SNAPSHOT; other"}},
		{"an internal result", []string{call, snapshot(`{"role":"tool","toolCallId":"c","content":"x","kind":"internal:x"}`)}, []string{callFacts, "MESSAGES_SNAPSHOT; other"}},
		{"results of two agents, one in a frame", []string{call, ev("TOOL_CALL_START", `"toolCallId":"d"`, `"toolCallName":"g"`, `"subagentRunId":"s"`), snapshot(result + `,{"role":"tool","toolCallId":"d","content":"2"}`), snapshot(`{"role":"tool","toolCallId":"d","content":"2"}`)},
			[]string{callFacts, `TOOL_CALL_START agent="subagent" branch="s"; tool_started name="g" call="d"`, `MESSAGES_SNAPSHOT; tool_ended name="f" call="c" settled [1]`, `MESSAGES_SNAPSHOT agent="subagent" branch="s"; tool_ended name="g" call="d" settled 2`}},
	})
}

// TestWithheldInSnapshots checks that frames that continue a withheld message of the last snapshot are
// withheld.
func TestWithheldInSnapshots(t *testing.T) {
	prompt := ev("MESSAGES_SNAPSHOT", `"messages":[{"id":"s","role":"system","content":"x"}]`)
	piece := ev("TEXT_MESSAGE_CHUNK", `"messageId":"s"`, `"delta":"y"`)
	runDecode(t, []decodeCase{
		{"a piece", []string{prompt, piece}, []string{"MESSAGES_SNAPSHOT; other", `TEXT_MESSAGE_CHUNK partial internal; text "y"`}},
		{"more than are remembered", []string{ev("MESSAGES_SNAPSHOT", `"messages":[`+many(wire.MaxSet, `{"id":"s%d","role":"system"}`)+`]`)}, []string{"MESSAGES_SNAPSHOT internal; other"}},
		{"as many as are remembered", []string{ev("MESSAGES_SNAPSHOT", `"messages":[`+many(wire.MaxSet-1, `{"id":"s%d","role":"system"}`)+`]`)}, []string{"MESSAGES_SNAPSHOT; other"}},
	})
}

func many(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// TestNestedRunsEndOnce checks that a run within another is closed by its end, however often it starts, and with it the runs that it
// started. Their late ends end no other run.
func TestNestedRunsEndOnce(t *testing.T) {
	begin := func(id, parent string) string {
		return ev("RUN_STARTED", `"threadId":"t"`, `"runId":"`+id+`"`, `"parentRunId":"`+parent+`"`)
	}
	end := func(id string) string { return ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"`+id+`"`) }
	step := ev("STEP_STARTED", `"stepName":"s"`)
	const own, ofN, ofO = ` agent="me" step="s" branch="s#1"`, ` agent="subagent" step="s" branch="s#1" parent="n"`, ` agent="subagent" step="s" branch="s#1" parent="o"`
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"started twice":           {[]string{begin("n", "r"), begin("n", "r"), end("n")}, own},
		"ended twice":             {[]string{begin("n", "r"), begin("n", "r"), end("n"), end("n")}, own},
		"started again":           {[]string{begin("n", "r"), end("n"), begin("n", "r")}, ofN},
		"with a run within":       {[]string{begin("n", "r"), begin("o", "n"), end("n")}, own},
		"with a late end within":  {[]string{begin("n", "r"), begin("o", "n"), end("n"), end("o")}, own},
		"with runs within within": {[]string{begin("n", "r"), begin("o", "n"), begin("p", "o"), end("n")}, own},
		"with a run beside":       {[]string{begin("n", "r"), begin("o", "r"), end("n")}, ofO},
	} {
		t.Run(name, func(t *testing.T) {
			facts := factsOf(t, &event.Stream{ConfiguredAgent: "me"}, append(append([]string{start}, c.frames...), step)...)
			got, want := facts[strings.LastIndexByte(facts, '\n')+1:], "STEP_STARTED"+runFields+c.want+"; agent_started"
			if got != want || strings.Contains(facts, "run_ended") {
				t.Errorf("the step is of\n%s, want\n%s, in\n%s", got, want, facts)
			}
		})
	}
}
