package custom_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/config"
)

// example returns the mapping in testdata/delegraph.yml.
func example(t *testing.T) custom.Mapping {
	t.Helper()
	text, err := os.ReadFile("testdata/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	known := config.KnownNames{Paths: custom.CommonPaths()}
	for _, m := range custom.Meanings() {
		known.Meanings = append(known.Meanings, config.Meaning{Name: m.Name, Required: m.Required, Optional: m.Optional})
	}
	c, err := config.Parse("delegraph.yml", text, known)
	if err != nil {
		t.Fatal(err)
	}
	of := c.Sources[0].Custom
	m := custom.Mapping{Paths: of.Paths, FailureStatuses: of.Failed, EndMarker: of.End, HiddenMembers: of.Hidden, Frames: map[string]custom.Frame{}}
	for name, f := range of.Frames {
		m.Frames[name] = custom.Frame(f)
	}
	return m
}

func TestContract(t *testing.T) { dialecttest.Run(t, custom.New(example(t)), "testdata") }

// mapping returns a mapping with a frame for each meaning. A frame is named after its meaning, and each path
// leads to a member with the path's name.
func mapping() custom.Mapping {
	m := custom.Mapping{Paths: map[string]string{}, FailureStatuses: []string{"error"}, EndMarker: "[DONE]", Frames: map[string]custom.Frame{}}
	for _, name := range custom.CommonPaths() {
		m.Paths[name] = name
	}
	for _, meaning := range custom.Meanings() {
		f := custom.Frame{Means: meaning.Name, Paths: map[string]string{}}
		for _, name := range append(strings.Split(strings.Join(meaning.Required, "|"), "|"), meaning.Optional...) {
			if name != "" {
				f.Paths[name] = name
			}
		}
		m.Frames[meaning.Name] = f
	}
	m.Frames["internal:note"] = custom.Frame{Means: "answer", Paths: map[string]string{"text": "text"}}
	return m
}

// factsOf decodes frames, each given as its data, and returns a line for each fact.
func factsOf(d dialect.Dialect, frames ...string) (lines []string) {
	text := dialecttest.Facts(d, &event.Stream{ConfiguredAgent: "root"}, "data: "+strings.Join(frames, "\n\ndata: ")+"\n\n")
	for line := range strings.Lines(text) {
		if fact, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  "); is {
			lines = append(lines, fact)
		}
	}
	return lines
}

