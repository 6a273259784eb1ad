package adkstudio_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// stays is what leaves of a frame that stays in.
const stays = "stays in"

// whole is what the protocol's own client gets: all.
const whole = "whole"

// policyCase is a frame, given as "name data", and what each reader gets of it. Nothing that is called secret may reach the public.
type policyCase struct{ sent, client, public string }

// TestPoliciesOfText sends frames of plain text.
func TestPoliciesOfText(t *testing.T) {
	testPolicies(t, []policyCase{
		{"session secret", whole, stays},
		{"chunk Hello\n  world", whole, "chunk Hello\n  world"},
		{`chunk {"type":"internal:x"}`, whole, `chunk {"type":"internal:x"}`},
		{"chunk 123", whole, "chunk 123"},
		{"agent writer", whole, "agent writer"},
		{"error secret at https://example.org/?key=secret", whole, "error the run failed"},
		{"end ", whole, "end "},
	})
}

// TestPoliciesOfObjects sends frames of JSON, and what no reader is to get.
func TestPoliciesOfObjects(t *testing.T) {
	testPolicies(t, []policyCase{
		{`trace {"type":"node_start","node":"a","step":1,"state_snapshot":{"input":{"q":"secret"},"output":{}},"state_keys":["secret"]}`, whole,
			`trace {"type":"node_start","node":"a","step":1,"state_snapshot":{"output":{}}}`},
		{`trace {"type":"node_end","node":"a","step":1,"duration_ms":5,"state_snapshot":{"input":{"q":"secret"},"output":{"q":"secret"}},"state_keys":["secret"]}`, whole,
			`trace {"type":"node_end","node":"a","step":1,"duration_ms":5}`},
		{`trace {"type":"state","state_snapshot":{"input":{},"output":{"r":"secret"}},"state":{"r":"secret"}}`, whole, `trace {"type":"state","state_snapshot":{"input":{}}}`},
		{`trace {"type":"done","total_steps":2,"state_snapshot":{"input":{},"output":{"r":"secret"}}}`, whole, `trace {"type":"done","total_steps":2,"state_snapshot":{"input":{}}}`},
		{`tool_call {"name":"f","args":{"q":"secret"}}`, whole, `tool_call {"name":"f"}`},
		{`tool_call {"name":"f","args":"{\"q\":\"secret\"}"}`, whole, `tool_call {"name":"f"}`},
		{`tool_result {"name":"f","result":"secret"}`, whole, `tool_result {"name":"f"}`},
		{`thinking {"content":"secret","agent":"a"}`, whole, stays},
		{`interrupt {"type":"interrupt","node_id":"a","message":"Go on?","data":{"plan":"secret"},"thread_id":"secret","checkpoint_id":"secret","timestamp":1706400000000}`, whole,
			`interrupt {"type":"interrupt","node_id":"a","message":"Go on?","timestamp":1706400000000}`},
		{`resume {"type":"resume","node_id":"a","timestamp":1706400000000,"response":"secret"}`, whole, `resume {"type":"resume","node_id":"a","timestamp":1706400000000}`},
		{`log {"message":"Calling secret (tools: 2)"}`, whole, stays},

		// What is meant for nobody outside.
		{`debug {"level":"debug","category":"response","agent":"system","summary":"secret","detail":{"response":"secret"},"timestamp":1706400000000}`, stays, stays},
		{`trace {"type":"message","node":"a","content":"secret"}`, stays, stays},
		{`trace {"type":"updates","node":"a","updates":{"x":"secret"}}`, stays, stays},
		{`trace {"type":"custom","node":"a","data":{"author":"a","content":"secret"}}`, stays, stays},
		{`trace {"type":"interrupted","node":"a","thread_id":"secret"}`, stays, stays},
		{`trace {"type":"internal:node_start","node":"secret"}`, stays, stays},
		{`trace {"node":"secret"}`, stays, stays},
		{`tool_call {"name":"f","type":"internal:x","args":"secret"}`, stays, stays},
		{`tool_result {"name":"f","result":{"kind":"internal:x","y":"secret"}}`, stays, stays},
		{`tool_call {"name":"f","event":[{"type":"internal:x"}],"args":"secret"}`, stays, stays},
		{`tool_call {"name":"f","result":{"rawEvent":{"type":"internal:x"}},"args":"secret"}`, stays, stays},
		{`internal:trace {"type":"node_start","node":"secret"}`, stays, stays},
		{`whatever {"secret":1}`, stays, stays},
		{` {"type":"node_start","node":"secret"}`, stays, stays},
		{`trace {"type":"node_start","node":"secret"`, stays, stays},
		{`trace {"type":"node_start","node":"a","Node":"secret"}`, stays, stays},
		{"chunk secret \xff", stays, stays},
	})
}

