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

// withheld stands for the output of a withheld frame.
const withheld = "withheld"

// commonMembers holds the members of every frame that leave.
const commonMembers = `"v":2,"id":"1729000000_0001_abc123","ts":"2025-10-14T10:30:00.000Z","agent_type":"subagent","agent_id":"subagent_analyst_1","parent_call_id":"t1",`

// TestPolicies checks a frame of each type, given as its own members. The policy client lets it out unchanged,
// and the output under public must not contain "secret".
func TestPolicies(t *testing.T) {
	for sent, public := range map[string]string{
		`"type":"start","message_id":"m","chat_id":"c","status":"processing"`:                          `"type":"start","message_id":"m","chat_id":"c","status":"processing"`,
		`"type":"thinking","text":"secret"`:                                                            withheld,
		`"type":"plan","items":[{"id":"1","text":"secret","status":"pending"}]`:                        `"type":"plan","items":[{"id":"1","status":"pending"}]`,
		`"type":"plan","items":[{"id":"1","status":"secret"}]`:                                         `"type":"plan","items":[{"id":"1","status":"other"}]`,
		`"type":"tool_start","name":"f","call_id":"c","args_display":"secret","args_summary":"secret"`: `"type":"tool_start","name":"f","call_id":"c"`,
		`"type":"tool_end","name":"f","call_id":"c","status":"ok","ms":5,"result":"secret"`:            `"type":"tool_end","name":"f","call_id":"c","status":"ok","ms":5`,
		`"type":"tool_end","name":"f","call_id":"c","status":"ValueError: secret"`:                     `"type":"tool_end","name":"f","call_id":"c","status":"other"`,
		`"type":"subagent_start","subagent_description":"secret"`:                                      `"type":"subagent_start"`,
		`"type":"subagent_end","ms":5`:                                                                 `"type":"subagent_end","ms":5`,
		`"type":"content_start"`:                                                                       `"type":"content_start"`,
		`"type":"content","md":"{\\alpha"`:                                                             `"type":"content","md":"{\\alpha"`,
		`"type":"content","md":"[Internal docs](/a)"`:                                                  `"type":"content","md":"[Internal docs](/a)"`,
		`"type":"content","md":"internal \\x"`:                                                         `"type":"content","md":"internal \\x"`,
		`"type":"content","md":"# Hello\n"`:                                                            `"type":"content","md":"# Hello\n"`,
		`"type":"content_end"`:                                                                         `"type":"content_end"`,
		`"type":"status","text":"Processing..."`:                                                       `"type":"status","text":"Processing..."`,
		`"type":"status","text":"secret","md":"secret"`:                                                `"type":"status","text":"Processing..."`,
		`"type":"status","text":"⏸️ Agent needs human input","md":"{\"interrupt\":true,\"question\":\"secret\",\"thread_id\":\"secret\"}"`:                 `"type":"status","text":"\u23f8\ufe0f Agent needs human input","md":"{\"interrupt\":true}"`,
		`"type":"status","text":"secret","md":"{\"interrupt\":true}"`:                                                                                      `"type":"status","text":"\u23f8\ufe0f Agent needs human input","md":"{\"interrupt\":true}"`,
		`"type":"status","text":"Agent needs human input","md":"{\"interrupt\":true,\"question\":\"internal?\",\"context\":{\"type\":\"internal memo\"}}"`: `"type":"status","text":"\u23f8\ufe0f Agent needs human input","md":"{\"interrupt\":true}"`,
		`"type":"status","text":"Processing...","md":"internal documents, in C:\\docs"`:                                                                    `"type":"status","text":"Processing..."`,
		`"type":"end","status":"success"`:                                                      `"type":"end","status":"success"`,
		`"type":"end","status":500`:                                                            `"type":"end","status":"other"`,
		`"type":"end","status":"completed","ms_total":6500,"tool_calls":4`:                     `"type":"end","status":"completed","ms_total":6500,"tool_calls":4`,
		`"type":"end","status":"secret"`:                                                       `"type":"end","status":"other"`,
		`"type":"error","error":"secret"`:                                                      `"type":"error","error":"the run failed"`,
		`"type":"error","error":{"message":"secret"}`:                                          `"type":"error","error":"the run failed"`,
		`"type":"start","message_id":"m","user_id":"secret","metadata":{"tender_id":"secret"}`: `"type":"start","message_id":"m"`,
	} {
		if public != withheld {
			public = "{" + commonMembers + public + "}"
		}
		sent = "{" + commonMembers + sent + "}"
		client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		if got := filterFrame(t, client, "", sent); got != sent {
			t.Errorf("client: filtering %s\ngives %s\nwant it unchanged", sent, got)
		}
		if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, "", sent); got != public || strings.Contains(got, "secret") {
			t.Errorf("public: filtering %s\ngives %s\nwant  %s", sent, got, public)
		}
	}
}

