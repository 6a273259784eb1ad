package deepagents

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// factsOf decodes frames, each given as its data. It returns a line for each: its type and author, then its
// facts, separated by semicolons.
func factsOf(s *event.Stream, frames ...string) string {
	var lines []string
	wire := "data: " + strings.Join(frames, "\n\ndata: ") + "\n\n"
	for line := range strings.Lines(dialecttest.Facts(Dialect{}, s, wire)) {
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

// v2 returns a frame of version 2 without a time.
func v2(kind, members string) string {
	return `{"v":2,` + v1(kind, members)[1:]
}

// v1 returns a frame of version 1 without a time.
func v1(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"type":%q,"id":"f"%s}`, kind, members)
}

// Members of frames, and parts of expected lines.
const (
	onMain     = `"agent_type":"main","agent_id":"main_1"`
	onSub      = `"agent_type":"subagent","agent_id":"subagent_analyst_x1","parent_call_id":"t1"`
	runFields  = ` run="m" session="c"`
	mainFields = runFields + ` agent="main"`
	onOther    = `"agent_type":"subagent","agent_id":"subagent_analyst_x1","parent_call_id":"t2"` // with the same id
	byOther    = runFields + ` agent="analyst" branch="subagent_analyst_x1" within="t2"`
	bySub      = runFields + ` agent="analyst" branch="subagent_analyst_x1" within="t1"`
)

var (
	start      = v2("start", `"message_id":"m","chat_id":"c"`)
	startFacts = "start" + mainFields + "; run_started resumes"
	end        = v2("end", `"status":"completed","ms_total":5`)
	endFacts   = "end" + runFields + "; run_ended took=5ms"
)

type decodeCase struct {
	name   string
	frames []string
	want   []string // a line for each frame
}

func runDecode(t *testing.T, cases []decodeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(c.want, "\n"), factsOf(&event.Stream{}, c.frames...)); diff != "" {
				t.Errorf("the facts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRuns checks when a run starts and how it ends.
func TestRuns(t *testing.T) {
	status := func(s string) string { return v2("end", `"status":`+s) }
	runDecode(t, []decodeCase{
		{"complete", []string{start, end}, []string{startFacts, endFacts}},
		{"of version 1", []string{v1("start", `"message_id":"m","chat_id":"c"`), v1("end", `"status":"completed"`)}, []string{"start" + runFields + "; run_started resumes", "end" + runFields + "; run_ended"}},
		{"without a start", []string{v2("thinking", `"text":"Hm."`), end}, []string{`thinking agent="main"; thought "Hm."`, "end; run_ended took=5ms"}},
		{"without a status", []string{start, v2("end", "")}, []string{startFacts, "end" + runFields + "; run_ended"}},
		{"canceled", []string{start, status(`"cancelled"`)}, []string{startFacts, "end" + runFields + "; error canceled; run_ended canceled"}},
		{"failed", []string{start, status(`"error"`)}, []string{startFacts, "end" + runFields + "; error agent_error; run_ended agent_error"}},
		{"successful", []string{start, status(`"success"`), start, status(`"done"`)}, []string{startFacts, "end" + runFields + "; run_ended", startFacts, "end" + runFields + "; run_ended"}},
		{"with a status that is no text", []string{start, status(`500`)}, []string{startFacts, "end" + runFields + "; error agent_error; run_ended agent_error"}},
		{"with an unknown status", []string{start, status(`"x"`)}, []string{startFacts, "end" + runFields + "; error agent_error; run_ended agent_error"}},
		{"an error before the end", []string{start, v2("error", `"error":"x"`), end}, []string{startFacts, "error" + runFields + "; error agent_error", "end" + runFields + "; run_ended agent_error took=5ms"}},
		{"an error without an end", []string{start, v2("error", `"error":{"message":"x"}`)}, []string{startFacts, "error" + runFields + "; error agent_error"}},
		{"an unreadable error", []string{start, `{"v":2,"type": "error","error":"said "x" and died"}`, end},
			[]string{startFacts, "-" + runFields + " rejected=syntax; error agent_error", "end" + runFields + "; run_ended agent_error took=5ms"}},
		{"an unreadable frame with an error in it", []string{start, `{"type":"internal:log","entry":{"type":"error","x":NaN}}`, `{"v":2,"type":"tool_end","result":{"type":"error","score":NaN},"status":"ok"}`, `{"v":2,"kind":"internal:x","type":"error","x":NaN}`, end},
			[]string{startFacts, "-" + runFields + " rejected=syntax", "-" + runFields + " rejected=syntax", "-" + runFields + " rejected=syntax", endFacts}},
		{"an unreadable frame that quotes an error", []string{start, `{"v":2,"md":"a "type":"error" b","type":"content"}`, `{"type":"content","type":"error","x":1}`, end},
			[]string{startFacts, "-" + runFields + " rejected=syntax", "-" + runFields + " rejected=duplicate_name", endFacts}},
		{"a second end after an error", []string{start, v2("error", ""), end, end},
			[]string{startFacts, "error" + runFields + "; error agent_error", "end" + runFields + "; run_ended agent_error took=5ms", "end" + runFields + "; run_ended agent_error took=5ms"}},
		{"the next message", []string{start, end, v2("start", `"message_id":"n","chat_id":"c"`), end},
			[]string{startFacts, endFacts, `start run="n" session="c" agent="main"; run_started resumes`, `end run="n" session="c"; run_ended took=5ms`}},
		{"the next message without an end", []string{start, v2("error", ""), v2("start", `"message_id":"n","chat_id":"c"`), end},
			[]string{startFacts, "error" + runFields + "; error agent_error", `start run="n" session="c" agent="main"; run_started resumes`, `end run="n" session="c"; run_ended took=5ms`}},
		{"a repeated start", []string{start, start, end}, []string{startFacts, startFacts, endFacts}},
		{"malformed events", []string{`{}`, `[]`, `{"type":7}`, `{"type":"x","id":"f"}`, `{"type":"start"`},
			[]string{"- rejected=shape", "- rejected=shape", "- rejected=shape", "-; other", "- rejected=syntax"}},
	})
	other := v2("start", `"message_id":"n","chat_id":"c"`)
	if got, want := factsOf(&event.Stream{SingleRun: true}, start, other, end), strings.Join([]string{startFacts, startFacts, endFacts}, "\n"); got != want {
		t.Errorf("on a stream with one run, the facts are\n%s\nwant\n%s", got, want)
	}
}

// TestAgents checks which agent a frame belongs to, at any depth.
func TestAgents(t *testing.T) {
	const nested = `"agent_type":"subagent","agent_id":"subagent_reader_7f","parent_call_id":"t2"`
	byNested := runFields + ` agent="reader" branch="subagent_reader_7f" within="t2"`
	runDecode(t, []decodeCase{
		{"nested",
			[]string{
				start, v2("tool_start", `"name":"task","call_id":"t1",`+onMain), v2("subagent_start", onSub),
				v2("tool_start", `"name":"task","call_id":"t2",`+onSub), v2("subagent_start", nested), v2("thinking", `"text":"Hm.",`+nested),
				v2("subagent_end", `"ms":7,`+nested), v2("tool_end", `"call_id":"t2","ms":8,"status":"ok"`), v2("subagent_end", `"ms":9,`+onSub), v2("tool_end", `"call_id":"t1","ms":10,"status":"ok"`),
			},
			[]string{
				startFacts, "tool_start" + mainFields + `; tool_started name="task" call="t1"`, "subagent_start" + bySub + "; agent_started",
				"tool_start" + bySub + `; tool_started name="task" call="t2"`, "subagent_start" + byNested + "; agent_started", "thinking" + byNested + `; thought "Hm."`,
				"subagent_end" + byNested + "; agent_ended took=7ms", "tool_end" + bySub + `; tool_ended name="task" call="t2" took=8ms`,
				"subagent_end" + bySub + "; agent_ended took=9ms", "tool_end" + mainFields + `; tool_ended name="task" call="t1" took=10ms`,
			}},
		{"named only by its call", []string{start, v2("subagent_start", onSub), v2("thinking", `"text":"Hm.","parent_call_id":"t1"`), v2("thinking", `"text":"Hm.","agent_type":"subagent","parent_call_id":"t9"`)},
			[]string{startFacts, "subagent_start" + bySub + "; agent_started", "thinking" + bySub + `; thought "Hm."`, "thinking" + runFields + ` agent="subagent" branch="t9" within="t9"; thought "Hm."`}},
		{"named only by its id", []string{start, v2("subagent_start", onSub), v2("thinking", `"text":"Hm.","agent_id":"subagent_analyst_x1"`), v2("thinking", `"text":"Hm.","agent_id":"main_1"`)},
			[]string{startFacts, "subagent_start" + bySub + "; agent_started", "thinking" + bySub + `; thought "Hm."`, "thinking" + mainFields + `; thought "Hm."`}},
		{"named by its call later", []string{start, v2("thinking", `"text":"Hm.","agent_id":"subagent_analyst_x1"`), v2("subagent_start", onSub)},
			[]string{startFacts, "thinking" + runFields + ` agent="analyst" branch="subagent_analyst_x1"; thought "Hm."`, "subagent_start" + bySub + "; agent_started"}},
		{"without a type", []string{start, v2("subagent_start", `"agent_id":"analyst"`), v2("thinking", `"text":"Hm.","agent_id":"analyst"`)},
			[]string{startFacts, "subagent_start" + runFields + ` agent="analyst" branch="analyst"; agent_started`, "thinking" + runFields + ` agent="analyst" branch="analyst"; thought "Hm."`}},
		{"without a name", []string{start, v2("subagent_start", `"agent_type":"subagent"`), v2("subagent_start", ""), v2("subagent_end", "")},
			[]string{startFacts, "subagent_start" + runFields + ` agent="subagent" branch="subagent"; agent_started`, "subagent_start" + runFields, "subagent_end" + runFields}},
		{"in version 1, which has no agents", []string{v1("start", `"message_id":"m","chat_id":"c"`), v1("tool_start", `"name":"f","call_id":"1"`), v1("tool_end", `"call_id":"1"`)},
			[]string{"start" + runFields + "; run_started resumes", "tool_start" + runFields + `; tool_started name="f" call="1"`, "tool_end" + runFields + `; tool_ended name="f" call="1"`}},
	})
	for id, want := range map[string]string{
		"subagent_advanced_tender_analyst_xyz12345": "advanced_tender_analyst", "subagent_analyst_1": "analyst", "subagent_analyst": "analyst",
		"subagent_tender_analyst": "tender_analyst", "subagent_abc123": "subagent", "subagent_": "subagent", "subagent": "subagent", "analyst_7f": "analyst",
		"subagent_user_1": "subagent", "subagent_main_1": "subagent", "user": "subagent",
	} {
		if got := nameOf(id, ""); got != want {
			t.Errorf("the agent with the id %s has the name %q, want %q", id, got, want)
		}
	}
}

// TestCalls checks the facts of tool calls.
func TestCalls(t *testing.T) {
	call := func(members string) string { return v2("tool_start", `"name":"f","call_id":"1"`+members) }
	done := func(members string) string { return v2("tool_end", `"name":"f","call_id":"1"`+members) }
	opened := "tool_start" + mainFields + `; tool_started name="f" call="1"`
	closed := "tool_end" + mainFields + `; tool_ended name="f" call="1"`
	runDecode(t, []decodeCase{
		{"arguments", []string{start, call(`,"args_summary":"{\"q\":\"é\"}"`), call(`,"args_summary":"{\"q\":\"cut"`), call(`,"args_summary":{"q":1}`), call(`,"args_display":"secret"`)},
			[]string{startFacts, opened + ` {"q":"é"}`, opened + ` "{\"q\":\"cut"`, opened + ` {"q":1}`, opened}},
		{"ends", []string{start, done(`,"status":"ok","ms":5`), done(`,"status":"success"`), done(``), done(`,"status":"done"`), done(`,"status":500`), done(`,"status":"failed"`), done(`,"status":"cancelled"`), done(`,"ms":-1`), done(`,"ms":1e300`)},
			[]string{startFacts, closed + " took=5ms", closed, closed, closed, closed + " tool_error", closed + " tool_error", closed + " canceled", closed, closed}},
		{"without ids", []string{start, v2("tool_start", `"name":"f"`), v2("tool_end", `"name":"f"`)}, []string{startFacts, "tool_start" + mainFields + `; tool_started name="f"`, "tool_end" + mainFields + `; tool_ended name="f"`}},
		{"in parallel",
			[]string{start, call(""), v2("tool_start", `"name":"g","call_id":"2",`+onSub), done(`,"status":"ok"`), v2("tool_end", `"call_id":"2"`)},
			[]string{startFacts, opened, "tool_start" + bySub + `; tool_started name="g" call="2"`, closed, "tool_end" + bySub + `; tool_ended name="g" call="2"`}},
	})
}

// TestContent checks that text is joined between content_start and content_end.
func TestContent(t *testing.T) {
	md := func(text, more string) string { return v2("content", fmt.Sprintf(`"md":%q%s`, text, more)) }
	begin, finish := v2("content_start", onMain), v2("content_end", onMain)
	piece := func(text string) string { return "content" + mainFields + " partial; text " + text }
	runDecode(t, []decodeCase{
		{"between its bounds", []string{start, begin, md("**Confidence:** 9", ""), md("2%\n", ""), finish, finish},
			[]string{startFacts, "content_start" + mainFields, piece(`"**Confidence:** 9"`), piece(`"2%\n"`), "content_end" + mainFields + `; text "**Confidence:** 92%\n"`, "content_end" + mainFields}},
		{"a thought by its start", []string{start, v2("content_start", onMain+`,"thought":true`), md("a", ""), finish, md("b", "")},
			[]string{startFacts, "content_start" + mainFields, "content" + mainFields + ` partial; thought "a"`, "content_end" + mainFields + `; thought "a"`, piece(`"b"`)}},
		{"a thought while another agent answers", []string{start, v2("content_start", onSub+`,"thought":true`), begin, md("a", ","+onSub), md("b", ","+onMain), v2("content_end", onSub), md("c", ","+onSub)},
			[]string{startFacts, "content_start" + bySub, "content_start" + mainFields, "content" + bySub + ` partial; thought "a"`, piece(`"b"`), "content_end" + bySub + `; thought "a"`, "content" + bySub + ` partial; text "c"`}},
		{"without its start", []string{start, md("a", ""), md("b", ""), finish}, []string{startFacts, piece(`"a"`), piece(`"b"`), "content_end" + mainFields + `; text truncated "ab"`}},
		{"of version 1, which has no bounds", []string{v1("start", `"message_id":"m","chat_id":"c"`), v1("content", `"md":"Confidence: 0.9"`), v1("content", `"md":"5"`), v1("end", `"status":"completed"`)},
			[]string{"start" + runFields + "; run_started resumes", "content" + runFields + ` partial; text "Confidence: 0.9"`, "content" + runFields + ` partial; text "5"`, "end" + runFields + `; text "Confidence: 0.95"; run_ended`}},
		{"of version 1, cut off by an error", []string{v1("content", `"md":"Confidence: 0.9"`), v1("error", ""), v1("end", `"status":"error"`)},
			[]string{`content partial; text "Confidence: 0.9"`, "error; error agent_error", "end; run_ended agent_error"}},
		{"of two agents at the same time",
			[]string{start, v2("content_start", onSub), begin, md("Confidence: 0.9", ","+onSub), md("no ", ","+onMain), md("5", ","+onSub), md("rating", ","+onMain), v2("content_end", onSub), finish},
			[]string{
				startFacts, "content_start" + bySub, "content_start" + mainFields, "content" + bySub + ` partial; text "Confidence: 0.9"`, piece(`"no "`), "content" + bySub + ` partial; text "5"`, piece(`"rating"`),
				"content_end" + bySub + `; text "Confidence: 0.95"`, "content_end" + mainFields + `; text "no rating"`,
			}},
		{"of two subagents with one id", []string{start, v2("content_start", onSub), v2("content_start", onOther), md("a", ","+onSub), md("b", ","+onOther), v2("content_end", onSub), v2("content_end", onOther)},
			[]string{
				startFacts, "content_start" + bySub, "content_start" + byOther, "content" + bySub + ` partial; text "a"`, "content" + byOther + ` partial; text "b"`,
				"content_end" + bySub + `; text "a"`, "content_end" + byOther + `; text "b"`,
			}},
		{"a thought whose agent is named by its call later", []string{start, v2("content_start", `"agent_id":"subagent_analyst_x1","thought":true`), md("a", ","+onSub)},
			[]string{startFacts, "content_start" + runFields + ` agent="analyst" branch="subagent_analyst_x1"`, "content" + bySub + ` partial; thought "a"`}},
		{"empty", []string{start, begin, md("", ""), v2("content", ""), finish}, []string{startFacts, "content_start" + mainFields, "content" + mainFields + " partial", "content" + mainFields + " partial", "content_end" + mainFields}},
		{"of a sub-agent", []string{start, v2("content_start", onSub), md("a", ""), md("b", ","+onMain), v2("content_end", "")},
			[]string{startFacts, "content_start" + bySub, "content" + bySub + ` partial; text "a"`, piece(`"b"`), "content_end" + bySub + `; text "a"`}},
		{"started again", []string{start, begin, md("a", ""), begin, md("b", ""), finish},
			[]string{startFacts, "content_start" + mainFields, piece(`"a"`), "content_start" + mainFields, piece(`"b"`), "content_end" + mainFields + `; text "b"`}},
	})
}

// TestManyTexts begins more texts than are kept. If a forgotten one is a thought, a text without a start may be one.
func TestManyTexts(t *testing.T) {
	var c content
	c.begin(agent{id: "first"}, true, true)
	for i := range maxTexts {
		c.begin(agent{id: strconv.Itoa(i)}, false, true)
	}
	if len(c.open) != maxTexts || c.find(agent{id: "first"}) != nil || !c.forgotThought {
		t.Errorf("%d texts are open, and a thought was forgotten: %t", len(c.open), c.forgotThought)
	}
}

// TestLongText checks a text that is too long to be kept. Each piece says that another frame repeats it.
func TestLongText(t *testing.T) {
	frames := []string{start, v2("content_start", onMain)}
	for range 1500 {
		frames = append(frames, v2("content", `"md":"`+strings.Repeat("x", 101)+`"`))
	}
	lines := strings.Split(factsOf(&event.Stream{}, append(frames, v2("content_end", onMain))...), "\n")
	for _, line := range lines[2 : len(lines)-1] {
		if !strings.HasPrefix(line, "content"+mainFields+" partial;") {
			t.Fatalf("a piece is read as %s", line)
		}
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "content_end"+mainFields+"; text truncated") {
		t.Errorf("the end is read as %.100s", last)
	}
}

// TestPlans checks that items are merged by their ids.
func TestPlans(t *testing.T) {
	plan := func(items string) string { return v2("plan", `"items":`+items) }
	said2 := func(pending, working, done, canceled int) string {
		return fmt.Sprintf("plan%s; plan {Pending:%d InProgress:%d Completed:%d Canceled:%d}", mainFields, pending, working, done, canceled)
	}
	runDecode(t, []decodeCase{
		{"merged", []string{
			start, plan(`[{"id":"1","status":"in_progress"},{"id":"2","status":"pending"},{"id":"3","status":"pending"}]`), plan(`[{"id":"1","status":"completed"}]`),
			plan(`[{"id":"4","status":"cancelled"},{"id":"3","status":"canceled"}]`),
		}, []string{startFacts, said2(2, 1, 0, 0), said2(2, 0, 1, 0), said2(1, 0, 1, 2)}},
		{"without ids, by their positions", []string{start, plan(`[{"status":"pending"},{"status":"pending"}]`), plan(`[{"status":"completed"}]`)}, []string{startFacts, said2(2, 0, 0, 0), said2(1, 0, 1, 0)}},
		{"empty", []string{start, plan(`[]`), plan(`null`), plan(`{}`), plan(`["x",{}]`)}, []string{startFacts, said2(0, 0, 0, 0), said2(0, 0, 0, 0), said2(0, 0, 0, 0), said2(2, 0, 0, 0)}},
		{"of the next run", []string{start, plan(`[{"id":"1"}]`), end, v2("start", `"message_id":"n"`), plan(`[{"id":"2"}]`)},
			[]string{startFacts, said2(1, 0, 0, 0), endFacts, `start run="n" session="c" agent="main"; run_started resumes`, strings.Replace(said2(1, 0, 0, 0), `run="m"`, `run="n"`, 1)}},
	})
}

// TestInterrupts checks each way to ask for input and each way to answer.
func TestInterrupts(t *testing.T) {
	const thread = `"md":"{\"interrupt\":true,\"tool\":\"ask\",\"question\":\"secret\",\"thread_id\":\"t\"}"`
	id := pseudonym([]byte("t"))
	waiting := v2("end", `"status":"interrupted"`)
	asked := fmt.Sprintf(`; input_requested call=%q clarification prompt="secret"`, id)
	answered := fmt.Sprintf(`; input_answered call=%q`, id)
	stopped := "end" + runFields + "; run_ended"
	calls := v2("tool_start", `"name":"ask","call_id":"1"`)
	called := "tool_start" + mainFields + `; tool_started name="ask" call="1"`
	runDecode(t, []decodeCase{
		{"by its details", []string{start, v2("status", thread), waiting}, []string{startFacts, "interrupt" + runFields + asked, stopped}},
		{"by its text", []string{start, v2("status", `"text":"\u23f8\ufe0f Agent needs human input"`), waiting}, []string{startFacts, "interrupt" + runFields + `; input_requested call="f" clarification`, stopped}},
		{"by its text, with a garbled symbol", []string{start, v2("status", `"text":"â¸ï¸ Agent needs human input","md":"{...interrupt data...}"`), waiting},
			[]string{startFacts, "interrupt" + runFields + `; input_requested call="f" clarification`, stopped}},
		{"only by the end", []string{start, waiting}, []string{startFacts, "end" + runFields + `; input_requested call="f" clarification; run_ended`}},
		{"once", []string{start, v2("status", thread), v2("status", `"text":"Agent needs human input"`), v2("status", thread), waiting},
			[]string{startFacts, "interrupt" + runFields + asked, "interrupt" + runFields, "interrupt" + runFields + asked, stopped}},
		{"not asked", []string{start, v2("status", `"text":"Processing..."`), v2("status", `"text":"⏸️","md":"{\"interrupt\":false}"`), v2("status", ""), end}, []string{startFacts, "status" + runFields, "status" + runFields, "status" + runFields, endFacts}},
		{"by a tool without an end", []string{start, calls, v2("status", thread), waiting}, []string{startFacts, called, "interrupt" + mainFields + `; tool_paused call="1"` + asked, stopped}},
		{"answered by the tool's end", []string{start, calls, v2("status", thread), v2("tool_end", `"call_id":"1"`), end},
			[]string{startFacts, called, "interrupt" + mainFields + `; tool_paused call="1"` + asked, "tool_end" + mainFields + `; tool_ended name="ask" call="1"` + answered, endFacts}},
		{"answered before the end of the run", []string{start, v2("status", thread), end}, []string{startFacts, "interrupt" + runFields + asked, "end" + runFields + answered + "; run_ended took=5ms"}},
		{"in a failed run", []string{start, v2("error", ""), waiting}, []string{startFacts, "error" + runFields + "; error agent_error", stopped + " agent_error"}},
	})
	if strings.Contains(id, "t1") || len(id) > 32 || pseudonym(nil) != "" {
		t.Errorf("the id of a thread is %q", id)
	}
}

// TestTimes checks the format of timestamps.
func TestTimes(t *testing.T) {
	for ts, want := range map[string]string{
		`"2025-10-14T10:30:10.050Z"`: " 2025-10-14T10:30:10.05Z", `"2025-10-14T12:30:10+02:00"`: " 2025-10-14T10:30:10Z",
		`"2025-10-14"`: "", `1760437810`: "", `null`: "", `"0001-01-01T00:00:00Z"`: "", `"9999-01-01T00:00:00Z"`: "",
	} {
		if got := factsOf(&event.Stream{}, v1("status", `"ts":`+ts)); got != "status"+want {
			t.Errorf("the time %s is read as %s", ts, got)
		}
	}
}

// TestBounds checks the limits of the decoder's state. Beyond them, each frame is read on its own.
func TestBounds(t *testing.T) {
	d := &decoder{}
	decode := func(data string) *event.Batch {
		b := &event.Batch{Table: &table}
		var doc strictjson.Doc
		if err := doc.Parse([]byte(data), 8); err != nil {
			t.Fatal(err)
		}
		d.Decode(dialect.Frame{Frame: sse.Frame{Data: []byte(data)}, JSON: doc.Root()}, b)
		return b
	}
	for i := range 2 * maxOpen {
		b := decode(v2("subagent_start", fmt.Sprintf(`"agent_type":"subagent","agent_id":"subagent_a_%d","parent_call_id":"t%d"`, i, i)))
		if b.Agent != "a" || b.Branch != fmt.Sprintf("subagent_a_%d", i) || b.EnclosingCall != fmt.Sprintf("t%d", i) {
			t.Fatalf("agent %d has the name %q, branch %q and call %q", i, b.Agent, b.Branch, b.EnclosingCall)
		}
		decode(v2("tool_start", fmt.Sprintf(`"name":"f","call_id":"%d"`, i)))
		decode(v2("plan", fmt.Sprintf(`"items":[{"id":"%d"}]`, i)))
	}
	if len(d.agents) != maxOpen || len(d.calls) != maxOpen || len(d.plan) != maxItems {
		t.Errorf("%d agents, %d calls and %d items are remembered", len(d.agents), len(d.calls), len(d.plan))
	}
	if b := decode(v2("plan", `"items":[{"id":"0","status":"completed"},{"id":"new"}]`)); b.Events[0].Plan != (event.Plan{Pending: maxItems - 1, Completed: 1}) {
		t.Errorf("the plan is %+v", b.Events[0].Plan)
	}
}
