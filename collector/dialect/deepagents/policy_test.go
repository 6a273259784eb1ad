package deepagents_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// stays is what leaves of a frame that stays in.
const stays = "stays in"

// every is what every frame has, and what leaves of it.
const every = `"v":2,"id":"1729000000_0001_abc123","ts":"2025-10-14T10:30:00.000Z","agent_type":"subagent","agent_id":"subagent_analyst_1","parent_call_id":"t1",`

// TestPolicies sends a frame of each type, given by its own members, to each reader. The protocol's own client gets it as it came.
// Nothing that is called secret may reach the public.
func TestPolicies(t *testing.T) {
	for sent, public := range map[string]string{
		`"type":"start","message_id":"m","chat_id":"c","status":"processing"`:                          `"type":"start","message_id":"m","chat_id":"c","status":"processing"`,
		`"type":"thinking","text":"secret"`:                                                            stays,
		`"type":"plan","items":[{"id":"1","text":"secret","status":"pending"}]`:                        `"type":"plan","items":[{"id":"1","status":"pending"}]`,
		`"type":"plan","items":[{"id":"1","status":"secret"}]`:                                         `"type":"plan","items":[{"id":"1","status":"other"}]`,
		`"type":"tool_start","name":"f","call_id":"c","args_display":"secret","args_summary":"secret"`: `"type":"tool_start","name":"f","call_id":"c"`,
		`"type":"tool_end","name":"f","call_id":"c","status":"ok","ms":5,"result":"secret"`:            `"type":"tool_end","name":"f","call_id":"c","status":"ok","ms":5`,
		`"type":"tool_end","name":"f","call_id":"c","status":"ValueError: secret"`:                     `"type":"tool_end","name":"f","call_id":"c","status":"other"`,
		`"type":"subagent_start","subagent_description":"secret"`:                                      `"type":"subagent_start"`,
		`"type":"subagent_end","ms":5`:                                                                 `"type":"subagent_end","ms":5`,
		`"type":"content_start"`:                                                                       `"type":"content_start"`,
		`"type":"content","md":"# Hello\n"`:                                                            `"type":"content","md":"# Hello\n"`,
		`"type":"content_end"`:                                                                         `"type":"content_end"`,
		`"type":"status","text":"Processing..."`:                                                       `"type":"status","text":"Processing..."`,
		`"type":"status","text":"secret","md":"secret"`:                                                `"type":"status","text":"Processing..."`,
		`"type":"status","text":"⏸️ Agent needs human input","md":"{\"interrupt\":true,\"question\":\"secret\",\"thread_id\":\"secret\"}"`: `"type":"status","text":"\u23f8\ufe0f Agent needs human input","md":"{\"interrupt\":true}"`,
		`"type":"status","text":"secret","md":"{\"interrupt\":true}"`:                                                                      `"type":"status","text":"\u23f8\ufe0f Agent needs human input","md":"{\"interrupt\":true}"`,
		`"type":"end","status":"completed","ms_total":6500,"tool_calls":4`:                                                                 `"type":"end","status":"completed","ms_total":6500,"tool_calls":4`,
		`"type":"end","status":"secret"`:                                                       `"type":"end","status":"other"`,
		`"type":"error","error":"secret"`:                                                      `"type":"error","error":"the run failed"`,
		`"type":"error","error":{"message":"secret"}`:                                          `"type":"error","error":"the run failed"`,
		`"type":"start","message_id":"m","user_id":"secret","metadata":{"tender_id":"secret"}`: `"type":"start","message_id":"m"`,
	} {
		if public != stays {
			public = "{" + every + public + "}"
		}
		sent = "{" + every + sent + "}"
		client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		if got := leaves(t, client, "", sent); got != sent {
			t.Errorf("client: of %s\nleaves %s", sent, got)
		}
		if got := leaves(t, filter.Settings{Policy: event.PolicyPublic}, "", sent); got != public || strings.Contains(got, "secret") {
			t.Errorf("public: of %s\nleaves %s\nwant   %s", sent, got, public)
		}
	}
}