// TestMeanings checks a frame of each meaning.
func TestMeanings(t *testing.T) {
	covered := map[string]bool{}
	for _, test := range []struct {
		frame string
		want  string // facts, separated by "; "
	}{
		{`{"type":"run_started"}`, `run_started`},
		{`{"type":"run_ended","status":"ok","model":"m","input_tokens":3,"output_tokens":4}`, `run_ended model="m" input=3 output=4`},
		{`{"type":"run_ended","status":"error","code":"E_QUOTA"}`, `error agent_error code="E_QUOTA"; run_ended agent_error code="E_QUOTA"`},
		{`{"type":"run_ended","error":"ValueError: secret"}`, `error agent_error code="ValueError"; run_ended agent_error code="ValueError"`},
		{`{"type":"run_ended","error":null}`, `run_ended`},
		{`{"type":"run_ended","error":false}`, `run_ended`},
		{`{"type":"run_ended","error":""}`, `run_ended`},
		{`{"type":"run_ended","error":true}`, `error agent_error; run_ended agent_error`},
		{`{"type":"run_failed","code":503}`, `error agent_error code="503"; run_ended agent_error code="503"`},
		{`{"type":"agent_started","agent":"a"}`, `agent_started`},
		{`{"type":"agent_ended","agent":"a"}`, `agent_ended`},
		{`{"type":"agent_failed","agent":"a","code":"some words"}`, `agent_ended agent_error`},
		{`{"type":"transfer","target":"b","call":7}`, `transfer name="b" call="7"`},
		{`{"type":"transfer"}`, `other`},
		{`{"type":"tool_started","name":"f","call":"c","arguments":{"x":1}}`, `tool_started name="f" call="c" {"x":1}`},
		{`{"type":"tool_progress","call":"c","result":[1]}`, `tool_progress call="c"`},
		{`{"type":"tool_ended","call":"c","result":[1]}`, `tool_ended call="c" settled [1]`},
		{`{"type":"tool_ended","name":"f","error":{"code":"E_BUSY"}}`, `tool_ended name="f" tool_error code="E_BUSY" settled`},
		{`{"type":"tool_failed","name":"f"}`, `tool_ended name="f" tool_error settled`},
		{`{"type":"text_delta","text":"hi"}`, `text "hi"`},
		{`{"type":"text","text":"hi"}`, `text "hi"`},
		{`{"type":"text","text":7}`, `other`},
		{`{"type":"answer","agent":"User","text":"secret"}`, `other`},
		{`{"type":"answer","agent":"user","text":"1","confidence":0.9}`, `other`},
		{`{"type":"answer","agent":"a","text":"hi","confidence":0.25}`, `text "hi"; confidence name="a" {Value:0.25 Known:true Scope: Label: Topic: Overall:true Origin:structured}; final`},
		{`{"type":"thought","text":"hm"}`, `thought "hm"`},
		{`{"type":"model_ended","model":"m","finish_reason":"stop","input_tokens":-1,"output_tokens":2}`, `model_ended model="m" finish="stop" output=2`},
		{`{"type":"model_ended","input_tokens":9223372036854775807,"output_tokens":1099511627777}`, `model_ended`},
		{`{"type":"confidence","confidence":92}`, `confidence {Value:0.92 Known:true Scope: Label: Topic: Overall:true Origin:structured}`},
		{`{"type":"confidence","confidence":"0.5"}`, `confidence {Value:0.5 Known:true Scope: Label: Topic: Overall:true Origin:structured}`},
		{`{"type":"confidence","confidence":"92 %"}`, `confidence {Value:0.92 Known:true Scope: Label: Topic: Overall:true Origin:structured}`},
		{`{"type":"confidence","confidence":"Quite High"}`, `confidence {Value:0 Known:false Scope: Label:quite high Topic: Overall:true Origin:structured}`},
		{`{"type":"confidence","confidence":"7/10"}`, `confidence {Value:0.7 Known:true Scope: Label:7/10 Topic: Overall:true Origin:structured}`},
		{`{"type":"confidence","confidence":{"score":0.9,"level":"High"}}`, `confidence {Value:0.9 Known:true Scope: Label:high Topic: Overall:true Origin:structured}`},
		{`{"type":"confidence","confidence":{"timber":0.9}}`, `confidence {Value:0.9 Known:true Scope:timber Label: Topic: Overall:false Origin:structured}`},
		{`{"type":"confidence","confidence":700}`, `other`},
		{`{"type":"confidence","confidence":7}`, `other`},
		{`{"type":"confidence","confidence":1.5}`, `other`},
		{`{"type":"confidence","confidence":-1}`, `other`},
		{`{"type":"confidence","confidence":"7"}`, `other`},
		{`{"type":"confidence","confidence":"as ever"}`, `other`},
		{`{"type":"confidence","confidence":true}`, `other`},
		{`{"type":"input_requested","call":"q"}`, `input_requested call="q" clarification`},
		{`{"type":"input_answered","call":"q"}`, `input_answered call="q"`},
		{`{"type":"other"}`, `other`},
		{`[DONE]`, `run_ended`},
		{`{"type":"unmapped","text":"secret"}`, `other`},
		{`{"text":"secret"}`, `other`},
		{`{"type":["answer"],"text":"secret"}`, `other`},
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(test.frame, `{"type":"`), `"`)
		covered[name] = true
		if diff := cmp.Diff(test.want, strings.Join(factsOf(custom.New(mapping()), test.frame), "; ")); diff != "" {
			t.Errorf("the facts of %s differ (-want +got):\n%s", test.frame, diff)
		}
	}
	for _, m := range custom.Meanings() {
		if !covered[m.Name] {
			t.Errorf("no case has the meaning %s", m.Name)
		}
	}
}

// decode decodes one frame with an SSE event name.
func decode(d dialect.Dialect, name, data string) *event.Batch {
	b, s := &event.Batch{}, &event.Stream{ConfiguredAgent: "root"}
	b.Begin(s, sse.Frame{Event: []byte(name), Data: []byte(data)}, b.Received)
	refused := b.Parse(32)
	b.Table = d.Table()
	d.New(s).Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: refused}, b)
	return b
}