func testPolicies(t *testing.T, cases []policyCase) {
	t.Helper()
	for _, c := range cases {
		want := c.client
		if want == whole {
			want = c.sent
		}
		client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		if got := leaves(t, client, c.sent); got != want {
			t.Errorf("client: of %s\nleaves %s\nwant   %s", c.sent, got, want)
		}
		got := leaves(t, filter.Settings{Policy: event.PolicyPublic}, c.sent)
		if got != c.public || strings.Contains(got, "secret") {
			t.Errorf("public: of %s\nleaves %s\nwant   %s", c.sent, got, c.public)
		}
	}
}

// TestSettings lets out, and keeps in, what the configuration names.
func TestSettings(t *testing.T) {
	const thought = `thinking {"content":"Hm.","agent":"a"}`
	if got := leaves(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, thought); got != thought {
		t.Errorf("a thought: %s", got)
	}
	const state = `trace {"type":"state","state_snapshot":{"input":{},"output":{"shown":1,"hidden":2}}}`
	if got := leaves(t, filter.Settings{Policy: event.PolicyPublic, StateKeys: []string{"shown"}}, state); got != strings.Replace(state, `,"hidden":2`, "", 1) {
		t.Errorf("state: %s", got)
	}
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		if got := leaves(t, filter.Settings{Policy: policy, Out: []event.Kind{event.KindToolStarted}}, `tool_call {"name":"f","args":{}}`); got != stays {
			t.Errorf("%s: a call: %s", policy, got)
		}
		if got := leaves(t, filter.Settings{Policy: policy, Out: []event.Kind{event.KindInputRequested}}, `interrupt {"node_id":"a","message":"secret"}`); got != stays {
			t.Errorf("%s: a question: %s", policy, got)
		}
	}
}

// TestFailure is what stands for an error that nobody can read.
func TestFailure(t *testing.T) {
	if b := decode(t, "error \xff"); b.Rejected == "" || len(b.Events) != 1 || b.Events[0].Kind != event.KindError || b.Table.Failure == "" {
		t.Errorf("rejected as %q, %d events, replaced by %q", b.Rejected, len(b.Events), b.Table.Failure)
	}
}

// leaves is what of a frame leaves by a policy, as "name data".
func leaves(t *testing.T, s filter.Settings, sent string) string {
	t.Helper()
	frame, why := filter.New(s).Apply(decode(t, sent))
	if why != filter.Passed {
		return stays
	}
	return frame.Name + " " + string(frame.Data)
}

func decode(t *testing.T, sent string) *event.Batch {
	t.Helper()
	name, data, _ := strings.Cut(sent, " ")
	wire, err := sse.AppendFrame(nil, sse.Frame{Event: []byte(name), Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	c := collector.New([]dialect.Dialect{adkstudio.Dialect{}}, collector.Settings{Frame: 1 << 20, JSONDepth: 128}, nil)
	input := collector.Input{Reader: strings.NewReader(string(wire)), Arrival: func() time.Time { return time.Time{} }}
	b, err := c.Decode(&event.Stream{}, input, "adkstudio").Next()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
