package deepagents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// said is what frames say, each given by its data: a line for each, its type and author, then its facts, parted by semicolons.
func said(s *event.Stream, frames ...string) string {
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

// v2 is a frame of version 2, v1 one of version 1; neither says when.
func v2(kind, members string) string {
	return `{"v":2,` + v1(kind, members)[1:]
}

func v1(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"type":%q,"id":"f"%s}`, kind, members)
}

// Members and beginnings of lines.
const (
	onMain = `"agent_type":"main","agent_id":"main_1"`
	onSub  = `"agent_type":"subagent","agent_id":"subagent_analyst_x1","parent_call_id":"t1"`
	by     = ` run="m" session="c"`
	byMain = by + ` agent="main"`
	bySub  = by + ` agent="analyst" branch="subagent_analyst_x1" within="t1"`
)

var (
	start   = v2("start", `"message_id":"m","chat_id":"c"`)
	started = "start" + byMain + "; run_started resumes"
	end     = v2("end", `"status":"completed","ms_total":5`)
	ended   = "end" + by + "; run_ended took=5ms"
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
			if diff := cmp.Diff(strings.Join(c.want, "\n"), said(&event.Stream{}, c.frames...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRuns says when a run begins and how it ends.
func TestRuns(t *testing.T) {
	status := func(s string) string { return v2("end", `"status":`+s) }
	runDecode(t, []decodeCase{
		{"by the word", []string{start, end}, []string{started, ended}},
		{"of version 1", []string{v1("start", `"message_id":"m","chat_id":"c"`), v1("end", `"status":"completed"`)}, []string{"start" + by + "; run_started resumes", "end" + by + "; run_ended"}},
		{"without a beginning", []string{v2("thinking", `"text":"Hm."`), end}, []string{`thinking agent="main"; thought "Hm."`, "end; run_ended took=5ms"}},
		{"without a status", []string{start, v2("end", "")}, []string{started, "end" + by + "; run_ended"}},
		{"canceled", []string{start, status(`"cancelled"`)}, []string{started, "end" + by + "; error canceled; run_ended canceled"}},
		{"failed", []string{start, status(`"error"`)}, []string{started, "end" + by + "; error agent_error; run_ended agent_error"}},
		{"in a way nobody knows", []string{start, status(`"x"`)}, []string{started, "end" + by + "; error agent_error; run_ended agent_error"}},
		{"what follows an error is only its end", []string{start, v2("error", `"error":"x"`), end}, []string{started, "error" + by + "; error agent_error", "end" + by + "; run_ended agent_error took=5ms"}},
		{"an error without an end", []string{start, v2("error", `"error":{"message":"x"}`)}, []string{started, "error" + by + "; error agent_error"}},
		{"an error that nobody can read", []string{start, `{"v":2,"type": "error","error":"said "x" and died"}`, end},
			[]string{started, "-" + by + " rejected=syntax; error agent_error", "end" + by + "; run_ended agent_error took=5ms"}},
		{"a failed run does not complete by a second end", []string{start, v2("error", ""), end, end},
			[]string{started, "error" + by + "; error agent_error", "end" + by + "; run_ended agent_error took=5ms", "end" + by + "; run_ended agent_error took=5ms"}},
		{"the next message", []string{start, end, v2("start", `"message_id":"n","chat_id":"c"`), end},
			[]string{started, ended, `start run="n" session="c" agent="main"; run_started resumes`, `end run="n" session="c"; run_ended took=5ms`}},
		{"the next message of one that never ended", []string{start, v2("error", ""), v2("start", `"message_id":"n","chat_id":"c"`), end},
			[]string{started, "error" + by + "; error agent_error", `start run="n" session="c" agent="main"; run_started resumes`, `end run="n" session="c"; run_ended took=5ms`}},
		{"the same message again", []string{start, start, end}, []string{started, started, ended}},
		{"what no server sends", []string{`{}`, `[]`, `{"type":7}`, `{"type":"x","id":"f"}`, `{"type":"start"`},
			[]string{"- rejected=shape", "- rejected=shape", "- rejected=shape", "-; other", "- rejected=syntax"}},
	})
	other := v2("start", `"message_id":"n","chat_id":"c"`)
	if got, want := said(&event.Stream{Answer: true}, start, other, end), strings.Join([]string{started, started, ended}, "\n"); got != want {
		t.Errorf("in the answer to one message:\n%s\nwant\n%s", got, want)
	}
}

// TestAgents says whose a frame is, at any depth.
func TestAgents(t *testing.T) {
	const nested = `"agent_type":"subagent","agent_id":"subagent_reader_7f","parent_call_id":"t2"`
	byNested := by + ` agent="reader" branch="subagent_reader_7f" within="t2"`
	runDecode(t, []decodeCase{
		{"within each other's calls",
			[]string{
				start, v2("tool_start", `"name":"task","call_id":"t1",`+onMain), v2("subagent_start", onSub),
				v2("tool_start", `"name":"task","call_id":"t2",`+onSub), v2("subagent_start", nested), v2("thinking", `"text":"Hm.",`+nested),
				v2("subagent_end", `"ms":7,`+nested), v2("tool_end", `"call_id":"t2","ms":8,"status":"ok"`), v2("subagent_end", `"ms":9,`+onSub), v2("tool_end", `"call_id":"t1","ms":10,"status":"ok"`),
			},
			[]string{
				started, "tool_start" + byMain + `; tool_started name="task" call="t1"`, "subagent_start" + bySub + "; agent_started",
				"tool_start" + bySub + `; tool_started name="task" call="t2"`, "subagent_start" + byNested + "; agent_started", "thinking" + byNested + `; thought "Hm."`,
				"subagent_end" + byNested + "; agent_ended took=7ms", "tool_end" + bySub + `; tool_ended name="task" call="t2" took=8ms`,
				"subagent_end" + bySub + "; agent_ended took=9ms", "tool_end" + byMain + `; tool_ended name="task" call="t1" took=10ms`,
			}},
		{"named by its call alone", []string{start, v2("subagent_start", onSub), v2("thinking", `"text":"Hm.","parent_call_id":"t1"`), v2("thinking", `"text":"Hm.","agent_type":"subagent","parent_call_id":"t9"`)},
			[]string{started, "subagent_start" + bySub + "; agent_started", "thinking" + bySub + `; thought "Hm."`, "thinking" + by + ` agent="subagent" branch="t9" within="t9"; thought "Hm."`}},
		{"named by its id alone", []string{start, v2("subagent_start", onSub), v2("thinking", `"text":"Hm.","agent_id":"subagent_analyst_x1"`), v2("thinking", `"text":"Hm.","agent_id":"main_1"`)},
			[]string{started, "subagent_start" + bySub + "; agent_started", "thinking" + bySub + `; thought "Hm."`, "thinking" + byMain + `; thought "Hm."`}},
		{"whose call is named later", []string{start, v2("thinking", `"text":"Hm.","agent_id":"subagent_analyst_x1"`), v2("subagent_start", onSub)},
			[]string{started, "thinking" + by + ` agent="analyst" branch="subagent_analyst_x1"; thought "Hm."`, "subagent_start" + bySub + "; agent_started"}},
		{"named by nothing", []string{start, v2("subagent_start", `"agent_type":"subagent"`), v2("subagent_start", ""), v2("subagent_end", "")},
			[]string{started, "subagent_start" + by + ` agent="subagent" branch="subagent"; agent_started`, "subagent_start" + by, "subagent_end" + by}},
		{"in the version that has none", []string{v1("start", `"message_id":"m","chat_id":"c"`), v1("tool_start", `"name":"f","call_id":"1"`), v1("tool_end", `"call_id":"1"`)},
			[]string{"start" + by + "; run_started resumes", "tool_start" + by + `; tool_started name="f" call="1"`, "tool_end" + by + `; tool_ended name="f" call="1"`}},
	})
	for id, want := range map[string]string{
		"subagent_advanced_tender_analyst_xyz12345": "advanced_tender_analyst", "subagent_analyst_1": "analyst", "subagent_analyst": "analyst",
		"subagent_tender_analyst": "tender_analyst", "subagent_abc123": "subagent", "subagent_": "subagent", "subagent": "subagent", "analyst_7f": "analyst",
		"subagent_user_1": "subagent", "subagent_main_1": "subagent", "user": "subagent",
	} {
		if got := nameOf(id, ""); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}

func TestCalls(t *testing.T) {
	call := func(members string) string { return v2("tool_start", `"name":"f","call_id":"1"`+members) }
	done := func(members string) string { return v2("tool_end", `"name":"f","call_id":"1"`+members) }
	opened := "tool_start" + byMain + `; tool_started name="f" call="1"`
	closed := "tool_end" + byMain + `; tool_ended name="f" call="1"`
	runDecode(t, []decodeCase{
		{"arguments", []string{start, call(`,"args_summary":"{\"q\":\"é\"}"`), call(`,"args_summary":"{\"q\":\"cut"`), call(`,"args_summary":{"q":1}`), call(`,"args_display":"secret"`)},
			[]string{started, opened + ` {"q":"é"}`, opened + ` "{\"q\":\"cut"`, opened + ` {"q":1}`, opened}},
		{"ends", []string{start, done(`,"status":"ok","ms":5`), done(`,"status":"success"`), done(``), done(`,"status":"failed"`), done(`,"status":"cancelled"`), done(`,"ms":-1`), done(`,"ms":1e300`)},
			[]string{started, closed + " took=5ms", closed, closed, closed + " tool_error", closed + " canceled", closed, closed}},
		{"without ids", []string{start, v2("tool_start", `"name":"f"`), v2("tool_end", `"name":"f"`)}, []string{started, "tool_start" + byMain + `; tool_started name="f"`, "tool_end" + byMain + `; tool_ended name="f"`}},
		{"at once, in any order",
			[]string{start, call(""), v2("tool_start", `"name":"g","call_id":"2",`+onSub), done(`,"status":"ok"`), v2("tool_end", `"call_id":"2"`)},
			[]string{started, opened, "tool_start" + bySub + `; tool_started name="g" call="2"`, closed, "tool_end" + bySub + `; tool_ended name="g" call="2"`}},
	})
}

// TestContent takes text as pieces of what its bounds enclose.
func TestContent(t *testing.T) {
	md := func(text, more string) string { return v2("content", fmt.Sprintf(`"md":%q%s`, text, more)) }
	begin, finish := v2("content_start", onMain), v2("content_end", onMain)
	piece := func(text string) string { return "content" + byMain + " partial; text " + text }
	runDecode(t, []decodeCase{
		{"between its bounds", []string{start, begin, md("**Confidence:** 9", ""), md("2%\n", ""), finish, finish},
			[]string{started, "content_start" + byMain, piece(`"**Confidence:** 9"`), piece(`"2%\n"`), "content_end" + byMain + `; text "**Confidence:** 92%\n"`, "content_end" + byMain}},
		{"without bounds", []string{start, md("a", ""), finish}, []string{started, "content" + byMain + `; text "a"`, "content_end" + byMain}},
		{"nothing", []string{start, begin, md("", ""), v2("content", ""), finish}, []string{started, "content_start" + byMain, "content" + byMain + " partial", "content" + byMain + " partial", "content_end" + byMain}},
		{"of a sub-agent", []string{start, v2("content_start", onSub), md("a", ""), md("b", ","+onMain), v2("content_end", "")},
			[]string{started, "content_start" + bySub, "content" + bySub + ` partial; text "a"`, "content" + byMain + `; text "b"`, "content_end" + bySub + `; text "a"`}},
		{"begun again", []string{start, begin, md("a", ""), begin, md("b", ""), finish},
			[]string{started, "content_start" + byMain, piece(`"a"`), "content_start" + byMain, piece(`"b"`), "content_end" + byMain + `; text "b"`}},
	})
	long := strings.Repeat("x", maxContent/2+1)
	var c content
	b := &event.Batch{Agent: mainAgent}
	c.begin(b)
	for _, want := range []bool{true, false, false} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(`"`+long+`"`), 1); err != nil {
			t.Fatal(err)
		}
		if kept := c.keep(doc.Root(), b); kept != want {
			t.Errorf("kept %t, want %t", kept, want)
		}
	}
	if whole := c.end(b); len(whole) > 0 || cap(c.said) > 0 {
		t.Errorf("%d bytes are left of more than is kept", len(whole))
	}
}

// TestPlans merges items by their ids.
func TestPlans(t *testing.T) {
	plan := func(items string) string { return v2("plan", `"items":`+items) }
	said2 := func(pending, working, done, canceled int) string {
		return fmt.Sprintf("plan%s; plan {Pending:%d InProgress:%d Completed:%d Canceled:%d}", byMain, pending, working, done, canceled)
	}
	runDecode(t, []decodeCase{
		{"merged", []string{
			start, plan(`[{"id":"1","status":"in_progress"},{"id":"2","status":"pending"},{"id":"3","status":"pending"}]`), plan(`[{"id":"1","status":"completed"}]`),
			plan(`[{"id":"4","status":"cancelled"},{"id":"3","status":"canceled"}]`),
		}, []string{started, said2(2, 1, 0, 0), said2(2, 0, 1, 0), said2(1, 0, 1, 2)}},
		{"without ids, by their places", []string{start, plan(`[{"status":"pending"},{"status":"pending"}]`), plan(`[{"status":"completed"}]`)}, []string{started, said2(2, 0, 0, 0), said2(1, 0, 1, 0)}},
		{"nothing", []string{start, plan(`[]`), plan(`null`), plan(`{}`), plan(`["x",{}]`)}, []string{started, said2(0, 0, 0, 0), said2(0, 0, 0, 0), said2(0, 0, 0, 0), said2(2, 0, 0, 0)}},
		{"of the next run", []string{start, plan(`[{"id":"1"}]`), end, v2("start", `"message_id":"n"`), plan(`[{"id":"2"}]`)},
			[]string{started, said2(1, 0, 0, 0), ended, `start run="n" session="c" agent="main"; run_started resumes`, strings.Replace(said2(1, 0, 0, 0), `run="m"`, `run="n"`, 1)}},
	})
}

// TestInterrupts asks, by whatever word, and is answered by whatever comes.
func TestInterrupts(t *testing.T) {
	const thread = `"md":"{\"interrupt\":true,\"tool\":\"ask\",\"question\":\"secret\",\"thread_id\":\"t\"}"`
	id := pseudonym([]byte("t"))
	waiting := v2("end", `"status":"interrupted"`)
	asked := fmt.Sprintf(`; input_requested call=%q clarification prompt="secret"`, id)
	answered := fmt.Sprintf(`; input_answered call=%q`, id)
	stopped := "end" + by + "; run_ended"
	calls := v2("tool_start", `"name":"ask","call_id":"1"`)
	called := "tool_start" + byMain + `; tool_started name="ask" call="1"`
	runDecode(t, []decodeCase{
		{"by its details", []string{start, v2("status", thread), waiting}, []string{started, "interrupt" + by + asked, stopped}},
		{"by its text", []string{start, v2("status", `"text":"\u23f8\ufe0f Agent needs human input"`), waiting}, []string{started, "interrupt" + by + `; input_requested call="f" clarification`, stopped}},
		{"by its text, whatever the symbol became", []string{start, v2("status", `"text":"â¸ï¸ Agent needs human input","md":"{...interrupt data...}"`), waiting},
			[]string{started, "interrupt" + by + `; input_requested call="f" clarification`, stopped}},
		{"by the end alone", []string{start, waiting}, []string{started, "end" + by + `; input_requested call="f" clarification; run_ended`}},
		{"once", []string{start, v2("status", thread), v2("status", `"text":"Agent needs human input"`), v2("status", thread), waiting},
			[]string{started, "interrupt" + by + asked, "interrupt" + by, "interrupt" + by + asked, stopped}},
		{"not", []string{start, v2("status", `"text":"Processing..."`), v2("status", `"text":"⏸️","md":"{\"interrupt\":false}"`), v2("status", ""), end}, []string{started, "status" + by, "status" + by, "status" + by, ended}},
		{"by a tool that then has no end", []string{start, calls, v2("status", thread), waiting}, []string{started, called, "interrupt" + byMain + `; tool_paused call="1"` + asked, stopped}},
		{"answered by the tool's end", []string{start, calls, v2("status", thread), v2("tool_end", `"call_id":"1"`), end},
			[]string{started, called, "interrupt" + byMain + `; tool_paused call="1"` + asked, "tool_end" + byMain + `; tool_ended name="ask" call="1"` + answered, ended}},
		{"answered, since the run is complete", []string{start, v2("status", thread), end}, []string{started, "interrupt" + by + asked, "end" + by + answered + "; run_ended took=5ms"}},
		{"of a run that failed", []string{start, v2("error", ""), waiting}, []string{started, "error" + by + "; error agent_error", stopped + " agent_error"}},
	})
	if strings.Contains(id, "t1") || len(id) > 32 || pseudonym(nil) != "" {
		t.Errorf("a thread is called %q", id)
	}
}

// TestTimes reads the one form that is sent.
func TestTimes(t *testing.T) {
	for ts, want := range map[string]string{
		`"2025-10-14T10:30:10.050Z"`: " 2025-10-14T10:30:10.05Z", `"2025-10-14T12:30:10+02:00"`: " 2025-10-14T10:30:10Z",
		`"2025-10-14"`: "", `1760437810`: "", `null`: "", `"0001-01-01T00:00:00Z"`: "", `"9999-01-01T00:00:00Z"`: "",
	} {
		if got := said(&event.Stream{}, v1("status", `"ts":`+ts)); got != "status"+want {
			t.Errorf("%s: %s", ts, got)
		}
	}
}

// TestBounds opens more than is remembered: the rest is judged by itself.
func TestBounds(t *testing.T) {
	d := &decoder{}
	decode := func(data string) *event.Batch {
		b := &event.Batch{}
		var doc strictjson.Doc
		if err := doc.Parse([]byte(data), 8); err != nil {
			t.Fatal(err)
		}
		d.Decode(dialect.Frame{Frame: sse.Frame{Data: []byte(data)}, JSON: doc.Root()}, b)
		return b
	}
	for i := range 2 * maxOpen {
		b := decode(v2("subagent_start", fmt.Sprintf(`"agent_type":"subagent","agent_id":"subagent_a_%d","parent_call_id":"t%d"`, i, i)))
		if b.Agent != "a" || b.Branch != fmt.Sprintf("subagent_a_%d", i) || b.Within != fmt.Sprintf("t%d", i) {
			t.Fatalf("agent %d is %q, %q, %q", i, b.Agent, b.Branch, b.Within)
		}
		decode(v2("tool_start", fmt.Sprintf(`"name":"f","call_id":"%d"`, i)))
		decode(v2("plan", fmt.Sprintf(`"items":[{"id":"%d"}]`, i)))
	}
	if len(d.agents) != maxOpen || len(d.calls) != maxOpen || len(d.plan) != maxItems {
		t.Errorf("%d agents, %d calls and %d items are remembered", len(d.agents), len(d.calls), len(d.plan))
	}
	if b := decode(v2("plan", `"items":[{"id":"0","status":"completed"},{"id":"new"}]`)); b.Events[0].Plan != (event.Plan{Pending: maxItems - 1, Completed: 1}) {
		t.Errorf("%+v", b.Events[0].Plan)
	}
}