// TestTypes checks the type of a frame, and whether it is internal.
func TestTypes(t *testing.T) {
	inJSON, byName := mapping(), mapping()
	byName.Paths = map[string]string{"agent": "who"}
	nested := mapping()
	nested.Paths = map[string]string{"type": "event.type"}
	deep := mapping()
	deep.Paths = map[string]string{"type": "data.meta.name"}
	tools := mapping()
	tools.Frames["tool_started"] = custom.Frame{Means: "tool_started", Paths: map[string]string{"name": "tool.name", "arguments": "tool.input"}}
	for _, test := range []struct {
		name        string
		mapping     custom.Mapping
		event, data string
		want        string
		internal    bool
	}{
		{"by a member", inJSON, "", `{"type":"answer","text":"hi"}`, "answer", false},
		{"by a member, under any name", inJSON, "message", `{"type":"answer","text":"hi"}`, "answer", false},
		{"by a member within another", nested, "", `{"event":{"type":"answer"},"text":"internal affairs"}`, "answer", false},
		{"by the SSE event name", byName, "answer", `{"text":"hi"}`, "answer", false},
		{"not by another member", byName, "", `{"type":"answer"}`, "", false},
		{"unmapped", inJSON, "", `{"type":"audit"}`, "", false},
		{"internal and mapped", inJSON, "", `{"type":"internal:note"}`, "internal:note", true},
		{"internal and unmapped", inJSON, "", `{"type":"Internal:x"}`, "", true},
		{"mapped, and internal elsewhere", nested, "", `{"kind":"internal:x","event":{"type":"answer"}}`, "answer", true},
		{"an internal frame in event", inJSON, "", `{"type":"answer","text":"hi","event":{"kind":"internal:x"}}`, "answer", true},
		{"an internal frame in result", byName, "answer", `{"result":[{"type":"internal:x"}]}`, "answer", true},
		{"an internal frame in any member", inJSON, "", `{"type":"answer","data":{"type":"internal","text":"hi"}}`, "answer", true},
		{"an internal frame in a list", inJSON, "", `{"type":"answer","parts":[[{"body":{"Kind":"internal:x"}}]]}`, "answer", true},
		{"an internal event in a member", inJSON, "", `{"type":"answer","payload":{"event":"internal"}}`, "answer", true},
		{"an internal error", inJSON, "", `{"type":"run_ended","error":{"type":"internal_server_error"}}`, "run_ended", false},
		{"nested arguments", tools, "", `{"type":"tool_started","tool":{"name":"f","input":{"type":"internal"}}}`, "tool_started", false},
		{"beside nested arguments", tools, "", `{"type":"tool_started","tool":{"kind":"internal","name":"f","input":{}}}`, "tool_started", true},
		{"a tool's result", inJSON, "", `{"type":"tool_ended","name":"f","result":{"type":"internal:x"}}`, "tool_ended", false},
		{"a tool's arguments, and an internal result", inJSON, "", `{"type":"tool_started","name":"f","arguments":{"type":"internal:x"},"result":{"type":"internal:x"}}`, "tool_started", true},
		{"an internal frame within another", inJSON, "", `{"type":"answer","rawEvent":{"event":{"kind":"internal:x"}}}`, "answer", true},
		{"words in event", inJSON, "", `{"type":"answer","event":{"text":"internal affairs"}}`, "answer", false},
		{"an internal frame as kind", inJSON, "", `{"type":"answer","kind":{"kind":"internal:x"}}`, "answer", true},
		{"an internal frame within kind", byName, "answer", `{"kind":{"event":{"type":"internal:x"}}}`, "answer", true},
		{"internal beside a nested type", deep, "", `{"data":{"meta":{"name":"answer","kind":"internal:x"}}}`, "answer", true},
		{"words beside a nested type", deep, "", `{"data":{"meta":{"name":"answer","note":"internal"}}}`, "answer", false},
		{"mapped by its name, and internal", byName, "answer", `{"type":"internal:x"}`, "answer", true},
	} {
		b := decode(custom.New(test.mapping), test.event, test.data)
		if b.Type != test.want || b.Internal != test.internal {
			t.Errorf("%s: Type = %q and Internal = %t, want %q and %t", test.name, b.Type, b.Internal, test.want, test.internal)
		}
	}
}

