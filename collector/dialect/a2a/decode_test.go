package a2a

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// bindings format an update as the servers of a version and transport do.
var bindings = map[string]func(kind, members string) string{
	"0.3, JSON-RPC": func(kind, members string) string {
		return data(`{"jsonrpc":"2.0","id":1,"result":{"kind":"` + kind + `",` + members + `}}`)
	},
	"0.3, without an envelope": func(kind, members string) string { return data(`{"kind":"` + kind + `",` + members + `}`) },
	"1.0, JSON-RPC": func(kind, members string) string {
		return data(`{"jsonrpc":"2.0","id":null,"result":{"` + wrapper(kind) + `":{` + members + `}}}`)
	},
	"1.0, HTTP+JSON": func(kind, members string) string { return data(`{"` + wrapper(kind) + `":{` + members + `}}`) },
}

func data(json string) string { return "data: " + json + "\n\n" }

func wrapper(kind string) string {
	head, tail, _ := strings.Cut(kind, "-")
	if tail == "" {
		return head
	}
	return head + strings.ToUpper(tail[:1]) + tail[1:]
}

// taskIs returns a snapshot of task t in context c, in the most common binding.
func taskIs(state, more string) string {
	return bindings["0.3, JSON-RPC"]("task", `"id":"t","contextId":"c","status":{"state":"`+state+`"}`+more)
}

func statusIs(state, message, more string) string {
	if message != "" {
		message = `,"message":{"messageId":"m","role":"agent","parts":[` + message + `]}`
	}
	return bindings["0.3, JSON-RPC"]("status-update", `"taskId":"t","contextId":"c","status":{"state":"`+state+`"`+message+`}`+more)
}

func piece(id, parts, more string) string {
	return bindings["0.3, JSON-RPC"]("artifact-update", `"taskId":"t","contextId":"c","artifact":{"artifactId":"`+id+`","parts":[`+parts+`]}`+more)
}

// messageWithoutTask returns a message that names no task.
func messageWithoutTask(members string) string {
	return data(`{"message":{"messageId":"n",` + members + `"role":"ROLE_AGENT","parts":[` + text("hi") + `]}}`)
}

// messageOfTask returns a message of task t.
func messageOfTask(id, members, said string) string {
	return bindings["0.3, JSON-RPC"]("message", `"messageId":"`+id+`","taskId":"t","contextId":"c","role":"agent","parts":[`+text(said)+`]`+members)
}

func text(s string) string { return `{"kind":"text","text":"` + s + `"}` }

const (
	last    = `,"lastChunk":true`
	more    = `,"append":true`
	failure = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret"}}`
)

