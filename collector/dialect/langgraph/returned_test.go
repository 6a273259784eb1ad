package langgraph

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const (
	madeByModel = `{"type":"ai","id":"lc_run--1","content":"Hi","response_metadata":{"finish_reason":"stop","model_name":"m"},"tool_calls":[]}`
	madeByCode  = `{"type":"ai","id":null,"content":"code","tool_calls":[]}`
)

// TestLateMessages has a node return messages of a graph that the stream does not show. They come when the node ends.
func TestLateMessages(t *testing.T) {
	const calls = `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}}],"response_metadata":{"finish_reason":"tool_calls"}}`
	const place, model = `"langgraph_node":"a","langgraph_checkpoint_ns":"a:1"`, `,"ls_provider":"openai","ls_model_type":"chat"`
	late, inTime := []string{"model_ended finish=\"tool_calls\" uncertain", `tool_started name="f" call="c1" {}`}, []string{"model_ended finish=\"tool_calls\"", `tool_started name="f" call="c1" {}`}
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"messages-tuple": {[]string{frame("messages", `[`+calls+`,{`+place+`}]`)}, late},
		"messages":       {[]string{frame("messages/metadata", `{"lc_run--1":{"metadata":{`+place+`}}}`), frame("messages/complete", `[`+calls+`]`)}, late},
		"a model's run":  {[]string{frame("messages", `[`+calls+`,{`+place+model+`}]`)}, inTime},
		"a state":        {[]string{frame("updates", `{"a":{"messages":[`+calls+`]}}`)}, inTime},
		"a node's code":  {[]string{frame("messages", `[`+strings.NewReplacer("lc_run--1", "m1", `"finish_reason":"tool_calls"`, "").Replace(calls)+`,{`+place+`}]`)}, inTime[1:]},
		"a response that came in pieces": {[]string{
			frame("messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":""},{`+place+model+`}]`), frame("messages", `[`+calls+`,{`+place+`}]`),
		}, inTime},
	} {
		got := slices.DeleteFunc(facts(nil, c.frames...), func(line string) bool {
			return !strings.HasPrefix(line, "model_ended") && !strings.HasPrefix(line, "tool")
		})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCallsThatComeTogether has a node return a call of a model, alone or with its result. Nothing says when the tool of the latter began.
func TestCallsThatComeTogether(t *testing.T) {
	const call = `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}}],"response_metadata":{"finish_reason":"tool_calls"}}`
	const result, place, model = `{"type":"tool","id":"t1","tool_call_id":"c1","content":"x"}`, `{"langgraph_node":"a","langgraph_checkpoint_ns":"a:1"}`, `{"langgraph_node":"a","ls_model_type":"chat"}`
	for _, c := range []struct {
		name, metadata string
		gap            time.Duration
		noClock, want  bool
	}{
		{"a node's messages", place, 0, false, true},
		{"a node's messages in two reads", place, 200 * time.Microsecond, false, true},
		{"the result of a later node", place, 3 * time.Second, false, false},
		{"a quick tool of a model's call", model, 200 * time.Microsecond, false, false},
		{"a recording", place, 0, true, false},
	} {
		d, b, s := (Dialect{}).New(&event.Stream{}), new(event.Batch), new(event.Stream)
		for i, one := range []sent{{"metadata", started}, {"messages", `[` + call + `,` + c.metadata + `]`}, {"messages", `[` + result + `,` + place + `]`}} {
			received := time.Unix(1, 0).Add(time.Duration(i) * c.gap)
			if c.noClock {
				received = time.Time{}
			}
			b.Begin(s, frameOf(one.name, one.data).Frame, received)
			b.Parse(200)
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
		}
		i := slices.IndexFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindToolEnded })
		if i < 0 || b.Events[i].StartUnknown != c.want {
			t.Errorf("%s: %+v, want StartUnknown %v", c.name, b.Events, c.want)
		}
	}
}

// TestReturnedMessages has a node or a function return messages that are in no state. An entrypoint repeats what its task has
// returned. The public reads the same.
func TestReturnedMessages(t *testing.T) {
	asked := `{"type":"human","id":"h1","content":"?"}`
	for name, c := range map[string]struct{ mode, data, public string }{
		"a message":                 {"updates", `{"ask":%}`, `{"ask":%}`},
		"a list":                    {"updates", `{"ask":[%]}`, `{"ask":[%]}`},
		"a list with a node's own":  {"updates", `{"ask":[` + madeByCode + `,%]}`, `{"ask":[{"type":"ai","content":"code","tool_calls":[]},%]}`},
		"a tuple":                   {"updates", `{"ask":[%,3]}`, `{"ask":[%]}`},
		"a state":                   {"updates", `{"ask":{"messages":[%],"n":"x"}}`, `{"ask":{"messages":[%]}}`},
		"updates and a message":     {"updates", `{"ask":[{"n":"x"},{"messages":%},%]}`, `{"ask":[{"messages":%},%]}`},
		"the end of a function":     {"values", `%`, `%`},
		"a state that is a list":    {"values", `[` + asked + `,%]`, `[{"type":"human","id":"h1","content":""},%]`},
		"the task of a function":    {"tasks", `{"id":"t1","name":"ask","result":{"__return__":%},"interrupts":[]}`, ""},
		"the task of an entrypoint": {"tasks", `{"id":"t1","name":"flow","result":{"__end__":[%]},"interrupts":[]}`, ""},
		"several writes":            {"tasks", `{"id":"t1","name":"ask","result":{"messages":{"$writes":[` + madeByCode + `,[%]]}},"interrupts":[]}`, ""},
		"writes with an Overwrite":  {"tasks", `{"id":"t1","name":"ask","result":{"messages":{"$writes":[{"type":"__overwrite__","value":[%]},` + madeByCode + `]}},"interrupts":[]}`, ""},
		"several writes of a root":  {"tasks", `{"id":"t1","name":"ask","result":{"__root__":{"$writes":[3,[%]]}},"interrupts":[]}`, ""},
		"several writes in debug":   {"debug", `{"type":"task_result","step":1,"timestamp":"2026-01-01T00:00:00Z","payload":{"id":"t1","name":"a","result":{"messages":{"$writes":[%,[]]}},"interrupts":[]}}`, ""},
		"the task of a node":        {"debug", `{"type":"task_result","step":1,"timestamp":"2026-01-01T00:00:00Z","payload":{"id":"t1","name":"a","result":{"__root__":[%]},"interrupts":[]}}`, ""},
	} {
		one := sent{c.mode, strings.ReplaceAll(c.data, "%", madeByModel)}
		stream := []string{frame(one.name, one.data)}
		if strings.Contains(one.data, asked) {
			stream = append([]string{frame("values", `[`+asked+`]`)}, stream...)
		}
		isOther := func(line string) bool { return !strings.HasPrefix(line, "text") && !strings.HasPrefix(line, "model") }
		for range 2 {
			if diff := cmp.Diff([]string{`text "Hi"`, `model_ended model="m" finish="stop"`}, slices.DeleteFunc(facts(nil, stream...), isOther)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			stream = append(stream, frame("updates", `{"flow":`+madeByModel+`}`))
		}
		want := ""
		if c.public != "" {
			want = c.mode + " " + strings.ReplaceAll(c.public, "%", madeByModel) + "\n"
		}
		if out := leaving(public, one); !strings.HasSuffix(out, "}\n"+want) || want == "" && strings.Contains(out, "Hi") {
			t.Errorf("%s: this leaves to the public, not %s:\n%s", name, want, out)
		}
		if found := dialecttest.Invented(Dialect{}, frame("metadata", started)+strings.Join(stream, ""), through(public.Policy)); len(found) > 0 {
			t.Errorf("%s: the public stream states %q", name, found)
		}
	}
}

// TestReturnedInternals returns what must not leave.
func TestReturnedInternals(t *testing.T) {
	hidden := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Authors: []string{"other"}}
	noText := filter.Settings{Policy: event.PolicyPublic, Exclude: []event.Kind{event.KindText}}
	for _, of := range []string{said(""), `[` + said("") + `]`, `[` + said("") + `,3]`} {
		for _, one := range []sent{{"updates", `{"flow":` + of + `}`}, {"values", of}} {
			checkStaysIn(t, []filter.Settings{client, public}, sent{one.name, strings.ReplaceAll(one.data, `"ai"`, `"system"`)})
			checkStaysIn(t, []filter.Settings{hidden, noText}, one)
		}
	}
	for _, one := range []string{`{"type":"system","content":"secret"}`, `["system","secret"]`} {
		checkStaysIn(t, []filter.Settings{client, public}, sent{"tasks", `{"id":"1","name":"a","result":{"messages":{"$writes":[` + one + `,[]]}},"interrupts":[]}`})
		checkStaysIn(t, []filter.Settings{client, public}, sent{"tasks", `{"id":"1","name":"a","result":{"messages":{"$writes":[[],[` + one + `]]}},"interrupts":[]}`})
	}
	result := `{"type":"tool","id":"t1","tool_call_id":"c1","content":"secret"}`
	for _, one := range []sent{{"updates", `{"f":` + result + `}`}, {"updates", `{"f":[` + result + `]}`}, {"values", result}, {"values", `[` + result + `]`}, {"updates", `{"f":"secret"}`}, {"values", `"secret"`}} {
		checkStaysIn(t, []filter.Settings{public}, one)
	}
}

// TestFunctionsOfGraph checks that a function runs in the graph of its caller, and a node that is sent work in its own.
func TestFunctionsOfGraph(t *testing.T) {
	const send, call = `["__pregel_push",0,false]`, `["__pregel_push",["__pregel_push",["__pregel_pull","flow"],0,true],0,true]`
	for _, c := range []struct{ path, namespace, want string }{
		{`["__pregel_push",["__pregel_pull","flow"],0,true]`, "flow:1|ask:2", "2 messages partial"},
		{call, "flow:1|nested:2|ask:3", "2 messages partial"},
		{call, "desk:0|flow:1|nested:2|ask:3", `2 messages step="desk" branch="desk:0" partial`},
		{send, "desk:1|ask:2", `2 messages step="desk" branch="desk:1" partial`},
		{`["__pregel_push",["__pregel_pull","flow"],0,false]`, "desk:1|ask:2", `2 messages step="desk" branch="desk:1" partial`},
		{`["__pregel_pull","ask"]`, "desk:1|ask:2", `2 messages step="desk" branch="desk:1" partial`},
		{`null`, "desk:1|ask:2", `2 messages step="desk" branch="desk:1" partial`},
	} {
		got := facts(nil, frame("messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"Hi"},{"langgraph_path":`+c.path+`,"langgraph_checkpoint_ns":"`+c.namespace+`"}]`))
		if got[0] != c.want {
			t.Errorf("at %s in %s: %s, not %s", c.path, c.namespace, got[0], c.want)
		}
	}
}

