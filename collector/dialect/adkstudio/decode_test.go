package adkstudio

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

// said is what frames say, each given as "name data": a line for each, its type and author, then its facts, parted by semicolons.
func said(t *testing.T, frames ...string) string {
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

// Frames that many cases need.
const (
	began = `session s`
	first = `session session="s"; run_started`
	end   = `end `
	ended = `end session="s"; run_ended`
)

var (
	start = trace(`"node_start","node":"a","step":1`)
	by    = ` session="s" agent="a" branch="a#1"`
	done  = trace(`"done","total_steps":1`)
	final = `trace session="s"; final`
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
			if diff := cmp.Diff(strings.Join(c.want, "\n"), said(t, c.frames...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRuns says when a run begins and how it ends.
func TestRuns(t *testing.T) {
	runDecode(t, []decodeCase{
		{"by the word", []string{began, done, end}, []string{first, final, ended}},
		{"without one that the work is done", []string{began, end}, []string{first, ended}},
		{"the session is said twice", []string{began, "session other", end}, []string{first, `session session="other"`, `end session="other"; run_ended`}},
		{"without a session", []string{start, end}, []string{`trace agent="a" branch="a#1"; run_started; agent_started`, "end; run_ended"}},
		{"nothing ends twice", []string{began, end, end}, []string{first, ended, "end"}},
		{"two, one after the other", []string{began, start, end, "session u", start, end},
			[]string{first, "trace" + by + "; agent_started", ended, `session session="u"; run_started`, `trace session="u" agent="a" branch="a#1"; agent_started`, `end session="u"; run_ended`}},
		{"what follows an error is only its end", []string{began, "error model overloaded", done, end},
			[]string{first, `error session="s"; error agent_error`, `trace session="s"`, `end session="s"; run_ended agent_error`}},
		{"an error after the work was done", []string{began, done, "error late", end},
			[]string{first, final, `error session="s"; error agent_error`, `end session="s"; run_ended agent_error`}},
		{"waited for too long", []string{began, "error Timeout", "error x", end},
			[]string{first, `error session="s"; error timeout`, `error session="s"; error agent_error`, `end session="s"; run_ended timeout`}},
		{"only an error", []string{"error No API key found."}, []string{"error; run_started; error agent_error"}},
		{"an error of the graph", []string{began, start, trace(`"error","message":"x","node":"a"`), end},
			[]string{first, "trace" + by + "; agent_started", "raw withheld" + by + "; error agent_error", `end session="s"; run_ended agent_error`}},
		{"an error that is no text", []string{began, "error \xff", end},
			[]string{first, `error session="s" rejected=invalid_utf8; error agent_error`, `end session="s"; run_ended agent_error`}},
		{"what no server sends", []string{`x {}`, ` {}`, `trace []`, `trace {`, `tool_call "x"`},
			[]string{"-; other", "-; other", "- rejected=shape", "- rejected=syntax", "- rejected=shape"}},
		{"a log and a copy of it begin nothing", []string{`debug {"level":"debug"}`, `log {"message":"Calling gemini-2.5-flash (tools: 2)"}`}, []string{"debug withheld", "log; run_started"}},
	})
}

// TestText takes what is text as it is, whatever it looks like.
func TestText(t *testing.T) {
	runDecode(t, []decodeCase{
		{"that could be JSON", []string{began, `chunk {"type":"internal:x"}`, "chunk 123", "chunk null"},
			[]string{first, `chunk session="s" partial; text "{\"type\":\"internal:x\"}"`, `chunk session="s" partial; text "123"`, `chunk session="s" partial; text "null"`}},
		{"with blanks and lines", []string{began, "chunk  a", "chunk \n b\n\n"},
			[]string{first, `chunk session="s" partial; text " a"`, `chunk session="s" partial; text "\n b\n\n"`}},
		{"that could be a frame", []string{began, "chunk data: x\nevent: end\n\nid: 1"}, []string{first, `chunk session="s" partial; text "data: x\nevent: end\n\nid: 1"`}},
		{"none", []string{began, "chunk "}, []string{first, `chunk session="s" partial`}},
		{"that is no UTF-8", []string{began, "chunk \xff"}, []string{first, `chunk session="s" rejected=invalid_utf8`}},
		{"of the node that began last", []string{began, start, "chunk x", trace(`"node_end","node":"a","step":1`), "chunk y"},
			[]string{first, "trace" + by + "; agent_started", "chunk" + by + ` partial; text "x"`, "trace" + by + `; text "x"; agent_ended`, `chunk session="s" partial; text "y"`}},
		{"of two nodes, each whole", []string{began, start, "chunk x", trace(`"node_end","node":"a","step":1`), trace(`"node_start","node":"b","step":2`), "chunk xy", "chunk xyz", trace(`"node_end","node":"b","step":2`), done},
			[]string{first, "trace" + by + "; agent_started", "chunk" + by + ` partial; text "x"`, "trace" + by + `; text "x"; agent_ended`, `trace session="s" agent="b" branch="b#2"; agent_started`,
				`chunk session="s" agent="b" branch="b#2" partial; text "y"`, `chunk session="s" agent="b" branch="b#2" partial; text "z"`, `trace session="s" agent="b" branch="b#2"; text "yz"; agent_ended`, final}},
		{"of two nodes at once, of nobody", []string{began, start, "chunk x", trace(`"node_start","node":"b","step":2`), "chunk y", trace(`"node_end","node":"a","step":1`), "chunk z", trace(`"node_end","node":"b","step":2`), done},
			[]string{first, "trace" + by + "; agent_started", "chunk" + by + ` partial; text "x"`, `trace session="s" agent="b" branch="b#2"; agent_started`, `chunk session="s" agent="b" branch="b#2" partial; text "y"`,
				"trace" + by + `; agent_ended`, `chunk session="s" agent="b" branch="b#2" partial; text "z"`, `trace session="s" agent="b" branch="b#2"; agent_ended`, `trace session="s"; text "xyz"; final`}},
		{"whole, where the work is done", []string{began, "chunk a", "chunk b", done, done},
			[]string{first, `chunk session="s" partial; text "a"`, `chunk session="s" partial; text "b"`, `trace session="s"; text "ab"; final`, final}},
		{"whole, where the server says so", []string{began, "chunk a", "chunk b", "chunk ab", "chunk ab", done},
			[]string{first, `chunk session="s" partial; text "a"`, `chunk session="s" partial; text "b"`, `chunk session="s"; text "ab"`, `chunk session="s"`, final}},
		{"thought", []string{began, start, `thinking {"content":"Hm.","agent":"a"}`, `thinking {"content":"Hm.","agent":"system"}`, `thinking {"content":""}`, "thinking Hm."},
			[]string{first, "trace" + by + "; agent_started", "thinking" + by + `; thought "Hm."`, `thinking session="s"; thought "Hm."`, `thinking session="s"`, `- session="s" rejected=syntax`}},
	})
}

// TestAnswer finds what is new in a chunk, whichever way a server sends its text.
func TestAnswer(t *testing.T) {
	const nodeBegins = "\x00"
	long := strings.Repeat("x", maxAnswer/2)
	for _, c := range []struct {
		name   string
		chunks []string
		want   string // what is new of each, in braces where it is the whole
		untold string
	}{
		{"pieces", []string{"He", "llo", " world"}, "He|llo| world", "Hello world"},
		{"pieces, then the whole", []string{"He", "llo", "Hello"}, "He|llo|{Hello}", ""},
		{"the whole with each piece", []string{"He", "Hello", "Hello world"}, "He|llo| world", "Hello world"},
		{"and once more", []string{"He", "Hello", "Hello"}, "He|llo|{Hello}", ""},
		{"and again", []string{"He", "Hello", "Hello", "Hello"}, "He|llo|{Hello}|{}", ""},
		{"and on", []string{"He", "He", "He, and on"}, "He|{He}|, and on", ", and on"},
		{"one", []string{"Hello"}, "Hello", "Hello"},
		{"none", []string{"", ""}, "|", ""},
		{"an empty one between", []string{"a", "", "b"}, "a||b", "ab"},
		{"of two nodes, in pieces", []string{"A", nodeBegins, "B", "C"}, "A|B|C", "ABC"},
		{"of two nodes, the whole of the last again", []string{"A", nodeBegins, "B", "C", "BC"}, "A|B|C|{BC}", ""},
		{"of two nodes, the whole of both again", []string{"A", nodeBegins, "B", "AB"}, "A|B|{AB}", ""},
		{"of two nodes, the whole with each piece", []string{"A", "AB", nodeBegins, "ABC", "ABCD"}, "A|B|C|D", "ABCD"},
		{"of two nodes, the whole of the node with each piece", []string{"A", nodeBegins, "B", "BC"}, "A|B|C", "ABC"},
		{"of a node that says what another did", []string{"A", nodeBegins, "AB"}, "A|B", "AB"},
		{"as much as is kept", []string{long, long}, long + "|{" + long + "}", ""},
		{"more than is kept", []string{long, long + long, "y", long + long}, long + "|" + long + "|y|" + long + long, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a answer
			var got []string
			for _, chunk := range c.chunks {
				if chunk == nodeBegins {
					a.began()
					continue
				}
				fresh, whole := a.take([]byte(chunk))
				if got = append(got, string(fresh)); whole {
					got[len(got)-1] = "{" + string(fresh) + "}"
				}
				if len(a.said) > maxAnswer {
					t.Errorf("%d bytes are kept", len(a.said))
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
				t.Error(diff)
			}
			if got := string(a.tell()); got != c.untold {
				t.Errorf("untold: %.40q, want %.40q", got, c.untold)
			}
		})
	}
}

// TestNodes joins the beginnings and ends of nodes, which come late and in any order.
func TestNodes(t *testing.T) {
	node := func(kind, name string, more string) string {
		return trace(fmt.Sprintf(`"node_%s","node":%q%s`, kind, name, more))
	}
	at := func(branch string) string {
		name, _, _ := strings.Cut(branch, "#")
		return fmt.Sprintf(`trace session="s" agent=%q branch=%q; agent_`, name, branch)
	}
	runDecode(t, []decodeCase{
		{"a loop comes back to a name",
			[]string{began, node("start", "a", `,"step":1`), node("end", "a", `,"step":1,"duration_ms":5`), node("start", "a", `,"step":2`), node("end", "a", `,"step":2,"duration_ms":7`)},
			[]string{first, at("a#1") + "started", at("a#1") + "ended took=5ms", at("a#2") + "started", at("a#2") + "ended took=7ms"}},
		{"the same name at once, ended in the other order",
			[]string{began, node("start", "a", `,"step":1`), node("start", "a", `,"step":2`), node("end", "a", `,"step":1`), node("end", "a", `,"step":2`)},
			[]string{first, at("a#1") + "started", at("a#2") + "started", at("a#1") + "ended", at("a#2") + "ended"}},
		{"a step that never began ends the latest of its name",
			[]string{began, node("start", "a", `,"step":1`), node("start", "a", `,"step":2`), node("end", "a", `,"step":9`)},
			[]string{first, at("a#1") + "started", at("a#2") + "started", at("a#2") + "ended"}},
		{"a name that never began", []string{began, node("end", "b", `,"step":3,"duration_ms":5`)}, []string{first, at("b#3") + "ended took=5ms"}},
		{"without steps",
			[]string{began, node("start", "a", ""), node("start", "a", ""), node("end", "a", ""), node("end", "a", "")},
			[]string{first, at("a#1") + "started", at("a#2") + "started", at("a#2") + "ended", at("a#1") + "ended"}},
		{"the same again", []string{began, start, start, node("end", "a", `,"step":1`)}, []string{first, at("a#1") + "started", at("a#1") + "started", at("a#1") + "ended"}},
		{"steps and durations that are none",
			[]string{began, node("start", "a", `,"step":-1`), node("end", "a", `,"duration_ms":-1`), node("start", "b", `,"step":"2"`), node("end", "b", `,"duration_ms":1e18`)},
			[]string{first, at("a#1") + "started", at("a#1") + "ended", at("b#2") + "started", at("b#2") + "ended"}},
		{"no name, or a human's", []string{began, node("start", "", `,"step":1`), node("end", "", `,"step":1`), node("start", "user", `,"step":2`), "chunk x"},
			[]string{first, `trace session="s"`, `trace session="s"`, `trace session="s"`, `chunk session="s" partial; text "x"`}},
		{"what the graph says of a node makes it the speaker",
			[]string{began, start, node("start", "b", `,"step":2`), trace(`"message","node":"a","content":"x"`), "chunk x"},
			[]string{first, at("a#1") + "started", at("b#2") + "started", "raw withheld" + by, "chunk" + by + ` partial; text "x"`}},
	})
}

// TestCalls joins results to calls by the names of tools.
func TestCalls(t *testing.T) {
	call := func(tool, args string) string { return fmt.Sprintf(`tool_call {"name":%q,"args":%s}`, tool, args) }
	result := func(tool, value string) string {
		return fmt.Sprintf(`tool_result {"name":%q,"result":%s}`, tool, value)
	}
	failure := func(message string) string {
		return fmt.Sprintf(`debug {"level":"warn","detail":{"fields":{"message":%q,"tool.name":"f"}}}`, message)
	}
	started := "trace" + by + "; agent_started"
	callOf := "tool_call" + by + `; tool_started name="f" `
	resultOf := "tool_result" + by + `; tool_ended name="f" `
	runDecode(t, []decodeCase{
		{"as documented", []string{began, start, call("f", `{"x":1}`), result("f", `"..."`)}, []string{first, started, callOf + `{"x":1}`, resultOf + `settled "..."`}},
		{"as JSON in strings", []string{began, start, call("f", `"{\"x\":1}"`), result("f", `"[1]"`)}, []string{first, started, callOf + `{"x":1}`, resultOf + `settled [1]`}},
		{"as JSON that was cut", []string{began, start, call("f", `"{\"x\":\"lon...[truncated 812 bytes]"`)}, []string{first, started, callOf + `"{\"x\":\"lon...[truncated 812 bytes]"`}},
		{"nothing", []string{began, start, `tool_call {"name":"f"}`, `tool_result {}`}, []string{first, started, `tool_call` + by + `; tool_started name="f"`, `tool_result session="s"; tool_ended settled`}},
		{"an error", []string{began, start, call("f", `{}`), result("f", `"{\"error\":\"x\"}"`)}, []string{first, started, callOf + `{}`, resultOf + `tool_error settled {"error":"x"}`}},
		{"an error only the log tells of", []string{began, start, call("f", `{}`), failure("tool_error"), call("f", `{}`), failure("tool timed out, retrying"), call("f", `{}`), failure("x"), result("f", `1`)},
			[]string{first, started, callOf + `{}`, `debug withheld` + by + `; tool_ended name="f" tool_error settled`, callOf + `{}`, `debug withheld` + by + `; tool_ended name="f" timeout settled`,
				callOf + `{}`, `debug withheld session="s"`, resultOf + `settled 1`}},
		{"a result later than its node", []string{began, start, call("f", `{}`), trace(`"node_end","node":"a","step":1`), trace(`"node_start","node":"b","step":2`), result("f", `1`)},
			[]string{first, started, callOf + `{}`, "trace" + by + "; agent_ended", `trace session="s" agent="b" branch="b#2"; agent_started`, resultOf + `settled 1`}},
	})
}

// TestInterrupts asks and is answered on one stream.
func TestInterrupts(t *testing.T) {
	const ask = `interrupt {"type":"interrupt","node_id":"a","message":"Go on?","data":{},"thread_id":"t","checkpoint_id":"c"}`
	started := "trace" + by + "; agent_started"
	asked := "interrupt" + by + `; input_requested call="a#1" data prompt="Go on?"`
	const answered = `; input_answered call="a#1"`
	runDecode(t, []decodeCase{
		{"a word of going on", []string{began, start, ask, `resume {"type":"resume","node_id":"a"}`, end}, []string{first, started, asked, `resume session="s"` + answered, ended}},
		{"the graph's word", []string{began, start, trace(`"interrupted","node":"a"`), ask, trace(`"resumed","step":1`)},
			[]string{first, started, "raw withheld" + by + `; input_requested call="a#1" data`, "interrupt" + by, `raw withheld session="s"` + answered}},
		{"new work", []string{began, start, ask, trace(`"node_start","node":"b","step":2`)},
			[]string{first, started, asked, `trace session="s" agent="b" branch="b#2"; input_answered call="a#1"; agent_started`}},
		{"new text", []string{began, start, "chunk x", ask, "chunk xy"}, []string{first, started, "chunk" + by + ` partial; text "x"`, asked, "chunk" + by + ` partial` + answered + `; text "y"`}},
		{"the work is done", []string{began, start, ask, done, end}, []string{first, started, asked, `trace session="s"` + answered + "; final", ended}},
		{"the server only repeats itself", []string{began, start, "chunk x", ask, "chunk x", done, end},
			[]string{first, started, "chunk" + by + ` partial; text "x"`, asked, "chunk" + by + `; text "x"`, final, ended}},
		{"what the log tells is no sign", []string{began, start, ask, `tool_result {"name":"f","result":1}`, `log {"message":"x"}`, end},
			[]string{first, started, asked, `tool_result session="s"; tool_ended name="f" settled 1`, `log session="s"`, ended}},
		{"a node that nobody knows", []string{began, `interrupt {"node_id":"z"}`, `interrupt {}`, end}, []string{first, `interrupt session="s"; input_requested call="z" data`, `interrupt session="s"`, ended}},
		{"nobody at all", []string{began, `interrupt {}`}, []string{first, `interrupt session="s"; input_requested call="interrupt" data`}},
	})
}

// TestState shows names and sizes, and no value.
func TestState(t *testing.T) {
	many := make([]string, maxKeys+1)
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
		got := said(t, began, trace(`"state",`+members))
		if want == "many" {
			if strings.Count(got, `"k`) != maxKeys {
				t.Errorf("%d keys, want %d", strings.Count(got, `"k`), maxKeys)
			}
			continue
		}
		if diff := cmp.Diff(first+"\n"+`trace session="s"`+want, got); diff != "" {
			t.Errorf("%s: %s", members, diff)
		}
	}
}

// TestBounds opens more than is remembered: the rest is judged by itself.
func TestBounds(t *testing.T) {
	decoder := &decoder{}
	decode := func(name, data string) *event.Batch {
		b := &event.Batch{}
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
			t.Fatalf("node %d is %q, %q", i, b.Agent, b.Branch)
		}
		decode("tool_call", `{"name":"f","args":{}}`)
	}
	if len(decoder.nodes.open) != maxNodes || len(decoder.calls) != maxNodes {
		t.Errorf("%d nodes and %d calls are remembered, want %d", len(decoder.nodes.open), len(decoder.calls), maxNodes)
	}
	if b := decode("trace", fmt.Sprintf(`{"type":"node_end","node":"n","step":%d}`, maxNodes/2)); b.Branch != fmt.Sprintf("n#%d", maxNodes/2) {
		t.Errorf("ended %q", b.Branch)
	}
}
