package adkstudio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// factsOf decodes frames, each given as "name data". It returns a line for each: its type and author, then its
// facts, separated by semicolons.
func factsOf(t *testing.T, frames ...string) string {
	t.Helper()
	var wire []byte
	for _, f := range frames {
		name, data, _ := strings.Cut(f, " ")
		var err error
		if wire, err = sse.AppendFrame(wire, sse.Frame{Event: []byte(name), Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	for line := range strings.Lines(dialecttest.Facts(Dialect{}, &event.Stream{}, string(wire))) {
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

func trace(members string) string { return `trace {"type":` + members + `}` }

// Frames of many cases.
const (
	session      = `session s`
	sessionFacts = `session session="s"; run_started`
	end          = `end `
	endFacts     = `end session="s"; run_ended`
)

var (
	start       = trace(`"node_start","node":"a","step":1`)
	agentFields = ` session="s" agent="a" branch="a#1"`
	done        = trace(`"done","total_steps":1`)
	doneFacts   = `trace session="s"; final`
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
			if diff := cmp.Diff(strings.Join(c.want, "\n"), factsOf(t, c.frames...)); diff != "" {
				t.Errorf("the facts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRuns checks when a run starts and how it ends.
func TestRuns(t *testing.T) {
	runDecode(t, []decodeCase{
		{"complete", []string{session, done, end}, []string{sessionFacts, doneFacts, endFacts}},
		{"without a done event", []string{session, end}, []string{sessionFacts, endFacts}},
		{"two sessions", []string{session, "session other", end}, []string{sessionFacts, `session session="other"`, `end session="other"; run_ended`}},
		{"without a session", []string{start, end}, []string{`trace agent="a" branch="a#1"; run_started; agent_started`, "end; run_ended"}},
		{"two ends", []string{session, end, end}, []string{sessionFacts, endFacts, "end"}},
		{"two runs", []string{session, start, end, "session u", start, end},
			[]string{sessionFacts, "trace" + agentFields + "; agent_started", endFacts, `session session="u"; run_started`, `trace session="u" agent="a" branch="a#1"; agent_started`, `end session="u"; run_ended`}},
		{"an error before the end", []string{session, "error model overloaded", done, end},
			[]string{sessionFacts, `error session="s"; error agent_error`, `trace session="s"`, `end session="s"; run_ended agent_error`}},
		{"an error after the done event", []string{session, done, "error late", end},
			[]string{sessionFacts, doneFacts, `error session="s"; error agent_error`, `end session="s"; run_ended agent_error`}},
		{"a timeout", []string{session, "error Timeout", "error x", end},
			[]string{sessionFacts, `error session="s"; error timeout`, `error session="s"; error agent_error`, `end session="s"; run_ended timeout`}},
		{"only an error", []string{"error No API key found."}, []string{"error; run_started; error agent_error"}},
		{"an error of the graph", []string{session, start, trace(`"error","message":"x","node":"a"`), end},
			[]string{sessionFacts, "trace" + agentFields + "; agent_started", "raw withheld" + agentFields + "; error agent_error", `end session="s"; run_ended agent_error`}},
		{"an end that is not UTF-8", []string{session, "end \xff", session}, []string{sessionFacts, endFacts, sessionFacts}},
		{"an error that is not UTF-8", []string{session, "error \xff", end},
			[]string{sessionFacts, `error session="s" rejected=invalid_utf8; error agent_error`, `end session="s"; run_ended agent_error`}},
		{"malformed events", []string{`x {}`, ` {}`, `trace []`, `trace {`, `tool_call "x"`},
			[]string{"-; other", "-; other", "- rejected=shape", "- rejected=syntax", "- rejected=shape"}},
		{"only logs", []string{`debug {"level":"debug"}`, `log {"message":"Calling gemini-2.5-flash (tools: 2)"}`}, []string{"debug withheld", "log; run_started"}},
	})
}

// TestText checks that text is read unchanged, even if it looks like JSON.
func TestText(t *testing.T) {
	runDecode(t, []decodeCase{
		{"like JSON", []string{session, `chunk {"type":"internal:x"}`, "chunk 123", "chunk null"},
			[]string{sessionFacts, `chunk session="s" partial; text "{\"type\":\"internal:x\"}"`, `chunk session="s" partial; text "123"`, `chunk session="s" partial; text "null"`}},
		{"with spaces and lines", []string{session, "chunk  a", "chunk \n b\n\n"},
			[]string{sessionFacts, `chunk session="s" partial; text " a"`, `chunk session="s" partial; text "\n b\n\n"`}},
		{"like a frame", []string{session, "chunk data: x\nevent: end\n\nid: 1"}, []string{sessionFacts, `chunk session="s" partial; text "data: x\nevent: end\n\nid: 1"`}},
		{"empty", []string{session, "chunk "}, []string{sessionFacts, `chunk session="s" partial`}},
		{"not UTF-8", []string{session, "chunk \xff"}, []string{sessionFacts, `chunk session="s" rejected=invalid_utf8`}},
		{"of the latest node", []string{session, start, "chunk x", trace(`"node_end","node":"a","step":1`), "chunk y"},
			[]string{sessionFacts, "trace" + agentFields + "; agent_started", "chunk" + agentFields + ` partial; text "x"`, "trace" + agentFields + `; text "x"; agent_ended`, `chunk session="s" partial; text "y"`}},
		{"of two nodes, each repeated as a whole", []string{session, start, "chunk x", trace(`"node_end","node":"a","step":1`), trace(`"node_start","node":"b","step":2`), "chunk xy", "chunk xyz", trace(`"node_end","node":"b","step":2`), done},
			[]string{sessionFacts, "trace" + agentFields + "; agent_started", "chunk" + agentFields + ` partial; text "x"`, "trace" + agentFields + `; text "x"; agent_ended`, `trace session="s" agent="b" branch="b#2"; agent_started`,
				`chunk session="s" agent="b" branch="b#2" partial; text "y"`, `chunk session="s" agent="b" branch="b#2" partial; text "z"`, `trace session="s" agent="b" branch="b#2"; text "yz"; agent_ended`, doneFacts}},
		{"of parallel nodes", []string{session, start, "chunk x", trace(`"node_start","node":"b","step":2`), "chunk y", trace(`"node_end","node":"a","step":1`), "chunk z", trace(`"node_end","node":"b","step":2`), done},
			[]string{sessionFacts, "trace" + agentFields + "; agent_started", "chunk" + agentFields + ` partial; text "x"`, `trace session="s" agent="b" branch="b#2"; agent_started`, `chunk session="s" agent="b" branch="b#2" partial; text "y"`,
				"trace" + agentFields + `; agent_ended`, `chunk session="s" agent="b" branch="b#2" partial; text "z"`, `trace session="s" agent="b" branch="b#2"; agent_ended`, `trace session="s"; text "xyz"; final`}},
		{"whole, at the done event", []string{session, "chunk a", "chunk b", done, done},
			[]string{sessionFacts, `chunk session="s" partial; text "a"`, `chunk session="s" partial; text "b"`, `trace session="s"; text "ab"; final`, doneFacts}},
		{"whole, repeated by the server", []string{session, "chunk a", "chunk b", "chunk ab", "chunk ab", done},
			[]string{sessionFacts, `chunk session="s" partial; text "a"`, `chunk session="s" partial; text "b"`, `chunk session="s"; text "ab"`, `chunk session="s"`, doneFacts}},
		{"thoughts", []string{session, start, `thinking {"content":"Hm.","agent":"a"}`, `thinking {"content":"Hm.","agent":"system"}`, `thinking {"content":""}`, "thinking Hm."},
			[]string{sessionFacts, "trace" + agentFields + "; agent_started", "thinking" + agentFields + `; thought "Hm."`, `thinking session="s"; thought "Hm."`, `thinking session="s"`, `- session="s" rejected=syntax`}},
	})
}

// TestAnswer checks the new part of each chunk for each way in which servers send text.
func TestAnswer(t *testing.T) {
	const nodeBegins = "\x00"
	long := strings.Repeat("x", maxAnswer/2)
	for _, c := range []struct {
		name       string
		chunks     []string
		want       string // the new part of each chunk, in braces if the chunk is the whole
		unreported string
	}{
		{"pieces", []string{"He", "llo", " world"}, "He|llo| world", "Hello world"},
		{"pieces, then the whole", []string{"He", "llo", "Hello"}, "He|llo|{Hello}", ""},
		{"the whole with each piece", []string{"He", "Hello", "Hello world"}, "He|llo| world", "Hello world"},
		{"the whole with each piece, repeated", []string{"He", "Hello", "Hello"}, "He|llo|{Hello}", ""},
		{"the whole with each piece, repeated twice", []string{"He", "Hello", "Hello", "Hello"}, "He|llo|{Hello}|{}", ""},
		{"a repeated piece, continued", []string{"He", "He", "He, and on"}, "He|{He}|, and on", ", and on"},
		{"one chunk", []string{"Hello"}, "Hello", "Hello"},
		{"empty chunks", []string{"", ""}, "|", ""},
		{"an empty chunk between", []string{"a", "", "b"}, "a||b", "ab"},
		{"of two nodes, in pieces", []string{"A", nodeBegins, "B", "C"}, "A|B|C", "ABC"},
		{"of two nodes, the whole of the last again", []string{"A", nodeBegins, "B", "C", "BC"}, "A|B|C|{BC}", ""},
		{"of two nodes, the whole of both again", []string{"A", nodeBegins, "B", "AB"}, "A|B|{AB}", ""},
		{"of two nodes, the whole with each piece", []string{"A", "AB", nodeBegins, "ABC", "ABCD"}, "A|B|C|D", "ABCD"},
		{"of two nodes, the whole of the node with each piece", []string{"A", nodeBegins, "B", "BC"}, "A|B|C", "ABC"},
		{"of a node that repeats another's text", []string{"A", nodeBegins, "AB"}, "A|B", "AB"},
		{"up to the limit", []string{long, long}, long + "|{" + long + "}", ""},
		{"over the limit", []string{long, long + long, "y", long + long}, long + "|" + long + "|y|" + long + long, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a answer
			var got []string
			for _, chunk := range c.chunks {
				if chunk == nodeBegins {
					a.startNode()
					continue
				}
				fresh, whole := a.add([]byte(chunk))
				if got = append(got, string(fresh)); whole {
					got[len(got)-1] = "{" + string(fresh) + "}"
				}
				if len(a.text) > maxAnswer {
					t.Errorf("%d bytes of text are kept", len(a.text))
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("the facts differ (-want +got):\n%s", diff)
			}
			if got := string(a.unreported()); got != c.unreported {
				t.Errorf("the unreported text is %.40q, want %.40q", got, c.unreported)
			}
		})
	}
}

// TestNodes checks that starts and ends of nodes are matched, although they come late and in any order.
func TestNodes(t *testing.T) {
	node := func(kind, name string, more string) string {
		return trace(fmt.Sprintf(`"node_%s","node":%q%s`, kind, name, more))
	}
	at := func(branch string) string {
		name, _, _ := strings.Cut(branch, "#")
		return fmt.Sprintf(`trace session="s" agent=%q branch=%q; agent_`, name, branch)
	}
	runDecode(t, []decodeCase{
		{"a loop with a repeated name",
			[]string{session, node("start", "a", `,"step":1`), node("end", "a", `,"step":1,"duration_ms":5`), node("start", "a", `,"step":2`), node("end", "a", `,"step":2,"duration_ms":7`)},
			[]string{sessionFacts, at("a#1") + "started", at("a#1") + "ended took=5ms", at("a#2") + "started", at("a#2") + "ended took=7ms"}},
		{"the same name at once, ended in the other order",
			[]string{session, node("start", "a", `,"step":1`), node("start", "a", `,"step":2`), node("end", "a", `,"step":1`), node("end", "a", `,"step":2`)},
			[]string{sessionFacts, at("a#1") + "started", at("a#2") + "started", at("a#1") + "ended", at("a#2") + "ended"}},
		{"an end with an unknown step",
			[]string{session, node("start", "a", `,"step":1`), node("start", "a", `,"step":2`), node("end", "a", `,"step":9`)},
			[]string{sessionFacts, at("a#1") + "started", at("a#2") + "started", at("a#2") + "ended"}},
		{"an end with an unknown name", []string{session, node("end", "b", `,"step":3,"duration_ms":5`)}, []string{sessionFacts, at("b#3") + "ended took=5ms"}},
		{"without steps",
			[]string{session, node("start", "a", ""), node("start", "a", ""), node("end", "a", ""), node("end", "a", "")},
			[]string{sessionFacts, at("a#1") + "started", at("a#2") + "started", at("a#2") + "ended", at("a#1") + "ended"}},
		{"a repeated start", []string{session, start, start, node("end", "a", `,"step":1`)}, []string{sessionFacts, at("a#1") + "started", at("a#1") + "started", at("a#1") + "ended"}},
		{"invalid steps and durations",
			[]string{session, node("start", "a", `,"step":-1`), node("end", "a", `,"duration_ms":-1`), node("start", "b", `,"step":"2"`), node("end", "b", `,"duration_ms":1e18`)},
			[]string{sessionFacts, at("a#1") + "started", at("a#1") + "ended", at("b#2") + "started", at("b#2") + "ended"}},
		{"no name, or the user's", []string{session, node("start", "", `,"step":1`), node("end", "", `,"step":1`), node("start", "user", `,"step":2`), "chunk x"},
			[]string{sessionFacts, `trace session="s"`, `trace session="s"`, `trace session="s"`, `chunk session="s" partial; text "x"`}},
		{"no name, after an agent", []string{session, "agent x", node("start", "", ""), node("end", "", ""), trace(`"message","node":"z"`), `thinking {"agent":"y"}`, "chunk x"},
			[]string{sessionFacts, `agent session="s" agent="x"`, `trace session="s"`, `trace session="s"`, `raw withheld session="s" agent="z"`, `thinking session="s" agent="y"`, `chunk session="s" agent="x" partial; text "x"`}},
		{"a start that cannot be read", []string{session, start, node("start", "b", `,"step":2,`), "chunk x", node("end", "a", `,"step":1`)},
			[]string{sessionFacts, at("a#1") + "started", `- session="s" rejected=syntax`, `chunk session="s" partial; text "x"`, at("a#1") + "ended"}},
		{"named after its end", []string{session, start, node("end", "a", `,"step":1`), `thinking {"agent":"a"}`, "chunk x"},
			[]string{sessionFacts, at("a#1") + "started", at("a#1") + "ended", "thinking" + agentFields, `chunk session="s" partial; text "x"`}},
		{"a node named by an event is the speaker",
			[]string{session, start, node("start", "b", `,"step":2`), trace(`"message","node":"a","content":"x"`), "chunk x"},
			[]string{sessionFacts, at("a#1") + "started", at("b#2") + "started", "raw withheld" + agentFields, "chunk" + agentFields + ` partial; text "x"`}},
	})
}

// TestCalls checks that results are matched with calls by the names of tools.
func TestCalls(t *testing.T) {
	call := func(tool, args string) string { return fmt.Sprintf(`tool_call {"name":%q,"args":%s}`, tool, args) }
	result := func(tool, value string) string {
		return fmt.Sprintf(`tool_result {"name":%q,"result":%s}`, tool, value)
	}
	failure := func(message string) string {
		return fmt.Sprintf(`debug {"level":"warn","detail":{"fields":{"message":%q,"tool.name":"f"}}}`, message)
	}
	started := "trace" + agentFields + "; agent_started"
	callOf := "tool_call" + agentFields + `; tool_started name="f" `
	resultOf := "tool_result" + agentFields + `; tool_ended name="f" `
	runDecode(t, []decodeCase{
		{"as documented", []string{session, start, call("f", `{"x":1}`), result("f", `"..."`)}, []string{sessionFacts, started, callOf + `{"x":1}`, resultOf + `settled "..."`}},
		{"as JSON in strings", []string{session, start, call("f", `"{\"x\":1}"`), result("f", `"[1]"`)}, []string{sessionFacts, started, callOf + `{"x":1}`, resultOf + `settled [1]`}},
		{"as JSON that was cut", []string{session, start, call("f", `"{\"x\":\"lon...[truncated 812 bytes]"`)}, []string{sessionFacts, started, callOf + `"{\"x\":\"lon...[truncated 812 bytes]"`}},
		{"missing members", []string{session, start, `tool_call {"name":"f"}`, `tool_result {}`}, []string{sessionFacts, started, `tool_call` + agentFields + `; tool_started name="f"`, `tool_result session="s"; tool_ended settled`}},
		{"an error", []string{session, start, call("f", `{}`), result("f", `"{\"error\":\"x\"}"`)}, []string{sessionFacts, started, callOf + `{}`, resultOf + `tool_error settled {"error":"x"}`}},
		{"an error only in the log", []string{session, start, call("f", `{}`), failure("tool_error"), call("f", `{}`), failure("tool timed out, retrying"), call("f", `{}`), failure("x"), result("f", `1`)},
			[]string{sessionFacts, started, callOf + `{}`, `debug withheld` + agentFields + `; tool_ended name="f" tool_error settled`, callOf + `{}`, `debug withheld` + agentFields + `; tool_ended name="f" timeout settled`,
				callOf + `{}`, `debug withheld session="s"`, resultOf + `settled 1`}},
		{"of an agent, with the result after another's start", []string{session, "agent x", call("f", `{}`), "agent y", result("f", `1`), result("f", `2`)},
			[]string{sessionFacts, `agent session="s" agent="x"`, `tool_call session="s" agent="x"; tool_started name="f" {}`, `agent session="s" agent="y"`, `tool_result session="s" agent="x"; tool_ended name="f" settled 1`, `tool_result session="s"; tool_ended name="f" settled 2`}},
		{"a result after a call that cannot be read", []string{session, start, call("f", `{}`), call("f", `{`), result("f", `1`)},
			[]string{sessionFacts, started, callOf + `{}`, `- session="s" rejected=syntax`, `tool_result session="s"; tool_ended name="f" settled 1`}},
		{"a result after the end of its node", []string{session, start, call("f", `{}`), trace(`"node_end","node":"a","step":1`), trace(`"node_start","node":"b","step":2`), result("f", `1`)},
			[]string{sessionFacts, started, callOf + `{}`, "trace" + agentFields + "; agent_ended", `trace session="s" agent="b" branch="b#2"; agent_started`, resultOf + `settled 1`}},
	})
}

// TestInterrupts checks requests for input and their answers on one stream.
func TestInterrupts(t *testing.T) {
	const ask = `interrupt {"type":"interrupt","node_id":"a","message":"Go on?","data":{},"thread_id":"t","checkpoint_id":"c"}`
	started := "trace" + agentFields + "; agent_started"
	asked := "interrupt" + agentFields + `; input_requested call="a#1" data prompt="Go on?"`
	const answered = `; input_answered call="a#1"`
	runDecode(t, []decodeCase{
		{"answered by a resume event", []string{session, start, ask, `resume {"type":"resume","node_id":"a"}`, end}, []string{sessionFacts, started, asked, `resume session="s"` + answered, endFacts}},
		{"answered by a resumed event of the graph", []string{session, start, trace(`"interrupted","node":"a"`), ask, trace(`"resumed","step":1`)},
			[]string{sessionFacts, started, "raw withheld" + agentFields + `; input_requested call="a#1" data`, "interrupt" + agentFields, `raw withheld session="s"` + answered}},
		{"answered by a new node", []string{session, start, ask, trace(`"node_start","node":"b","step":2`)},
			[]string{sessionFacts, started, asked, `trace session="s" agent="b" branch="b#2"; input_answered call="a#1"; agent_started`}},
		{"answered by new text", []string{session, start, "chunk x", ask, "chunk xy"}, []string{sessionFacts, started, "chunk" + agentFields + ` partial; text "x"`, asked, "chunk" + agentFields + ` partial` + answered + `; text "y"`}},
		{"answered by the done event", []string{session, start, ask, done, end}, []string{sessionFacts, started, asked, `trace session="s"` + answered + "; final", endFacts}},
		{"not answered by repeated text", []string{session, start, "chunk x", ask, "chunk x", done, end},
			[]string{sessionFacts, started, "chunk" + agentFields + ` partial; text "x"`, asked, "chunk" + agentFields + `; text "x"`, doneFacts, endFacts}},
		{"not answered by text repeated again", []string{session, start, "chunk x", "chunk x", ask, "chunk x", end},
			[]string{sessionFacts, started, "chunk" + agentFields + ` partial; text "x"`, "chunk" + agentFields + `; text "x"`, asked, "chunk" + agentFields, endFacts}},
		{"not answered by the log", []string{session, start, ask, `tool_result {"name":"f","result":1}`, `log {"message":"x"}`, end},
			[]string{sessionFacts, started, asked, `tool_result session="s"; tool_ended name="f" settled 1`, `log session="s"`, endFacts}},
		{"by an unknown node", []string{session, `interrupt {"node_id":"z"}`, `interrupt {}`, end}, []string{sessionFacts, `interrupt session="s" agent="z"; input_requested call="z" data`, `interrupt session="s"`, endFacts}},
		{"by two nodes", []string{session, start, ask, `interrupt {"node_id":"z"}`, ask, `resume {}`},
			[]string{sessionFacts, started, asked, `interrupt session="s" agent="z"; input_requested call="z" data`, "interrupt" + agentFields, `resume session="s"` + answered + `; input_answered call="z"`}},
		{"by a node that the server does not know", []string{session, `interrupt {"node_id":"unknown"}`, trace(`"interrupted"`), end},
			[]string{sessionFacts, `interrupt session="s"; input_requested call="interrupt" data`, `raw withheld session="s"`, endFacts}},
		{"by no node", []string{session, `interrupt {}`}, []string{sessionFacts, `interrupt session="s"; input_requested call="interrupt" data`}},
	})
}

// TestState checks that the keys and the size of state are reported, but no values.
func TestState(t *testing.T) {
	many := make([]string, wire.MaxKeys+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	for members, want := range map[string]string{
		`"state_snapshot":{"input":{"q":"secret"},"output":{"a":1,"b":[2]}},"state_keys":["a","b"]`: `; state keys=["a" "b"] bytes=15`,
		`"state_snapshot":{"input":{"q":"secret"},"output":{}},"state_keys":["q"]`:                  `; state keys=["q"] bytes=14`,
		`"state_snapshot":{"input":{},"output":{}}`:                                                 "",
		`"state_keys":["a",7,"b"]`:                     `; state keys=["a" "b"]`,
		`"state":{"a":1}`:                              `; state keys=["a"] bytes=7`,
		`"state_snapshot":"secret","state":["secret"]`: "",
		`"state":{` + strings.Join(many, ",") + `}`:    "many",
	} {
		got := factsOf(t, session, trace(`"state",`+members))
		if want == "many" {
			if strings.Count(got, `"k`) != wire.MaxKeys {
				t.Errorf("%d keys are reported, want %d", strings.Count(got, `"k`), wire.MaxKeys)
			}
			continue
		}
		if diff := cmp.Diff(sessionFacts+"\n"+`trace session="s"`+want, got); diff != "" {
			t.Errorf("the facts of %s differ (-want +got):\n%s", members, diff)
		}
	}
}

// TestBounds checks the limits of the decoder's state. Beyond them, no frame is given to another node.
func TestBounds(t *testing.T) {
	decoder := &decoder{}
	decode := func(name, data string) *event.Batch {
		b := &event.Batch{Table: &table}
		var doc strictjson.Doc
		f := dialect.Frame{Frame: sse.Frame{Event: []byte(name), Data: []byte(data)}}
		if doc.Parse([]byte(data), 8) == nil {
			f.JSON = doc.Root()
		}
		decoder.Decode(f, b)
		return b
	}
	for i := range 2 * maxNodes {
		b := decode("trace", fmt.Sprintf(`{"type":"node_start","node":"n","step":%d}`, i))
		if b.Agent != "n" || b.Branch != fmt.Sprintf("n#%d", i) {
			t.Fatalf("node %d has the agent %q and the branch %q", i, b.Agent, b.Branch)
		}
		if b := decode("chunk", "x"); b.Branch != fmt.Sprintf("n#%d", i) {
			t.Fatalf("a chunk of node %d has the branch %q", i, b.Branch)
		}
		decode("tool_call", `{"name":"f","args":{}}`)
	}
	for i := range 2 * maxNodes {
		decode("interrupt", fmt.Sprintf(`{"node_id":"q%d"}`, i))
	}
	for what, n := range map[string]int{
		"open nodes": len(decoder.nodes.open), "recent nodes": len(decoder.nodes.recent), "calls": len(decoder.calls.open), "questions": len(decoder.questions),
	} {
		if n != maxNodes {
			t.Errorf("%d %s are remembered, want %d", n, what, maxNodes)
		}
	}
	if b := decode("tool_result", `{"name":"f","result":1}`); b.Agent != "" {
		t.Errorf("a result that may be of any call has the agent %q", b.Agent)
	}
	if b := decode("trace", fmt.Sprintf(`{"type":"node_end","node":"n","step":%d}`, maxNodes/2)); b.Branch != fmt.Sprintf("n#%d", maxNodes/2) {
		t.Errorf("the end has the branch %q", b.Branch)
	}
	for i := range maxNodes {
		decode("trace", fmt.Sprintf(`{"type":"node_end","node":"n","step":%d}`, maxNodes+i))
	}
	if b := decode("chunk", "x"); b.Agent != "" {
		t.Errorf("a chunk that may be of any dropped node has the agent %q", b.Agent)
	}
}