// TestReturnedAnswers checks which answers in the output of a node count in the mode events.
func TestReturnedAnswers(t *testing.T) {
	const (
		answer = `{"type":"ai","id":"x","content":"Sorry"}`
		asks   = `{"type":"ai","id":"x","content":"Sorry","tool_calls":[{"name":"f","id":"c1","args":{}}]}`
		model  = `{"type":"ai","id":"lc_run--1","content":"Sorry"}`
	)
	list := func(messages string) string { return `{"messages":[` + messages + `]}` }
	for _, c := range []struct {
		name, kind, input, output string
		counts                    bool
	}{
		{"an answer", "end", list(""), list(answer), true},
		{"an answer in a command", "end", list(""), `[{"graph":null,"update":` + list(answer) + `}]`, true},
		{"a single message", "end", list(""), answer, true},
		{"an answer of the input", "end", list(answer), list(answer), false},
		{"an answer, without the input", "end", "", list(answer), false},
		{"a piece of the output", "stream", list(""), list(answer), false},
		{"a model's answer", "end", list(""), list(model), false},
		{"a call", "end", list(""), list(asks), false},
		{"a message that is no answer", "end", list(""), list(`{"type":"human","id":"x","content":"Sorry"}`), false},
	} {
		data := `"data":{"output":` + c.output + `,"input":` + c.input + `},`
		if c.input == "" {
			data = `"data":{"output":` + c.output + `},`
		}
		got := lastFacts([]string{node(c.kind, "ok", "1", "1", data), node(c.kind, "ok", "1", "1", data)}, "text", "model_ended", "tool_started")
		want := []string{}
		if c.counts {
			want = []string{`text "Sorry"`}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestRejectedCall checks that the mode events has the result of a call that a reviewer rejected, in the run that resumes.
func TestRejectedCall(t *testing.T) {
	const (
		asked    = `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}},{"name":"g","id":"c2","args":{}}]}`
		rejected = `{"type":"tool","id":"m2","name":"f","tool_call_id":"c1","content":"no","status":"error"}`
		ended    = `tool_ended name="f" call="c1" tool_error settled "no"`
	)
	for _, c := range []struct {
		name, input, output string
		want                []string
	}{
		{"a rejected call", asked, asked + `,` + rejected, []string{ended}},
		{"a result of the input", asked + `,` + rejected, asked + `,` + rejected, nil},
		{"a result of another call", asked, asked + `,` + strings.Replace(rejected, "c1", "c3", 1), nil},
		{"a result without its response", asked, rejected, nil},
		{"a result of a new response", "", asked + `,` + rejected, nil},
	} {
		data := `"data":{"output":{"messages":[` + c.output + `]},"input":{"messages":[` + c.input + `]}},`
		one := node("end", "HumanInTheLoopMiddleware.after_model", "1", "1", data)
		if got := lastFacts([]string{node("end", "other", "1", "1", data)}, "tool_ended"); len(got) > 0 {
			t.Errorf("%s, in a node that is no hook: %q", c.name, got)
		}
		if diff := cmp.Diff(c.want, lastFacts([]string{one, one}, "tool_ended"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
