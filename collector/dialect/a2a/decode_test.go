package a2a

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

// The bindings are the ways in which servers send an update.
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

// Of task t in context c, in the binding that most servers have.
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

// nobodys is a message that names no task.
func nobodys(members string) string {
	return data(`{"message":{"messageId":"n",` + members + `"role":"ROLE_AGENT","parts":[` + text("hi") + `]}}`)
}

// messageOf is a message of task t.
func messageOf(id, members, said string) string {
	return bindings["0.3, JSON-RPC"]("message", `"messageId":"`+id+`","taskId":"t","contextId":"c","role":"agent","parts":[`+text(said)+`]`+members)
}

func text(s string) string { return `{"kind":"text","text":"` + s + `"}` }

const (
	last    = `,"lastChunk":true`
	more    = `,"append":true`
	failure = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret"}}`
)

// lines are what frames say: one for each, its facts after its head, without the run and the session that most are of.
func lines(s *event.Stream, frames ...string) string {
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
			if diff := cmp.Diff(strings.Join(c.want, "\n"), lines(&event.Stream{}, c.frames...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBindings decodes each update in each of its envelopes.
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
				`message; run_started; text "hi"; final; run_ended`},
		} {
			if got := lines(&event.Stream{}, bind(c.kind, c.members)); got != c.want {
				t.Errorf("%s, %s: %s\nwant %s", name, c.kind, got, c.want)
			}
		}
	}
}

// TestStates has a task come to each state in either spelling.
func TestStates(t *testing.T) {
	for state, want := range map[string]string{
		"submitted":      `working; run_started`,
		"working":        `working; other`,
		"input-required": `asking; input_requested call="t" clarification`,
		"auth-required":  `asking; input_requested call="t" credential`,
		"completed":      `status-update; final; run_ended awaits_outcome`,
		"failed":         `status-update; error agent_error; run_ended agent_error awaits_outcome`,
		"canceled":       `status-update; error canceled; run_ended canceled awaits_outcome`,
		"rejected":       `status-update; error agent_error; run_ended agent_error awaits_outcome`,
		"unknown":        `working; other`,
		"whatever":       `working; other`,
		"":               `working; other`,
	} {
		for _, spelling := range []string{state, "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))} {
			if got := lines(&event.Stream{}, statusIs(spelling, "", "")); got != want {
				t.Errorf("%q: %s\nwant %s", spelling, got, want)
			}
		}
	}
	if got := lines(&event.Stream{}, statusIs("TASK_STATE_CANCELLED", "", "")); got != `status-update; error canceled; run_ended canceled awaits_outcome` {
		t.Errorf("as over HTTP+JSON in 0.3: %s", got)
	}
}