// TestWithheld checks that internal and unknown frames are withheld under both policies.
func TestWithheld(t *testing.T) {
	for _, c := range []struct{ name, data string }{
		{"", `{"v":2,"type":"interrupt","id":"1"}`}, // our own name for a status
		{"", `{"v":2,"type":"internal:thinking","text":"secret"}`},
		{"", `{"v":2,"type":"content","kind":"internal:x","md":"secret"}`},
		{"", `{"v":2,"type":"content","Type":"internal:x","md":"secret"}`},
		{"", `{"v":2,"type":"content","event":"internal:x","md":"secret"}`},
		{"", `{"v":2,"type":"content","md":"secret","event":{"kind":"internal:x"}}`},
		{"", `{"v":2,"type":"content","md":"secret","rawEvent":{"type":"internal:x"}}`},
		{"", `{"v":2,"type":"content","md":{"type":"internal","text":"secret"}}`},
		{"", `{"v":2,"type":"status","text":"⏸️ Agent needs human input","md":{"interrupt":{"Type":"internal","question":"secret"}}}`},
		{"", `{"v":2,"type":"status","text":"secret","md":"{\"interrupt\":true,\"kind\":\"internal:x\",\"question\":\"secret\"}"}`},
		{"", `{"v":2,"type":"status","text":"secret","md":"{\"interrupt\":{\"type\":\"internal\",\"question\":\"secret\"}}"}`},
		{"", `{"v":2,"type":"status","text":"secret","md":"{\"interrupt\":true,\"kind\":\"internal:x\",\"a\":NaN}"}`},
		{"", `{"v":2,"type":"status","text":"secret","md":"{\"type\":\"internal:x\",}"}`},
		{"", `{"v":2,"type":"status","text":"secret","md":"\"{\\\"type\\\":\\\"internal:x\\\"}\""}`},
		{"", `{"v":2,"type":"status","text":"secret","md":["{\"type\":\"internal:x\"}"]}`},
		{"", `{"v":2,"type":"status","text":"secret","md":"{\"interrupt\":\"{\\\"type\\\":\\\"internal:x\\\"}\"}"}`},
		{"", `{"v":2,"type":"status","text":"secret","MD":"{\"type\":\"internal:x\"}"}`},
		{"", `{"v":2,"type":"content","md":"{\"kind\":\"internal:x\",\"a\":NaN}"}`},
		{"", `{"v":2,"type":"content","md":"{\"kind\":\"\\u0069nternal:x\",\"a\":NaN}"}`},
		{"", `{"v":2,"type":"content","md":"[{\"event\":\"internal:x\"}]"}`},
		{"", `{"v":2,"type":"thinking","text":"secret","interrupt":"{\"type\":\"internal:x\"}"}`},
		{"", `{"v":2,"type":"tool_end","name":"f","result":{"md":"{\"type\":\"internal:x\",\"x\":\"secret\"}"}}`},
		{"", `{"v":2,"type":"tool_end","name":"f","result":{"event":"internal:x","x":"secret"}}`},
		{"", `{"v":2,"type":"status","text":"secret","md":{"event":"internal:x"}}`},
		{"", `{"v":2,"type":"status","text":"secret","md":"{\"event\":\"internal:x\"}"}`},
		{"", `{"v":2,"type":"status","text":"secret","rawEvent":{"event":["internal:x"]}}`},
		{"", `{"v":2,"type":"status","text":"secret","interrupt":{"event":"internal:x"}}`},
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
			if got := filterFrame(t, filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}, c.name, c.data); got != withheld {
				t.Errorf("%s: filtering %q %s gives %s, want it withheld", policy, c.name, c.data, got)
			}
		}
	}
}

// TestSettings checks the settings for thoughts, excluded kinds and authors.
func TestSettings(t *testing.T) {
	const thought = `{"v":2,"type":"thinking","text":"Hm."}`
	if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, "", thought); got != thought {
		t.Errorf("with thoughts, a thought becomes %s", got)
	}
	for kind, sent := range map[event.Kind]string{
		event.KindToolStarted:    `{"v":2,"type":"tool_start","name":"f"}`,
		event.KindToolEnded:      `{"v":2,"type":"tool_end","name":"f"}`,
		event.KindPlan:           `{"v":2,"type":"plan","items":[{"id":"1"}]}`,
		event.KindThought:        thought,
		event.KindInputRequested: `{"v":2,"type":"status","text":"Agent needs human input"}`,
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if got := filterFrame(t, filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{kind}}, "", sent); got != withheld {
				t.Errorf("%s with %v excluded: filtering %s gives %s", policy, kind, sent, got)
			}
		}
	}
	if got := filterFrame(t, filter.Settings{Policy: event.PolicyClient, Authors: []string{"main"}}, "", `{`+commonMembers+`"type":"content","md":"of another"}`); got != withheld {
		t.Errorf("with another author configured, a text becomes %s", got)
	}
}

// TestFailure checks that an unreadable error is decoded as one, and that its replacement is an error.
func TestFailure(t *testing.T) {
	b := decode(t, "", `{"v":2,"type":"error","error":"said "x" and died"}`)
	if b.Rejected == "" || len(b.Events) != 1 || b.Events[0].Kind != event.KindError {
		t.Errorf("Rejected = %q with %d events, want one error", b.Rejected, len(b.Events))
	}
	if b = decode(t, "", b.Table.FailureData); b.Rejected != "" || b.Type != "error" {
		t.Errorf("the replacement has the type %q and is rejected as %q, want an error", b.Type, b.Rejected)
	}
}

// filterFrame returns the data of a frame after the filter, or withheld.
func filterFrame(t *testing.T, s filter.Settings, name, data string) string {
	t.Helper()
	frame, why := filter.New(s).Apply(decode(t, name, data))
	if why != filter.Passed {
		return withheld
	}
	if frame.Name != "" {
		t.Errorf("the frame has the name %q, for which onmessage is not called", frame.Name)
	}
	return string(frame.Data)
}

func decode(t *testing.T, name, data string) *event.Batch {
	t.Helper()
	wire := "data: " + data + "\n\n"
	if name != "" {
		wire = "event: " + name + "\n" + wire
	}
	c := collector.New([]dialect.Dialect{deepagents.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	input := collector.Input{Reader: strings.NewReader(wire), ReceivedAt: func() time.Time { return time.Time{} }}
	b, err := c.Decode(&event.Stream{}, input, "deepagents").Next()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