// factsOf decodes frames. It returns a line for each: its fields except the usual run and session, then its
// facts.
func factsOf(s *event.Stream, frames ...string) string {
	var all []string
	for line := range strings.Lines(dialecttest.Facts(Dialect{}, s, strings.Join(frames, ""))) {
		line = strings.TrimSuffix(line, "\n")
		if fact, isFact := strings.CutPrefix(line, "  "); isFact {
			all[len(all)-1] += "; " + fact
			continue
		}
		_, head, _ := strings.Cut(line, " ") // its number
		all = append(all, strings.Replace(head, ` run="t" session="c"`, "", 1))
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

// TestBindings checks that each update decodes to the same facts in each binding.
func TestBindings(t *testing.T) {
	for name, bind := range bindings {
		for _, c := range []struct{ kind, members, want string }{
			{"task", `"id":"t","contextId":"c","status":{"state":"submitted","timestamp":"2026-01-01T00:00:00.5Z"}`,
				`working 2026-01-01T00:00:00.5Z; run_started`},
			{"status-update", `"taskId":"t","contextId":"c","status":{"state":"working","timestamp":"2026-01-01T02:00:00+02:00"},"final":false`,
				`working 2026-01-01T00:00:00Z; other`},
			{"status-update", `"taskId":"t","contextId":"c","status":{"state":"completed"},"final":true`, `status-update; final; run_ended awaits_outcome`},
			{"artifact-update", `"taskId":"t","contextId":"c","artifact":{"artifactId":"a","name":"n","parts":[{"text":"hi"}]},"lastChunk":true`,
				`artifact-update; artifact name="n" id="a" other bytes=2 complete; text "hi"`},
			{"message", `"messageId":"m","contextId":"c","role":"agent","parts":[{"text":"hi"}]`,
				`message run="m" session="c"; run_started; text "hi"; final; run_ended`},
			{"message", `"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_AGENT","content":[{"text":"hi"}]`,
				`message; run_started; text "hi"; final; run_ended awaits_outcome`},
		} {
			if got := factsOf(&event.Stream{}, bind(c.kind, c.members)); got != c.want {
				t.Errorf("%s, %s decodes to\n%s, want\n%s", name, c.kind, got, c.want)
			}
		}
	}
}

// TestStates checks each state in both spellings.
func TestStates(t *testing.T) {
	for state, want := range map[string]string{
		"submitted":      `working; run_started`,
		"working":        `working; other`,
		"input-required": `asking; input_requested call="t" clarification`,
		"auth-required":  `asking; input_requested call="t" credential`,
		"completed":      `status-update; final; run_ended awaits_outcome`,
		"failed":         `working; error agent_error; run_ended agent_error awaits_outcome`,
		"canceled":       `working; error canceled; run_ended canceled awaits_outcome`,
		"rejected":       `working; error agent_error; run_ended agent_error awaits_outcome`,
		"unknown":        `working; other`,
		"whatever":       `working; other`,
		"":               `working; other`,
	} {
		for _, spelling := range []string{state, "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))} {
			if got := factsOf(&event.Stream{}, statusIs(spelling, "", "")); got != want {
				t.Errorf("the state %q decodes to\n%s, want\n%s", spelling, got, want)
			}
		}
	}
	if got := factsOf(&event.Stream{}, statusIs("TASK_STATE_CANCELLED", "", "")); got != `working; error canceled; run_ended canceled awaits_outcome` {
		t.Errorf("a completed task over HTTP+JSON in 0.3 decodes to %s", got)
	}
}

// TestTasks checks the runs of tasks and of messages.
func TestTasks(t *testing.T) {
	runDecode(t, []decodeCase{
		{"repeated ends", []string{taskIs("submitted", ""), statusIs("completed", "", ""), statusIs("completed", text("late"), ""), taskIs("completed", ""), data(failure)},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `status-update; other`, `task; other`, `error; error agent_error code="-32603"`}},
		{"a capture of two streams", []string{taskIs("submitted", ""), statusIs("completed", "", ""), taskIs("submitted", "")},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `working; run_started`}},
		{"a text of a failed task", []string{statusIs("failed", text("secret"), "")},
			[]string{`working; error agent_error; run_ended agent_error awaits_outcome`}},
		{"an answer with the end", []string{statusIs("completed", text("hi"), "")},
			[]string{`status-update; text "hi"; final; run_ended awaits_outcome`}},
		{"an answer repeated at the end", []string{piece("a", text("hi"), last), statusIs("completed", text("hi"), "")},
			[]string{`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`, `status-update partial repeats; text "hi"; final; run_ended awaits_outcome`}},
		{"a text of a working task", []string{statusIs("working", text("looking"), "")},
			[]string{`working; other`}},
		{"a thought of a working task", []string{statusIs("working", `{"text":"hm","metadata":{"adk_thought":true}}`, "")},
			[]string{`working; thought "hm"`}},
		{"all in one task", []string{taskIs("completed", `,"artifacts":[{"artifactId":"a","name":"n","parts":[`+text("hi")+`]},{"artifactId":"f","parts":[{"raw":"aGk="}]}],"history":[{"role":"user","parts":[`+text("secret")+`]}]`)},
			[]string{`task; artifact name="n" id="a" other bytes=2 complete; text "hi"; artifact id="f" file bytes=2 complete (bytes "aGk="); final; run_ended`}},
		{"a question, then work", []string{statusIs("input-required", text("which?"), `,"final":true`), statusIs("input-required", text("which?"), ""), statusIs("working", "", ""), statusIs("input-required", "", ""), piece("a", text("hi"), last)},
			[]string{`asking; input_requested call="t" clarification prompt="which?"`, `asking; other`, `working; input_answered call="t"`, `asking; input_requested call="t" clarification`, `artifact-update; input_answered call="t"; artifact id="a" other bytes=2 complete; text "hi"`}},
		{"messages of a task", []string{taskIs("submitted", ""), messageOfTask("m", "", "h"), messageOfTask("m", "", "i"), statusIs("completed", "", "")},
			[]string{`working; run_started`, `message partial; text "h"`, `message partial; text "i"`, `status-update; text "hi"; final; run_ended awaits_outcome`}},
		{"a message of an ended task", []string{taskIs("submitted", ""), statusIs("completed", "", ""), messageOfTask("m", "", "hi")},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `message; other`}},
		{"a thought of Agno's", []string{taskIs("working", ""), messageOfTask("m", `,"metadata":{"agno_content_category":"reasoning"}`, "hm"), messageOfTask("n", `,"metadata":{"agno_content_category":"content"}`, "hi"), statusIs("completed", "", "")},
			[]string{`working; other`, `aside; thought "hm"`, `message partial; text "hi"`, `status-update; text "hi"; final; run_ended awaits_outcome`}},
		{"a message without a task, beside one task", []string{taskIs("submitted", ""), messageWithoutTask(`"contextId":"c",`), statusIs("completed", "", "")},
			[]string{`working; run_started`, `message; text "hi"; final; run_ended`, `status-update; other`}},
		{"a message without a task and a context", []string{taskIs("submitted", ""), messageWithoutTask("")}, []string{`working; run_started`, `message; text "hi"; final; run_ended`}},
		{"a message without a task, in another context", []string{taskIs("submitted", ""), messageWithoutTask(`"contextId":"d",`)},
			[]string{`working; run_started`, `message run="n" session="d"; run_started; text "hi"; final; run_ended`}},
		{"a message without a task, after the task's end", []string{taskIs("submitted", ""), statusIs("completed", "", ""), messageWithoutTask(`"contextId":"c",`)},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `message run="n" session="c"; run_started; text "hi"; final; run_ended`}},
		{"a message without a task, after a question", []string{taskIs("submitted", ""), statusIs("input-required", "", ""), messageWithoutTask(`"contextId":"c",`)},
			[]string{`working; run_started`, `asking; input_requested call="t" clarification`, `message run="n" session="c"; run_started; text "hi"; final; run_ended`}},
		{"a message without a task, beside two tasks", []string{taskIs("submitted", ""), strings.ReplaceAll(taskIs("submitted", ""), `"t"`, `"u"`), messageWithoutTask(`"contextId":"c",`)},
			[]string{`working; run_started`, `working run="u" session="c"; run_started`, `message run="n" session="c"; run_started; text "hi"; final; run_ended`}},
		{"the user's message", []string{data(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + text("hi") + `]}}`)},
			[]string{`foreign run="m"; other`}},
		{"an unknown kind", []string{data(`{"jsonrpc":"2.0","id":1,"result":{"kind":"task-moved","taskId":"t"}}`)},
			[]string{`task-moved withheld; other`}},
		{"an unknown kind, in a task", []string{taskIs("submitted", ""), data(`{"kind":"task-moved","to":"x"}`)},
			[]string{`working; run_started`, `task-moved withheld; other`}},
		{"repeated errors", []string{taskIs("submitted", ""), data(failure), data(failure)},
			[]string{`working; run_started`, `error; error agent_error code="-32603"; run_ended agent_error code="-32603"`, `error; error agent_error code="-32603"`}},
		{"a lone error of JSON-RPC", []string{data(failure)},
			[]string{`error; error agent_error code="-32603"; run_ended agent_error code="-32603"`}},
		{"an unreadable error", []string{taskIs("submitted", ""), "event: error\ndata: {\"error\": x}\n\n", data("x"), statusIs("completed", "", "")},
			[]string{`working; run_started`, `- rejected=syntax; error agent_error`, `- rejected=syntax`, `status-update; final; run_ended awaits_outcome`}},
		{"a lone error of HTTP+JSON, with an event name", []string{"event: error\n" + data(`{"error":{"code":500,"status":"INTERNAL","message":"secret","details":[{}]}}`)},
			[]string{`error; error agent_error code="INTERNAL"; run_ended agent_error code="INTERNAL"`}},
	})
}

