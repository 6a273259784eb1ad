package langgraph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// frame returns a frame as on the wire.
func frame(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

// facts decodes a stream and returns a line for each fact, without the run's start.
func facts(s *event.Stream, frames ...string) (lines []string) {
	all := dialecttest.Facts(Dialect{}, s, frame("metadata", started)+strings.Join(frames, ""))
	for _, line := range strings.Split(all, "\n")[3:] {
		if line = strings.TrimSpace(strings.ReplaceAll(line, ` run=`+runID, "")); line != "" && line != "other" && !strings.HasPrefix(line, "state ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// chunk is a frame of the mode messages-tuple.
func chunk(namespace, message string) string {
	name := "messages"
	if namespace != "" {
		name += "|" + namespace
	}
	return frame(name, `[{"type":"AIMessageChunk","id":"lc_run--1",`+message+`},{"langgraph_node":"model"}]`)
}

const delegation = `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"","name":"boss","tool_calls":[{"name":"task","id":"c1","args":{"subagent_type":"expert"}}]}]}}`

const chainResult = `{"type":"tool","id":"m1","tool_call_id":"c1","content":"no","status":"error"}`

// chain is an event of a node, with a member of its data.
func chain(kind, member, data string) string {
	return frame("events", `{"event":"`+kind+`","name":"tools","data":{"`+member+`":`+data+`},"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:1"}}`)
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"an older server marks no last piece", []string{
			chunk("", `"content":"Hi"`), chunk("", `"content":"","response_metadata":{"finish_reason":"stop","model_name":"m"}`),
		}, []string{"2 messages partial", "model_started", `text "Hi"`, "3 messages", `text "Hi"`, `model_ended model="m" finish="stop" unmetered`, "final"}},
		{"usage after the finish reason", []string{chunk("", `"content":"Hi","response_metadata":{"finish_reason":"stop"}`), chunk("", `"content":"","usage_metadata":{"input_tokens":25,"output_tokens":10}`), chunk("", `"content":"","usage_metadata":{"input_tokens":25,"output_tokens":10}`)},
			[]string{"2 messages", "model_started", `text "Hi"`, `model_ended finish="stop" unmetered`, "final", "3 messages", "usage input=25 output=10", "4 messages"}},
		{"usage in the first state", []string{chunk("", `"content":"Hi","response_metadata":{"finish_reason":"stop"}`), frame("values", `{"messages":[{"type":"ai","id":"lc_run--1","content":"Hi","usage_metadata":{"input_tokens":25,"output_tokens":10}}]}`)},
			[]string{"2 messages", "model_started", `text "Hi"`, `model_ended finish="stop" unmetered`, "final", "3 values", "usage input=25 output=10"}},
		{"an older server with a model of Bedrock", []string{chunk("", `"content":"Hi"`), chunk("", `"content":"","response_metadata":{"stopReason":"end_turn"}`)},
			[]string{"2 messages partial", "model_started", `text "Hi"`, "3 messages", `text "Hi"`, `model_ended finish="end_turn" unmetered`, "final"}},
		{"a filter stops an answer", []string{chunk("", `"content":"Hi","response_metadata":{"finish_reason":"SAFETY"}`)},
			[]string{"2 messages", "model_started", `text "Hi"`, `model_ended finish="SAFETY" model_error code="SAFETY" unmetered`, "final"}},
		{"a filter stops a response", []string{chunk("", `"content":"Hi","response_metadata":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`)},
			[]string{"2 messages", "model_started", `text "Hi"`, `model_ended finish="content_filter" model_error code="content_filter" unmetered`, "final"}},
		{"a message of a node is no model's", []string{frame("updates", `{"a":{"messages":[{"type":"ai","id":"x","content":"Hi"}]}}`)},
			[]string{"2 updates", `text "Hi"`, "final"}},
		{"blocks", []string{frame("updates", `{"a":[{"messages":{"type":"ai","id":"x","content":[{"type":"thinking","thinking":"Hm"},"Hi",{"type":"text","text":" you"},{"type":"image"}]}}]}`)},
			[]string{"2 updates", `thought "Hm"`, `text "Hi you"`, "final"}},
		{"a subagent by the only open call", []string{frame("updates", delegation), frame("updates|tools:t1", `{"model":{"messages":[{"type":"ai","id":"run-2","content":"Hi"}]}}`)},
			[]string{
				`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`,
				`3 updates agent="expert" branch="tools:t1" within="c1"`, `text "Hi"`, "model_ended", "final",
			}},
		{"the start of a subagent's task", []string{frame("updates", delegation), frame("tasks|tools:t1", `{"id":"2","name":"model","input":{},"triggers":[]}`)},
			[]string{`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`, `3 tasks agent="expert" branch="tools:t1" within="c1"`, "iteration"}},
		{"a refused subagent", []string{frame("updates", delegation), frame("updates", `{"tools":{"messages":[{"type":"tool","tool_call_id":"c1","content":"We cannot invoke subagent expert because it does not exist"}]}}`)},
			[]string{
				`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`,
				`3 updates agent="boss"`, `tool_ended name="task" call="c1" tool_error settled no_agent "We cannot invoke subagent expert because it does not exist"`,
			}},
		{"an attempt that is given up", []string{
			chunk("", `"content":"par"`), frame("updates", `{"a":{"messages":[{"type":"ai","id":"run-3","content":"","tool_calls":[{"name":"f","id":"c1","args":{}}]}]}}`),
			frame("metadata", `{"run_id":`+runID+`,"attempt":2}`), frame("updates", `{"a":{"messages":[{"type":"ai","id":"run-4","content":"Hi"}]}}`),
		}, []string{
			"2 messages partial", "model_started", `text "par"`, `3 updates response="run-3"`, "model_ended", `tool_started name="f" call="c1" {}`, "4 metadata",
			"5 updates", "model_ended canceled", `tool_ended name="f" call="c1" canceled settled`, `text "Hi"`, "model_ended", "final",
		}},
		{"an attempt that resumes a call", []string{
			frame("updates", `{"a":{"messages":[{"type":"ai","id":"run-3","content":"","tool_calls":[{"name":"f","id":"c1","args":{}}]}]}}`),
			frame("metadata", `{"run_id":`+runID+`,"attempt":2}`), frame("updates", `{"tools":{"messages":[{"type":"tool","tool_call_id":"c1","content":""}]}}`),
			frame("updates", `{"a":{"messages":[{"type":"ai","id":"run-4","content":"Hi"}]}}`),
		}, []string{
			"2 updates", "model_ended", `tool_started name="f" call="c1" {}`, "3 metadata", "4 updates", `tool_ended name="f" call="c1" settled ""`,
			"5 updates", `text "Hi"`, "model_ended", "final",
		}},
		{"a failed tool", []string{frame("updates", delegation), frame("updates", `{"tools":{"messages":[{"type":"tool","tool_call_id":"c1","status":"error","content":"ValueError: secret"}]}}`)},
			[]string{
				`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`,
				`3 updates agent="boss"`, `tool_ended name="task" call="c1" tool_error code="ValueError" settled "ValueError: secret"`,
			}},
		{"what earlier runs said is not said again", []string{frame("values", `{"messages":[{"type":"ai","id":"run-0","content":"old"}]}`), frame("values", `{"messages":[{"type":"ai","id":"run-0","content":"old"},{"type":"ai","id":"x","content":"new"}]}`)},
			[]string{"2 values", "3 values", `text "new"`, "final"}},
		{"a breakpoint", []string{frame("updates", `{"__interrupt__":[]}`)}, []string{"2 updates", "input_requested call=" + runID + " confirmation"}},
		{"a question about a call", []string{frame("updates", delegation), frame("updates", `{"__interrupt__":[{"id":"q","value":`+inboxRequest+`}]}`)},
			[]string{
				`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`,
				`3 updates agent="boss"`, `tool_paused call="c1"`, `input_requested call="q" confirmation prompt="secret"`,
			}},
		{"questions about calls", []string{frame("updates", `{"__interrupt__":[{"id":"q","value":[`+inboxRequest+`]}]}`)}, []string{"2 updates", `input_requested call="q" confirmation prompt="secret"`}},
		{"one question in several modes", []string{frame("updates", `{"__interrupt__":[{"id":"q","value":"Which?"}]}`), frame("values", `{"__interrupt__":[{"id":"q","value":"Which?"}]}`)},
			[]string{"2 updates", `input_requested call="q" clarification prompt="Which?"`, "3 values"}},
		{"a plan", []string{frame("updates", `{"tools":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}}`), frame("updates", `{"x":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}}`)},
			[]string{"2 updates", "plan {Pending:1 InProgress:0 Completed:1 Canceled:0}", "3 updates"}},
		{"canceled", []string{frame("error", `{"error":"UserInterrupt","message":"x"}`)}, []string{"2 error", "error canceled", "run_ended canceled"}},
		{"a graph's own timeout", []string{frame("error", `{"error":"TimeoutError","message":""}`)}, []string{"2 error", `error agent_error code="TimeoutError"`, `run_ended agent_error code="TimeoutError"`}},
		{"an unreadable error", []string{"event: error\ndata: {\n\n"}, []string{"2 - rejected=truncated", "error agent_error", "run_ended agent_error"}},
		{"the thread's stream ends runs", []string{frame("metadata", `{"run_id":`+runID+`,"status":"run_done"}`)}, []string{"2 metadata", "run_ended"}},
		{"any state", []string{frame("values", `"x"`), frame("custom", `1`), frame("updates", `[1]`)}, []string{"2 values", "3 custom", "4 updates"}},
		{"a name of the event that is unknown", []string{frame("telemetry", `{}`)}, []string{"2 -"}},
		{"a graph within a graph that has not spoken", []string{
			frame("updates|a:1|b:2|c:3", `{"model":{"messages":[`+by("", "lc_run--1", "x")+`]}}`), frame("updates|a:1", `{"b":{"x":1}}`), frame("updates", `{"a":{"x":1}}`),
		}, []string{
			`2 updates step="c" branch="c:3" parent="b:2" around="b:2" around="a:1"`, `text "x"`, `model_ended`, `final`,
			`3 updates step="b" branch="b:2" parent="a:1" around="a:1"`, `agent_ended`, `4 updates step="a" branch="a:1"`, `agent_ended`,
		}},
		{"a result from the cache", []string{frame("updates", `{"a":{"messages":[{"type":"ai","id":"run-1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}}]},{"type":"tool","id":"m1","tool_call_id":"c1","content":"x"},`+
			`{"type":"ai","id":"run-2","content":"Hi","usage_metadata":{"input_tokens":1}}]},"__metadata__":{"cached":true}}`), frame("updates", `{"a":{"messages":[`+by("", "run-3", "x")+`]}}`)},
			[]string{"2 updates", `text "Hi"`, "final", "3 updates", `text "x"`, "model_ended", "final"}},
		{"a result that only the event of a node has", []string{
			frame("updates", delegation), chain("on_chain_stream", "chunk", `{"messages":[`+chainResult+`]}`), chain("on_chain_end", "output", `{"messages":[`+chainResult+`]}`)},
			[]string{
				`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`,
				`3 events agent="boss"`, `tool_ended name="task" call="c1" tool_error settled "no"`, "4 events",
			}},
		{"a result in a command that only the event of a node has", []string{frame("updates", delegation), chain("on_chain_end", "output", `[{"update":{"messages":[`+chainResult+`]}}]`)},
			[]string{
				`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`,
				`3 events agent="boss"`, `tool_ended name="task" call="c1" tool_error settled "no"`,
			}},
		{"a result of another call, and one in the input", []string{
			frame("updates", delegation), chain("on_chain_end", "output", `{"messages":[`+strings.Replace(chainResult, "c1", "c2", 1)+`]}`), chain("on_chain_end", "input", `{"messages":[`+chainResult+`]}`)},
			[]string{`2 updates agent="boss"`, "model_ended", `tool_started name="task" call="c1" {"subagent_type":"expert"}`, "3 events", "4 events"}},
		{"an internal event", []string{frame("custom", `{"type":"internal:x"}`)}, []string{"2 custom internal"}},
		{"an internal node", []string{frame("updates", `{"Internal_check":{}}`)}, []string{"2 updates"}},
		{"an instruction", []string{frame("updates", `{"a":{"messages":[{"type":"system","content":"x"}]}}`), frame("custom", `[["system","x"]]`)}, []string{"2 updates", "3 custom internal"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := facts(nil, c.frames...)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "rejected=syntax", "rejected=truncated")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestResumes checks that a request that resumes a run says so once.
func TestResumes(t *testing.T) {
	s := &event.Stream{Identity: event.Identity{Answers: []string{resumes}}}
	if all := dialecttest.Facts(Dialect{}, s, frame("metadata", started)+frame("metadata", started)); strings.Count(all, "run_started resumes") != 1 {
		t.Errorf("facts are\n%s", all)
	}
}

// TestBounds opens more of everything than is remembered.
func TestBounds(t *testing.T) {
	d := (Dialect{}).New(&event.Stream{}).(*decoder)
	decode := func(name, data string) {
		b := new(event.Batch)
		f := frameOf(name, data)
		b.Begin(&event.Stream{}, f.Frame, time.Time{})
		b.Parse(200)
		d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
	}
	for i := range 2 * maxSeen {
		decode("updates", fmt.Sprintf(`{"a":{"messages":[{"type":"ai","id":"%d","content":"x"}]}}`, i))
	}
	if len(d.seen) != maxSeen {
		t.Errorf("%d ids are remembered", len(d.seen))
	}
	d.seen = nil
	for i := range 2 * maxScopes {
		decode(fmt.Sprintf("updates|a:%d", i), `{}`)
		decode("messages", fmt.Sprintf(`[{"type":"AIMessageChunk","id":"%d","content":"x"},{}]`, i))
		decode("messages/metadata", fmt.Sprintf(`{"m%d":{"metadata":{}}}`, i))
		decode("tasks", fmt.Sprintf(`{"id":"%d","name":"tools","input":{"tool_call":{"id":"%d"}}}`, i, i))
	}
	for i := range 2 * maxOpenCalls {
		decode("updates", fmt.Sprintf(`{"a":{"messages":[{"type":"ai","id":"c%d","content":"","tool_calls":[{"id":"c%d","name":"f"}]}]}}`, i, i))
	}
	if len(d.scopes) != maxScopes || len(d.open) != maxOpen || len(d.announced) > maxOpen || len(d.taskCall) != maxOpenCalls || len(d.calls) != maxOpenCalls {
		t.Errorf("%d graphs, %d messages, %d announcements, %d tasks and %d calls are remembered", len(d.scopes), len(d.open), len(d.announced), len(d.taskCall), len(d.calls))
	}
	decode("updates"+strings.Repeat("|a", 1<<20), `{}`)
	decode("messages", `[{"type":"AIMessageChunk","id":"0","content":"","tool_call_chunks":[{"id":"c","name":"f","args":"`+strings.Repeat("x", 2*maxArguments)+`"}]},{}]`)
	if args := d.open["0"].calls[0].args; len(args) > maxArguments {
		t.Errorf("%d bytes of arguments are kept", len(args))
	}
}

// TestPolicies checks what leaves of frames with something of each kind.
func TestPolicies(t *testing.T) {
	const (
		history = `{"type":"human","content":"QUESTION","id":"0"},{"type":"tool","content":"RESULT","tool_call_id":"c","name":"f","status":"success","id":"2"}`
		answer  = `{"type":"ai","content":[{"type":"thinking","thinking":"THOUGHT"},{"type":"text","text":"Hi"}],"id":"lc_run--1","name":"a","tool_calls":[{"name":"f","args":{"x":"ARGUMENT"},"id":"c","type":"tool_call"}],"usage_metadata":{"input_tokens":1}}`
	)
	for _, c := range []struct{ name, data, client, public string }{
		{"values", `{"messages":[{"type":"system","content":"PROMPT"},` + history + `],"secret":"STATE"}`,
			`{"messages":[` + history + `],"secret":"STATE"}`,
			`{"messages":[{"type":"human","content":"","id":"0"},{"type":"tool","content":"","tool_call_id":"c","name":"f","status":"success","id":"2"}]}`},
		{"updates|a:1", `{"a":{"messages":[` + answer + `],"secret":"STATE"}}`, `{"a":{"messages":[` + answer + `],"secret":"STATE"}}`,
			`{"a":{"messages":[{"type":"ai","content":[{"type":"text","text":"Hi"}],"id":"lc_run--1","name":"a","tool_calls":[{"name":"f","args":{},"id":"c","type":"tool_call"}]}]}}`},
		{"messages", `[` + history[:len(`{"type":"human","content":"QUESTION","id":"0"}`)] + `,{"langgraph_node":"n"}]`, `[` + history[:len(`{"type":"human","content":"QUESTION","id":"0"}`)] + `,{"langgraph_node":"n"}]`, `[{"langgraph_node":"n"}]`},
		{"updates", `{"a":{"messages":[["developer","PROMPT"]]}}`, `{"a":{"messages":[]}}`, `{"a":{"messages":[]}}`},
		{"events", `{"event":"on_chat_model_start","data":{"input":{"messages":[[{"type":"system","content":"PROMPT"}]]}}}`, "", ""},
		{"events", `{"event":"on_chain_start","data":{}}`, `{"event":"on_chain_start","data":{}}`, ""},
		{"custom", `"SECRET"`, `"SECRET"`, ""},
		{"feedback", `{"k":"https://SECRET"}`, `{"k":"https://SECRET"}`, ""},
		{"error", `{"error":"ValueError","message":"SECRET"}`, `{"error":"ValueError","message":"SECRET"}`, `{"error":"Error","message":"the run failed"}`},
		{"error", `{"error":"UserInterrupt","message":"SECRET"}`, `{"error":"UserInterrupt","message":"SECRET"}`, `{"error":"UserInterrupt","message":"the run failed"}`},
		{"updates", `{"__interrupt__":[{"id":"q","value":{"question":"Which?","secret":"STATE"}}]}`, `{"__interrupt__":[{"id":"q","value":{"question":"Which?","secret":"STATE"}}]}`, `{"__interrupt__":[{"id":"q","value":{"question":"Which?"}}]}`},
		{"updates", `{"__interrupt__":[{"value":[` + inboxRequest + `]}]}`, `{"__interrupt__":[{"value":[` + inboxRequest + `]}]}`, `{"__interrupt__":[{"value":[{"action_request":{"action":"task"},"config":{"allow_accept":true,"allow_edit":false}}]}]}`},
		{"telemetry", `{}`, "", ""},
	} {
		for policy, want := range map[event.Policy]string{event.PolicyClient: c.client, event.PolicyPublic: c.public} {
			s := &event.Stream{}
			b := new(event.Batch)
			f := frameOf(c.name, c.data)
			b.Begin(s, f.Frame, time.Time{})
			b.Parse(200)
			b.Table = (Dialect{}).Table()
			(Dialect{}).New(s).Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
			thoughts := event.ThoughtsNone
			if policy == event.PolicyClient {
				thoughts = event.ThoughtsDetailed
			}
			got, _ := filter.New(filter.Settings{Policy: policy, Thoughts: thoughts}).Apply(b)
			if string(got.Data) != want || want != "" && got.Name != c.name {
				t.Errorf("%s of %s %s: %s %s, want %s", policy, c.name, c.data, got.Name, got.Data, want)
			}
		}
	}
}