func TestTasks(t *testing.T) {
	runDecode(t, []decodeCase{
		{"an end is said once", []string{taskIs("submitted", ""), statusIs("completed", "", ""), statusIs("completed", text("late"), ""), taskIs("completed", ""), data(failure)},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `status-update; other`, `task; other`, `error; error agent_error code="-32603"`}},
		{"a capture of two streams", []string{taskIs("submitted", ""), statusIs("completed", "", ""), taskIs("submitted", "")},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `working; run_started`}},
		{"a task that fails says nothing", []string{statusIs("failed", text("secret"), "")},
			[]string{`status-update; error agent_error; run_ended agent_error awaits_outcome`}},
		{"an answer with the end", []string{statusIs("completed", text("hi"), "")},
			[]string{`status-update; text "hi"; final; run_ended awaits_outcome`}},
		{"an answer again with the end", []string{piece("a", text("hi"), last), statusIs("completed", text("hi"), "")},
			[]string{`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`, `status-update partial; text "hi"; final; run_ended awaits_outcome`}},
		{"talk about work is no answer", []string{statusIs("working", text("looking"), "")},
			[]string{`working; other`}},
		{"a thought while at work", []string{statusIs("working", `{"text":"hm","metadata":{"adk_thought":true}}`, "")},
			[]string{`working; thought "hm"`}},
		{"all in one task", []string{taskIs("completed", `,"artifacts":[{"artifactId":"a","name":"n","parts":[`+text("hi")+`]},{"artifactId":"f","parts":[{"raw":"aGk="}]}],"history":[{"role":"user","parts":[`+text("secret")+`]}]`)},
			[]string{`task; artifact name="n" id="a" other bytes=2 complete; text "hi"; artifact id="f" file bytes=2 complete (bytes "aGk="); final; run_ended`}},
		{"a question, and work again", []string{statusIs("input-required", text("which?"), `,"final":true`), statusIs("input-required", text("which?"), ""), statusIs("working", "", ""), statusIs("input-required", "", ""), piece("a", text("hi"), last)},
			[]string{`asking; input_requested call="t" clarification prompt="which?"`, `asking; other`, `working; input_answered call="t"`, `asking; input_requested call="t" clarification`, `artifact-update; input_answered call="t"; artifact id="a" other bytes=2 complete; text "hi"`}},
		{"messages of a task are pieces of its answer", []string{taskIs("submitted", ""), messageOf("m", "", "h"), messageOf("m", "", "i"), statusIs("completed", "", "")},
			[]string{`working; run_started`, `message partial; text "h"`, `message partial; text "i"`, `status-update; text "hi"; final; run_ended awaits_outcome`}},
		{"a message of a task that is over", []string{taskIs("submitted", ""), statusIs("completed", "", ""), messageOf("m", "", "hi")},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `message; other`}},
		{"a thought of Agno's", []string{taskIs("working", ""), messageOf("m", `,"metadata":{"agno_content_category":"reasoning"}`, "hm"), messageOf("n", `,"metadata":{"agno_content_category":"content"}`, "hi"), statusIs("completed", "", "")},
			[]string{`working; other`, `aside; thought "hm"`, `message partial; text "hi"`, `status-update; text "hi"; final; run_ended awaits_outcome`}},
		{"a message without a task is of the only one", []string{taskIs("submitted", ""), nobodys(`"contextId":"c",`), statusIs("completed", "", "")},
			[]string{`working; run_started`, `message; text "hi"; final; run_ended`, `status-update; other`}},
		{"a message without a context, too", []string{taskIs("submitted", ""), nobodys("")}, []string{`working; run_started`, `message; text "hi"; final; run_ended`}},
		{"a message of another context is a run of its own", []string{taskIs("submitted", ""), nobodys(`"contextId":"d",`)},
			[]string{`working; run_started`, `message run="n" session="d"; run_started; text "hi"; final; run_ended`}},
		{"a message after its task is a run of its own", []string{taskIs("submitted", ""), statusIs("completed", "", ""), nobodys(`"contextId":"c",`)},
			[]string{`working; run_started`, `status-update; final; run_ended awaits_outcome`, `message run="n" session="c"; run_started; text "hi"; final; run_ended`}},
		{"a message after a question is a run of its own", []string{taskIs("submitted", ""), statusIs("input-required", "", ""), nobodys(`"contextId":"c",`)},
			[]string{`working; run_started`, `asking; input_requested call="t" clarification`, `message run="n" session="c"; run_started; text "hi"; final; run_ended`}},
		{"a message of one of two tasks is a run of its own", []string{taskIs("submitted", ""), strings.ReplaceAll(taskIs("submitted", ""), `"t"`, `"u"`), nobodys(`"contextId":"c",`)},
			[]string{`working; run_started`, `working run="u" session="c"; run_started`, `message run="n" session="c"; run_started; text "hi"; final; run_ended`}},
		{"the user's message ends nothing", []string{data(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + text("hi") + `]}}`)},
			[]string{`foreign run="m"; other`}},
		{"a kind that is not known", []string{data(`{"jsonrpc":"2.0","id":1,"result":{"kind":"task-moved","taskId":"t"}}`)},
			[]string{`task-moved withheld; other`}},
		{"a kind that is not known, of a task", []string{taskIs("submitted", ""), data(`{"kind":"task-moved","to":"x"}`)},
			[]string{`working; run_started`, `task-moved withheld; other`}},
		{"errors end the task", []string{taskIs("submitted", ""), data(failure), data(failure)},
			[]string{`working; run_started`, `error; error agent_error code="-32603"; run_ended agent_error code="-32603"`, `error; error agent_error code="-32603"`}},
		{"a lone error of JSON-RPC", []string{data(failure)},
			[]string{`error; error agent_error code="-32603"; run_ended agent_error code="-32603"`}},
		{"an error that nobody can read", []string{taskIs("submitted", ""), "event: error\ndata: {\"error\": x}\n\n", data("x"), statusIs("completed", "", "")},
			[]string{`working; run_started`, `- rejected=syntax; error agent_error`, `- rejected=syntax`, `status-update; final; run_ended awaits_outcome`}},
		{"a lone error of HTTP+JSON, under a name", []string{"event: error\n" + data(`{"error":{"code":500,"status":"INTERNAL","message":"secret","details":[{}]}}`)},
			[]string{`error; error agent_error code="INTERNAL"; run_ended agent_error code="INTERNAL"`}},
	})
}