// TestDecodedKinds checks that the text of a part with an unknown kind is not reported, because other formats
// would show it.
func TestDecodedKinds(t *testing.T) {
	for kind, want := range map[string]string{"text": `text "hi"; `, "thought": `thought "hi"; `, "note": ""} {
		sent := bindings["0.3, JSON-RPC"]("message", `"messageId":"m","role":"agent","parts":[{"kind":"`+kind+`","text":"hi"}]`)
		if got := factsOf(&event.Stream{}, sent); !strings.HasSuffix(got, "run_started; "+want+"final; run_ended") {
			t.Errorf("a part of the kind %s decodes to %s, want no text", kind, got)
		}
	}
}

// TestAnswers checks that the calls that a request answers are reported when the stream names the session,
// which the request did not.
func TestAnswers(t *testing.T) {
	frames := []string{statusIs("input-required", "", ""), statusIs("working", "", "")}
	for _, c := range []struct {
		asked event.Identity
		want  string
	}{
		{event.Identity{Answers: []string{"t", "c1"}}, `asking; input_answered call="t"; input_answered call="c1"; input_requested call="t" clarification`},
		{event.Identity{Session: "c", Answers: []string{"t"}}, `asking; input_requested call="t" clarification`},
	} {
		want := c.want + "\n" + `working; input_answered call="t"`
		if got := factsOf(&event.Stream{Identity: c.asked}, frames...); got != want {
			t.Errorf("after a request that answers %v, the stream decodes to\n%s, want\n%s", c.asked, got, want)
		}
	}
}