// TestTable checks that the table has only mapped types and members, and no internal type.
func TestTable(t *testing.T) {
	m := mapping()
	m.HiddenMembers = []string{"code", "text"}
	table := custom.New(m).Table()
	if _, leaves := table.Types["internal:note"]; leaves {
		t.Error("the table has an internal type")
	}
	if len(table.Types) != len(m.Frames) { // without the internal one, with the end
		t.Errorf("the table has %d types, want %d", len(table.Types), len(m.Frames))
	}
	for name, of := range table.Types {
		for member := range of.Public.Members {
			if strings.Contains(" arguments result code text input_tokens output_tokens model finish_reason proof ", " "+member+" ") {
				t.Errorf("%s: the policy public lets out %s", name, member)
			}
		}
	}
}

// TestOverlappingPaths checks two paths to one value and a path that continues another: the stricter rule
// applies.
func TestOverlappingPaths(t *testing.T) {
	for range 20 { // the order of a map is random
		table := custom.New(custom.Mapping{Paths: map[string]string{"type": "type", "agent": "a", "run": "a.b"}, Frames: map[string]custom.Frame{
			"x": {Means: "tool_started", Paths: map[string]string{"name": "a.b.c", "call": "t"}},
			"y": {Means: "answer", Paths: map[string]string{"text": "t", "agent": "t"}},
			"z": {Means: "tool_started", Paths: map[string]string{"name": "t", "call": "t"}},
		}}).Table()
		if rule := table.Types["x"].Public.Members["a"].Members["b"]; rule.Members["c"] == nil || rule.Form != event.FormName {
			t.Fatalf("the rule for a.b is %+v, want a name with the member c", rule)
		}
		if rule := table.Types["y"].Public.Members["t"]; rule.Form != event.FormName {
			t.Fatalf("the rule for t is %+v, want a name", rule)
		} else if rule.Fact != event.KindText {
			t.Fatalf("the rule for t states %s, want a text", rule.Fact)
		}
		if rule := table.Types["z"].Public.Members["t"]; rule.Form != event.FormID {
			t.Fatalf("the rule for t is %+v, want an ID", rule)
		}
	}
}

// TestHostileMapping checks a dialect with a mapping that the configuration would reject.
func TestHostileMapping(t *testing.T) {
	d := custom.New(custom.Mapping{
		Paths:  map[string]string{"type": ".", "": "x", "agent": strings.Repeat("a.", 1000)},
		Frames: map[string]custom.Frame{"": {Means: "nothing"}, "x": {}},
	})
	for _, data := range []string{`{"":{"":""}}`, `{"":{"":"x"}}`, `[]`, `1`, ``, `{`} {
		b := decode(d, "x", data)
		if err := dialecttest.Verify(b); err != nil {
			t.Errorf("Verify() = %v after %s", err, data)
		}
	}
	if d.Detect(dialect.Frame{JSON: strictjson.Value{}}) != dialect.No {
		t.Error("Detect() recognizes a frame without JSON")
	}
}