// TestDecodedKinds states no text of a part whose kind the protocol does not have, which the other formats would show.
func TestDecodedKinds(t *testing.T) {
	for kind, want := range map[string]string{"text": `text "hi"; `, "thought": `thought "hi"; `, "note": ""} {
		sent := bindings["0.3, JSON-RPC"]("message", `"messageId":"m","role":"agent","parts":[{"kind":"`+kind+`","text":"hi"}]`)
		if got := lines(&event.Stream{}, sent); !strings.HasSuffix(got, "run_started; "+want+"final; run_ended") {
			t.Errorf("a part of the kind %s: %s", kind, got)
		}
	}
}

// TestAnswers names what a request answers once the stream names its session, where the request did not.
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
		if got := lines(&event.Stream{Identity: c.asked}, frames...); got != want {
			t.Errorf("%v: %s\nwant %s", c.asked, got, want)
		}
	}
}

func TestArtifacts(t *testing.T) {
	known := `,"artifacts":[{"artifactId":"a","parts":[` + text("one ") + `]},{"artifactId":"b","parts":[` + text("known") + `]}]`
	runDecode(t, []decodeCase{
		{"the last piece tells all", []string{piece("a", text("**Confi"), ""), piece("a", text("dence:** 9"), more), piece("a", text("2%"), more+last)},
			[]string{`artifact-update partial; artifact id="a" other bytes=7; text "**Confi"`, `artifact-update partial; artifact id="a" other bytes=10 append; text "dence:** 9"`, `artifact-update; artifact id="a" other bytes=2 append complete; text "**Confidence:** 92%"`}},
		{"the end tells all", []string{piece("a", text("one "), ""), piece("b", text("other"), last), piece("a", text("two"), more), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `artifact-update; artifact id="b" other bytes=5 complete; text "other"`, `artifact-update partial; artifact id="a" other bytes=3 append; text "two"`, `status-update; text "one two"; final; run_ended awaits_outcome`}},
		{"an end that failed tells nothing", []string{piece("a", text("one "), ""), statusIs("failed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `status-update; error agent_error; run_ended agent_error awaits_outcome`}},
		{"written anew", []string{piece("a", text("one "), ""), piece("a", text("two "), ""), piece("a", text("three"), more), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `artifact-update partial; artifact id="a" other bytes=4; text "two "`, `artifact-update partial; artifact id="a" other bytes=5 append; text "three"`, `status-update; text "two three"; final; run_ended awaits_outcome`}},
		{"whole at last", []string{piece("a", text("one "), ""), piece("a", text("one two"), last), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=4; text "one "`, `artifact-update; artifact id="a" other bytes=7 complete; text "one two"`, `status-update; final; run_ended awaits_outcome`}},
		{"without its beginning", []string{piece("a", text("9"), more), piece("a", text("2%"), more+last), statusIs("completed", "", "")},
			[]string{`artifact-update partial; artifact id="a" other bytes=1 append; text "9"`, `artifact-update partial; artifact id="a" other bytes=2 append complete; text "2%"`, `status-update; final; run_ended awaits_outcome`}},
		{"an empty last piece", []string{piece("a", text("one"), ""), piece("a", "", more+last)},
			[]string{`artifact-update partial; artifact id="a" other bytes=3; text "one"`, `artifact-update; artifact id="a" other append complete; text "one"`}},
		{"listening again", []string{taskIs("working", known), piece("a", text("two"), more), statusIs("completed", "", "")},
			[]string{`working; other`, `artifact-update partial; artifact id="a" other bytes=3 append; text "two"`, `status-update; text "one two"; final; run_ended awaits_outcome`}},
		{"the same at the end", []string{piece("a", text("hi"), last), taskIs("completed", `,"artifacts":[{"artifactId":"a","parts":[`+text("hi")+`]}]`)},
			[]string{`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`, `task; final; run_ended`}},
		{"listening again to a task that waits", []string{taskIs("input-required", known), statusIs("working", "", "")},
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
		{"what files are called, and what says nothing", []string{
			piece("a", `{"kind":"file","file":{"name":"n","mimeType":"m/t","uri":"u","bytes":"aGk="}}`, last),
			piece("a", `{"raw":"aGk=","filename":"n","mediaType":"m/t"},{"url":"","filename":"n"},{"url":"about:blank","filename":"n"},{"data":{}},{"data":[]},{"data":""},{"data":false},{"raw":"aGk=","filename":"../../\u0000"},{"data":7,"mediaType":"application/json"}`, last),
			piece("a", `{"file":{"name":"n"}},{"file":{"bytes":7}},{"raw":null,"filename":"n"},{"data":null}`, last),
			piece("a", `{"data":{"code":"x"},"metadata":{"adk_type":"executable_code"}},{"raw":""}`, last),
		}, []string{
			`artifact-update; artifact id="a" file bytes=2 complete (bytes name="n" media="m/t" "aGk=")`,
			`artifact-update; artifact id="a" file bytes=14 complete (bytes name="n" media="m/t" "aGk=") (data false) (bytes name="../../\x00" "aGk=") (data media="application/json" 7)`,
			`artifact-update; artifact id="a" file bytes=4 complete`,
			`artifact-update; artifact id="a" file bytes=0 complete`,
		}},
	})
}

// TestManyPieces has an artifact of more pieces than any reader is told of: they are counted.
func TestManyPieces(t *testing.T) {
	const more = 7
	all := strings.Repeat(`{"url":"u"},`, event.MaxPieces+more)
	got := lines(&event.Stream{}, piece("a", strings.TrimSuffix(all, ","), last))
	if n := strings.Count(got, `(uri "u")`); n != event.MaxPieces || !strings.HasSuffix(got, fmt.Sprintf(" more=%d", more)) {
		t.Errorf("%d pieces in %s", n, got)
	}
}

// TestLongText keeps the end of a text that is too long, in whole characters.
func TestLongText(t *testing.T) {
	frames := []string{piece("a", text("é"), "")}
	for range 3 {
		frames = append(frames, piece("a", text(strings.Repeat("é", dialect.MaxPieces/2+1)), more))
	}
	got := lines(&event.Stream{}, append(frames, piece("a", text("the end"), more+last))...)
	whole := got[strings.LastIndex(got, "\n")+1:]
	if !strings.Contains(whole, `text "éé`) || !strings.Contains(whole, "bytes)") {
		t.Errorf("%s", whole)
	}
	var s dialect.Pieces
	s.Add([]byte(strings.Repeat("é", 2*dialect.MaxPieces)))
	if len(s) != dialect.MaxPieces-dialect.MaxPieces%2 {
		t.Errorf("%d bytes of a piece are kept", len(s))
	}
}

// TestBounds has more of everything than is remembered.
func TestBounds(t *testing.T) {
	var frames []string
	for i := range 2 * maxSpeakers {
		adk := fmt.Sprintf(`,"metadata":{"adk_author":"a%d","adk_usage_metadata":{"promptTokenCount":1}}`, i)
		frames = append(frames,
			piece(fmt.Sprint("a", i), text("x"), ""),
			statusIs("working", calls(fmt.Sprint("c", i), "f", true), adk))
	}
	frames = append(frames, statusIs("input-required", "", ""), statusIs("working", "", ""), statusIs("completed", "", ""))
	got := strings.Split(lines(&event.Stream{}, frames...), "\n")
	asked := strings.Count(got[len(got)-2], "input_answered")
	told := strings.Count(got[len(got)-1], `text "x"`)
	if asked != maxWaiting || told != maxArtifacts {
		t.Errorf("%d questions and %d texts at the end, want %d and %d", asked, told, maxWaiting, maxArtifacts)
	}
}