// TestWhatStaysIn is for nobody outside.
func TestWhatStaysIn(t *testing.T) {
	for _, c := range []struct{ name, data string }{
		{"", `{"v":2,"type":"interrupt","id":"1"}`}, // our own name for a status
		{"", `{"v":2,"type":"internal:thinking","text":"secret"}`},
		{"", `{"v":2,"type":"content","kind":"internal:x","md":"secret"}`},
		{"", `{"v":2,"type":"content","Type":"internal:x","md":"secret"}`},
		{"", `{"v":2,"type":"content","event":"internal:x","md":"secret"}`},
		{"", `{"v":2,"type":"content","md":"secret","event":{"kind":"internal:x"}}`},
		{"", `{"v":2,"type":"content","md":"secret","rawEvent":{"type":"internal:x"}}`},
		{"", `{"v":2,"type":"tool_end","name":"f","result":{"event":{"kind":"internal:x","x":"secret"}}}`},
		{"", `{"v":2,"type":"surprise","md":"secret"}`},
		{"", `{"v":2,"type":["content"],"md":"secret"}`},
		{"", `{"v":2,"md":"secret"}`},
		{"", `{"v":2,"type":"content","md":"secret"`},
		{"", `[{"v":2,"type":"content","md":"secret"}]`},
		{"thinking", `{"v":2,"type":"content","md":"secret"}`},
		{"internal:x", `{"v":2,"type":"content","md":"secret"}`},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if got := leaves(t, filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}, c.name, c.data); got != stays {
				t.Errorf("%s: of %s %s leaves %s", policy, c.name, c.data, got)
			}
		}
	}
}

// TestSettings lets out, and keeps in, what the configuration names.
func TestSettings(t *testing.T) {
	const thought = `{"v":2,"type":"thinking","text":"Hm."}`
	if got := leaves(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, "", thought); got != thought {
		t.Errorf("a thought: %s", got)
	}
	for kind, sent := range map[event.Kind]string{
		event.KindToolStarted:    `{"v":2,"type":"tool_start","name":"f"}`,
		event.KindToolEnded:      `{"v":2,"type":"tool_end","name":"f"}`,
		event.KindPlan:           `{"v":2,"type":"plan","items":[{"id":"1"}]}`,
		event.KindThought:        thought,
		event.KindInputRequested: `{"v":2,"type":"status","text":"Agent needs human input"}`,
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if got := leaves(t, filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed, Out: []event.Kind{kind}}, "", sent); got != stays {
				t.Errorf("%s without %v: %s", policy, kind, got)
			}
		}
	}
	if got := leaves(t, filter.Settings{Policy: event.PolicyClient, Authors: []string{"main"}}, "", `{`+every+`"type":"content","md":"of another"}`); got != stays {
		t.Errorf("an author that is not named: %s", got)
	}
}

// TestFailure is what stands for an error that nobody can read, and is one itself.
func TestFailure(t *testing.T) {
	b := decode(t, "", `{"v":2,"type":"error","error":"said "x" and died"}`)
	if b.Rejected == "" || len(b.Events) != 1 || b.Events[0].Kind != event.KindError {
		t.Errorf("rejected as %q, %d events", b.Rejected, len(b.Events))
	}
	if b = decode(t, "", b.Table.Failure); b.Rejected != "" || b.Type != "error" {
		t.Errorf("its replacement is %q, rejected as %q", b.Type, b.Rejected)
	}
}

// leaves is what of a frame leaves by a policy.
func leaves(t *testing.T, s filter.Settings, name, data string) string {
	t.Helper()
	frame, why := filter.New(s).Apply(decode(t, name, data))
	if why != filter.Passed {
		return stays
	}
	if frame.Name != "" {
		t.Errorf("leaves under the name %q, which onmessage does not hear", frame.Name)
	}
	return string(frame.Data)
}

func decode(t *testing.T, name, data string) *event.Batch {
	t.Helper()
	wire := "data: " + data + "\n\n"
	if name != "" {
		wire = "event: " + name + "\n" + wire
	}
	c := collector.New([]dialect.Dialect{deepagents.Dialect{}}, collector.Settings{Frame: 1 << 20, JSONDepth: 128}, nil)
	input := collector.Input{Reader: strings.NewReader(wire), Arrival: func() time.Time { return time.Time{} }}
	b, err := c.Decode(&event.Stream{}, input, "deepagents").Next()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