// TestArtifacts checks the texts and pieces of artifacts.
func TestArtifacts(t *testing.T) {
	known := `,"artifacts":[{"artifactId":"a","parts":[` + text("one ") + `]},{"artifactId":"b","parts":[` + text("known") + `]}]`
	runDecode(t, []decodeCase{
		{"completed by the last piece", []string{piece("a", text("**Confi"), ""), piece("a", text("dence:** 9"), more), piece("a", text("2%"), more+last)},
			[]string{`artifact-update partial; artifact id="a" other bytes=7; text "**Confi"`, `artifact-update partial; artifact id="a" other bytes=10 append; text "dence:** 9"`, `artifact-update; artifact id="a" other bytes=2 append complete; text "**Confidence:** 92%"`}},
		{"completed by the end", []string{piece("a", text("one "), ""), piece("b", text("other"), last), piece("a", text("two"), more), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `artifact-update; artifact id="b" other bytes=5 complete; text "other"`, `artifact-update partial; artifact id="a" other bytes=3 append; text "two"`, `status-update; text "one two"; final; run_ended awaits_outcome`}},
		{"not completed by a failure", []string{piece("a", text("one "), ""), statusIs("failed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `working; error agent_error; run_ended agent_error awaits_outcome`}},
		{"replaced", []string{piece("a", text("one "), ""), piece("a", text("two "), ""), piece("a", text("three"), more), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `artifact-update partial; artifact id="a" other bytes=4; text "two "`, `artifact-update partial; artifact id="a" other bytes=5 append; text "three"`, `status-update; text "two three"; final; run_ended awaits_outcome`}},
		{"replaced by the whole", []string{piece("a", text("one "), ""), piece("a", text("one two"), last), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `artifact-update; artifact id="a" other bytes=7 complete; text "one two"`, `status-update; final; run_ended awaits_outcome`}},
		{"without its start", []string{piece("a", text("9"), more), piece("a", text("2%"), more+last), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=1 append; text "9"`, `artifact-update partial; artifact id="a" other bytes=2 append complete; text "2%"`, `status-update; final; run_ended awaits_outcome`}},
		{"an empty last piece", []string{piece("a", text("one"), ""), piece("a", "", more+last)},
			[]string{`artifact-update partial; artifact id="a" other bytes=3; text "one"`, `artifact-update; artifact id="a" other append complete; text "one"`}},
		{"after a resubscription", []string{taskIs("working", known), piece("a", text("two"), more), statusIs("completed", "", "")},
			[]string{`progress; other`, `artifact-update partial; artifact id="a" other bytes=3 append; text "two"`, `status-update; text "one two"; final; run_ended awaits_outcome`}},
		{"repeated at the end", []string{piece("a", text("hi"), last), taskIs("completed", `,"artifacts":[{"artifactId":"a","parts":[`+text("hi")+`]}]`)},
			[]string{`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`, `task; final; run_ended`}},
		{"after a resubscription to a waiting task", []string{taskIs("input-required", known), statusIs("working", "", "")},
			[]string{`asking; input_requested call="t" clarification`, `working; input_answered call="t"`}},
		{"files and data", []string{
			piece("a", `{"kind":"file","file":{"name":"n","bytes":"aGVsbG8="}},`+text("hi"), last),
			piece("a", `{"kind":"file","file":{"uri":"https://x.test"}}`, last),
			piece("a", `{"kind":"data","data":{"x":1}}`, last),
			piece("a", `{"file":{"fileWithBytes":"aGVs\nbG8"}}`, last),
			piece("a", `{"data":{"data":{"x":1}}}`, last),
			piece("a", `{"raw":"_-8"},{"url":"https://x.test"}`, last),
			piece("a", `{"mediaType":"x/y"}`, ""),
		}, []string{
			`artifact-update; artifact id="a" file bytes=7 complete (bytes name="n" "aGVsbG8="); text "hi"`,
			`artifact-update; artifact id="a" file complete (uri "https://x.test")`,
			`artifact-update; artifact id="a" data bytes=7 complete (data {"x":1})`,
			`artifact-update; artifact id="a" file bytes=5 complete (bytes "aGVs\nbG8")`,
			`artifact-update; artifact id="a" data bytes=7 complete (data {"x":1})`,
			`artifact-update; artifact id="a" file bytes=2 complete (bytes "_-8") (uri "https://x.test")`,
			`artifact-update; other`,
		}},
		{"names of files, and empty parts", []string{
			piece("a", `{"kind":"file","file":{"name":"n","mimeType":"m/t","uri":"u","bytes":"aGk="}}`, last),
			piece("a", `{"raw":"aGk=","filename":"n","mediaType":"m/t"},{"url":"","filename":"n"},{"url":"about:blank","filename":"n"},{"data":{}},{"data":[]},{"data":""},{"data":false},{"raw":"aGk=","filename":"../../\u0000"},{"data":7,"mediaType":"application/json"}`, last),
			piece("a", `{"file":{"name":"n"}},{"file":{"bytes":7}},{"raw":null,"filename":"n"},{"data":null}`, last),
			piece("a", `{"data":{"code":"x"},"metadata":{"adk_type":"executable_code"}},{"raw":""}`, last),
		}, []string{
			`artifact-update; artifact id="a" file bytes=2 complete (bytes name="n" media="m/t" "aGk=")`,
			`artifact-update; artifact id="a" file complete (bytes name="n" media="m/t" "aGk=") (data false) (bytes name="../../\x00" "aGk=") (data media="application/json" 7)`,
			`artifact-update; artifact id="a" file bytes=4 complete`,
			`artifact-update; artifact id="a" file bytes=0 complete`,
		}},
	})
}

// TestPiecesAfterLast checks that a piece after the last one starts another text, so that no text is reported
// twice.
func TestPiecesAfterLast(t *testing.T) {
	runDecode(t, []decodeCase{
		{"each marked as the last", []string{piece("a", text("90%"), last), piece("a", text("ok"), more+last), piece("a", text("so"), more+last), statusIs("completed", "", "")},
			[]string{`artifact-update; artifact id="a" other bytes=3 complete; text "90%"`, `artifact-update; artifact id="a" other bytes=2 append complete; text "ok"`, `artifact-update; artifact id="a" other bytes=2 append complete; text "so"`, `status-update; final; run_ended awaits_outcome`}},
		{"the start was not seen", []string{piece("a", text("9"), more), piece("a", text("0%"), more+last), piece("a", text("ok"), more+last)},
			[]string{`artifact-update partial; artifact id="a" other bytes=1 append; text "9"`, `artifact-update partial; artifact id="a" other bytes=2 append complete; text "0%"`, `artifact-update; artifact id="a" other bytes=2 append complete; text "ok"`}},
		{"further pieces without a last one", []string{piece("a", text("90%"), ""), piece("a", text("."), more+last), piece("a", text("o"), more), piece("a", text("k"), more), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=3; text "90%"`, `artifact-update; artifact id="a" other bytes=1 append complete; text "90%."`, `artifact-update partial; artifact id="a" other bytes=1 append; text "o"`, `artifact-update partial; artifact id="a" other bytes=1 append; text "k"`, `status-update; text "ok"; final; run_ended awaits_outcome`}},
		{"replaced by the whole", []string{piece("a", text("90%"), last), piece("a", text("ok"), more), piece("a", text("90% ok"), last), statusIs("completed", "", "")},
			[]string{`artifact-update; artifact id="a" other bytes=3 complete; text "90%"`, `artifact-update partial; artifact id="a" other bytes=2 append; text "ok"`, `artifact-update; artifact id="a" other bytes=6 complete; text "90% ok"`, `status-update; final; run_ended awaits_outcome`}},
	})
	// The total size of the texts, which are searched for statements, grows linearly with the pieces.
	const pieces = 100
	frames := []string{piece("a", text(strings.Repeat("x", 60<<10)), last)}
	for range pieces {
		frames = append(frames, piece("a", text("ok"), more+last))
	}
	stream, searched := new(event.Stream), 0
	d := Dialect{}.New(stream)
	for _, frame := range frames {
		var b event.Batch
		b.Begin(stream, sse.Frame{Data: []byte(strings.TrimSpace(strings.TrimPrefix(frame, "data: ")))}, time.Time{})
		_ = b.Parse(32)
		b.Table = &table
		d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, &b)
		for i := range b.Events {
			if b.Events[i].Kind == event.KindText && !b.Partial {
				searched += len(b.Events[i].Text())
			}
		}
	}
	if want := 60<<10 + pieces*len("ok"); searched != want {
		t.Errorf("%d bytes of text are reported, want %d", searched, want)
	}
}

// TestManyPieces checks that pieces of an artifact beyond the limit are counted.
func TestManyPieces(t *testing.T) {
	const more = 7
	all := strings.Repeat(`{"url":"u"},`, event.MaxPieces+more)
	got := factsOf(&event.Stream{}, piece("a", strings.TrimSuffix(all, ","), last))
	if n := strings.Count(got, `(uri "u")`); n != event.MaxPieces || !strings.HasSuffix(got, fmt.Sprintf(" more=%d", more)) {
		t.Errorf("%d pieces are reported in %s", n, got)
	}
}

// TestLongText checks that only the end of a long text is kept, in whole characters.
func TestLongText(t *testing.T) {
	frames := []string{piece("a", text("é"), "")}
	for range 3 {
		frames = append(frames, piece("a", text(strings.Repeat("é", dialect.TextTailSize/2+1)), more))
	}
	got := factsOf(&event.Stream{}, append(frames, piece("a", text("the end"), more+last))...)
	whole := got[strings.LastIndex(got, "\n")+1:]
	if !strings.Contains(whole, `text truncated "éé`) || !strings.Contains(whole, "bytes)") {
		t.Errorf("the text is %s, want its end in whole characters", whole)
	}
}

// TestBounds checks the limits of the decoder's state.
func TestBounds(t *testing.T) {
	var frames []string
	for i := range 2 * maxSpeakers {
		adk := fmt.Sprintf(`,"metadata":{"adk_author":"a%d","adk_usage_metadata":{"promptTokenCount":1}}`, i)
		frames = append(frames,
			piece(fmt.Sprint("a", i), text("x"), ""),
			statusIs("working", calls(fmt.Sprint("c", i), "f", true), adk))
	}
	frames = append(frames, statusIs("input-required", "", ""), statusIs("working", "", ""), statusIs("completed", "", ""))
	got := strings.Split(factsOf(&event.Stream{}, frames...), "\n")
	asked := strings.Count(got[len(got)-2], "input_answered")
	told := strings.Count(got[len(got)-1], `text "x"`)
	if asked != maxPendingCalls || told != maxArtifacts {
		t.Errorf("%d questions and %d texts at the end, want %d and %d", asked, told, maxPendingCalls, maxArtifacts)
	}
}

// TestRepeatBeyondLimit checks that the response to a call beyond the limit that was repeated ends its wait.
func TestRepeatBeyondLimit(t *testing.T) {
	var frames []string
	for i := range maxCalls {
		frames = append(frames, statusIs("working", calls(fmt.Sprint("c", i), "f", false), adkEvent("")))
	}
	call := calls("c", "f", true)
	frames = append(frames, statusIs("working", call, adkEvent("")), statusIs("working", call, adkEvent("")),
		statusIs("working", toolResult("c", "f", `{}`), adkEvent("")), statusIs("input-required", "", ""))
	if got := factsOf(&event.Stream{}, frames...); !strings.HasSuffix(got, `input_requested call="t" clarification`) {
		t.Errorf("the last facts are %q, want a question of the task", got[max(0, len(got)-300):])
	}
}