// TestRunEnds states the end of a run several times, as a stream does that always ends in the same way. A later end does not undo a failure.
func TestRunEnds(t *testing.T) {
	const failed = `run_ended agent_error code="E_QUOTA"`
	for _, c := range []struct {
		frames []string
		want   string // the ends of runs
	}{
		{[]string{`{"type":"run_failed","code":"E_QUOTA"}`, `[DONE]`}, failed},
		{[]string{`{"type":"run_ended","status":"error","code":"E_QUOTA"}`, `{"type":"run_ended","status":"ok"}`, `[DONE]`}, failed},
		{[]string{`{"type":"run_failed","code":"E_QUOTA"}`, `{"type":"run_failed","code":"E_OTHER"}`}, failed},
		{[]string{`{"type":"run_failed","run":"1","code":"E_QUOTA"}`, `{"type":"run_ended","run":"2"}`, `{"type":"run_ended","run":"1"}`, `[DONE]`}, failed + "; run_ended"},
		{[]string{`{"type":"run_failed","code":"E_QUOTA"}`, `{"type":"run_started"}`, `[DONE]`}, failed + "; run_ended"},
		{[]string{`{"type":"run_ended"}`, `[DONE]`}, "run_ended"},
		{[]string{`{"type":"run_ended","run":"1"}`, `{"type":"run_ended","run":"2"}`, `{"type":"run_ended","run":"1"}`, `[DONE]`}, "run_ended; run_ended"},
		{[]string{`{"type":"run_ended"}`, `{"type":"run_started"}`, `{"type":"run_ended"}`}, "run_ended; run_ended"},
		{[]string{`{"type":"run_ended"}`, `{"type":"run_failed","code":"E_QUOTA"}`, `[DONE]`}, "run_ended; " + failed},
		{[]string{`{"type":"answer","text":"a"}`, `{"type":"run_ended"}`, `{"type":"answer","text":"b"}`, `{"type":"run_ended"}`, `[DONE]`}, "run_ended; run_ended"},
		{[]string{`{"type":"run_ended"}`, `{"type":"model_ended","model":"m"}`, `[DONE]`}, "run_ended"},
		{[]string{`{"type":"run_ended","run":"1"}`, `{"type":"answer","text":"b"}`, `[DONE]`}, "run_ended"},
	} {
		var ends []string
		for _, fact := range factsOf(custom.New(mapping()), c.frames...) {
			if strings.HasPrefix(fact, "run_ended") {
				ends = append(ends, fact)
			}
		}
		if got := strings.Join(ends, "; "); got != c.want {
			t.Errorf("%v ends runs as %s, want %s", c.frames, got, c.want)
		}
	}
	var many []string
	for i := range 200 {
		many = append(many, `{"type":"run_failed","run":`+strconv.Itoa(i)+`}`)
	}
	if facts := factsOf(custom.New(mapping()), append(many, `[DONE]`)...); facts[len(facts)-1] != "other" {
		t.Errorf("after many failures, the last one is forgotten: %s", facts[len(facts)-1])
	}
}

// TestUnreadableConfidence counts values that are no confidence, as those of a proof layer.
func TestUnreadableConfidence(t *testing.T) {
	for value, want := range map[string][]event.Unreadable{
		`0.9`: nil, `null`: nil, `7`: {event.UnreadableScale}, `"as ever"`: {event.UnreadableWords}, `[0.9]`: {event.UnreadableType},
	} {
		if got := decode(custom.New(mapping()), "", `{"type":"confidence","confidence":`+value+`}`).Unreadable; !cmp.Equal(got, want, cmpopts.EquateEmpty()) {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	}
}

// TestSingleRun checks that a stream of one run has one end, also if more follows.
func TestSingleRun(t *testing.T) {
	const frames = "data: {\"type\":\"run_ended\"}\n\ndata: {\"type\":\"answer\",\"text\":\"b\"}\n\ndata: [DONE]\n\n"
	if facts := dialecttest.Facts(custom.New(mapping()), &event.Stream{SingleRun: true}, frames); strings.Count(facts, "  run_ended") != 1 {
		t.Errorf("the facts are\n%s", facts)
	}
}

// TestRunIDs checks which run and session a frame belongs to. A frame without them belongs to those of the frame before.
func TestRunIDs(t *testing.T) {
	for next, want := range map[string]string{
		``: "a", `null`: "a", `""`: "a", `"b"`: "b", `7`: "7", `7.0`: "7", `70e-1`: "7", `1e400`: "1e400", `18446744073709551610`: "18446744073709551610", `1.5`: "1.5", `true`: "", `{"id":1}`: "", `[1]`: "",
	} {
		members := ""
		if next != "" {
			members = `,"run":` + next + `,"session":` + next
		}
		facts := dialecttest.Facts(custom.New(mapping()), &event.Stream{}, `data: {"type":"other","run":"a","session":"a"}`+"\n\n"+`data: {"type":"other"`+members+"}\n\n")
		fields := ""
		if want != "" {
			fields = ` run="` + want + `" session="` + want + `"`
		}
		if want := "2 other" + fields + "\n"; !strings.Contains(facts, want) {
			t.Errorf("with %q, the facts are\n%s\nwant %s", next, facts, want)
		}
	}
	if b := decode(custom.New(mapping()), "", `{"type":"answer","agent":7,"text":"hi"}`); b.Agent != "7" {
		t.Errorf("the agent 7 is %q", b.Agent)
	}
}
