package agui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// unchanged stands for output that equals the frame.
const unchanged = "unchanged"

// policyCase is the data of a frame and the output under each policy. The output under public must not
// contain "secret".
type policyCase struct{ sent, client, public string }

// TestPoliciesOfRuns checks the output for events about the state of a run and its agents.
func TestPoliciesOfRuns(t *testing.T) {
	testPolicies(t, nil, []policyCase{
		{`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","timestamp":1,"input":{"messages":[{"role":"user","content":"secret"}]},"metadata":{"x":"secret"}}`, unchanged,
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","timestamp":1}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":"secret","outcome":null,"usage":[{"model":"secret","inputTokens":1}]}`, unchanged,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":"interrupt","interrupt":{"id":"i","reason":"human_approval","payload":"secret"}}`, unchanged,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":"interrupt","interrupt":{"id":"i","reason":"human_approval"}}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","interrupt":[{"id":"i","value":"secret"}]}`, unchanged,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","interrupt":[{"id":"i"}]}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":"secret"}`, unchanged, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":"unknown"}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}`, unchanged,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"input_required","message":"Send?","responseSchema":{"type":"object","title":"Sure?","default":{"x":"secret"},"examples":["secret"],"properties":{"ok":{"type":"boolean","default":"secret","enum":[true,false],"const":"secret"}},"required":["ok"]},"expiresAt":"2026-11-21T00:00:00Z","metadata":{"checkpoint":"secret"}}]}}`, unchanged,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"input_required","message":"Send?","responseSchema":{"type":"object","title":"Sure?","properties":{"ok":{"type":"boolean","enum":[true,false]}},"required":["ok"]},"expiresAt":"2026-11-21T00:00:00Z"}]}}`},
		{`{"type":"RUN_ERROR","message":"secret","code":"secret","usage":[]}`, unchanged, `{"type":"RUN_ERROR","message":"the run failed"}`},
		{`{"error":"secret"}`, unchanged, `{"type":"RUN_ERROR","message":"the run failed"}`},
		{`{"type":"STEP_STARTED","stepName":"a","metadata":{"x":"secret"}}`, unchanged, `{"type":"STEP_STARTED","stepName":"a"}`},
		{`{"type":"STEP_FINISHED","stepName":"a","subagentRunId":"s"}`, unchanged, `{"type":"STEP_FINISHED","stepName":"a","subagentRunId":"s"}`},
		{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","description":"secret","parentSubagentRunId":"p","parentToolCallId":"c","parentMessageId":"m"}`, unchanged,
			`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentSubagentRunId":"p","parentToolCallId":"c","parentMessageId":"m"}`},
		{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":"secret","outcome":{"type":"suspended","interruptIds":["i"]}}`, unchanged,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended","interruptIds":["i"]}}`},
		{`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"secret","code":"secret"}`, unchanged, `{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"the subagent failed"}`},
	})
}

// TestArgumentsInQuestions checks that the policy public replaces the message of a question about a call, and no other.
func TestArgumentsInQuestions(t *testing.T) {
	const neutral = `"message":"Approve the tool call?"`
	lists := []func(string) string{
		func(asked string) string { return `"outcome":{"type":"interrupt","interrupts":[` + asked + `]}` },
		func(asked string) string { return `"outcome":"interrupt","interrupt":` + asked },
		func(asked string) string { return `"interrupt":[{"id":"other","message":"Which?"},` + asked + `]` },
		func(asked string) string {
			return `"outcome":{"type":"interrupt","interrupts":[{"id":"other","message":"Which?"}]},"interrupt":` + asked
		},
	}
	for _, list := range lists {
		end := func(members string) string {
			return `{"type":"RUN_FINISHED","threadId":"t","runId":"r",` + list(`{"id":"i",`+members+`}`) + `}`
		}
		const secret = `"message":"Approve pay({\"n\":\"secret\"})?"`
		testPolicies(t, nil, []policyCase{
			{end(`"reason":"tool_call",` + secret + `,"toolCallId":"c"`), unchanged, end(`"reason":"tool_call",` + neutral + `,"toolCallId":"c"`)},
			{end(`"reason":"tool_call",` + secret), unchanged, end(`"reason":"tool_call",` + neutral)},
			{end(secret + `,"toolCallId":"c"`), unchanged, end(neutral + `,"toolCallId":"c"`)},
			{end(secret + `,"tool_call_id":"c"`), unchanged, end(neutral)},
			{end(`"Reason":"Tool_Call",` + secret), unchanged, end(neutral)},
			{end(`"toolCallId":"c","message":{"x":"secret"}`), unchanged, end(`"toolCallId":"c",` + neutral)},
			{end(`"toolCallId":"c","message":null`), unchanged, end(`"toolCallId":"c"`)},
			{end(`"toolCallId":null,"message":"Go on?"`), unchanged, end(`"message":"Go on?"`)},
			{end(`"reason":"confirmation","message":"Go on?"`), unchanged, end(`"reason":"confirmation","message":"Go on?"`)},
		})
	}
}

// TestReasonsOfQuestions checks that under the policy public the reason of a question leaves only if it is a code.
func TestReasonsOfQuestions(t *testing.T) {
	for reason, public := range map[string]string{
		`"tool_call"`: `"tool_call"`, `"input_required"`: `"input_required"`, `"human-approval"`: `"human-approval"`, `"langgraph:database_modification"`: `"langgraph:database_modification"`,
		`"Approve rm?"`: `"other"`, `"{\"path\":\"secret\"}"`: `"other"`, `"langgraph:rm secret"`: `"other"`, `"secret@example.org"`: `"other"`, `"/secret"`: `"other"`, `"secret\n"`: `"other"`, `""`: `"other"`,
		`"` + strings.Repeat("secret", 11) + `"`: `"other"`, `{"x":"secret"}`: `"other"`, `["secret"]`: `"other"`,
	} {
		for _, list := range []string{`"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":%s}]}}`, `"outcome":"interrupt","interrupt":{"id":"i","reason":%s}}`, `"interrupt":[{"id":"i","reason":%s}]}`} {
			end := func(reason string) string {
				return `{"type":"RUN_FINISHED","threadId":"t","runId":"r",` + fmt.Sprintf(list, reason)
			}
			testPolicies(t, nil, []policyCase{{end(reason), unchanged, end(public)}})
		}
	}
}

// TestPoliciesOfContent checks the output for messages, tool calls and activities.
func TestPoliciesOfContent(t *testing.T) {
	testPolicies(t, []string{`{"type":"TEXT_MESSAGE_START","messageId":"open","role":"assistant"}`}, []policyCase{
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"n"}`, unchanged, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"n"}`},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"open","delta":"Hello"}`, unchanged, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"open","delta":"Hello"}`},
		{`{"type":"TEXT_MESSAGE_END","messageId":"open"}`, unchanged, `{"type":"TEXT_MESSAGE_END","messageId":"open"}`},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello","metadata":{"x":"secret"}}`, unchanged, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello"}`},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`, unchanged, withheld},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"secret"}`, unchanged, withheld},
		{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":null}`, unchanged, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`},
		{`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"q\":\"secret\"}"}`, unchanged, withheld},
		{`{"type":"TOOL_CALL_END","toolCallId":"c"}`, unchanged, `{"type":"TOOL_CALL_END","toolCallId":"c"}`},
		{`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{\"q\":\"secret\"}"}`, unchanged, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}`},
		{`{"type":"TOOL_CALL_CHUNK","delta":"{\"q\":\"secret\"}"}`, unchanged, withheld},
		{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"secret","role":"tool"}`, unchanged, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"","role":"tool"}`},
		{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"secret"}]}`, unchanged, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":""}`},
		{`{"type":"STATE_SNAPSHOT","snapshot":{"x":"secret"}}`, unchanged, withheld},
		{`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/secret","value":1}]}`, unchanged, withheld},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"s","role":"user","content":"secret"}]}`, unchanged, withheld},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{"x":"secret"},"replace":false}`, unchanged, `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{},"replace":false}`},
		{`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"PLAN","patch":[{"value":"secret"}]}`, unchanged, `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"PLAN","patch":[]}`},
		{`{"type":"CUSTOM","name":"secret","value":"secret"}`, unchanged, withheld},
		{`{"type":"CUSTOM","name":"on_interrupt","value":"secret","metadata":"secret"}`, unchanged, `{"type":"CUSTOM","name":"on_interrupt","value":""}`},
	})
}

// TestPoliciesOfState checks that the policy public lets out only the configured keys of snapshots and deltas.
func TestPoliciesOfState(t *testing.T) {
	snapshot := func(state string) string { return `{"type":"STATE_SNAPSHOT","snapshot":` + state + `,"timestamp":1}` }
	delta := func(patch string) string { return `{"type":"STATE_DELTA","delta":` + patch + `,"timestamp":1}` }
	public := filter.Settings{Policy: event.PolicyPublic, StateKeys: []string{"plan", "a/b"}}
	for _, c := range [][2]string{
		{snapshot(`{"plan":{"steps":[1]},"x":"secret","Plan":"secret"}`), snapshot(`{"plan":{"steps":[1]}}`)},
		{snapshot(`{"plan":{"steps":[1]},"x":"secret"}`), snapshot(`{"plan":{"steps":[1]}}`)},
		{snapshot(`{"x":"secret"}`), snapshot(`{}`)},
		{snapshot(`{}`), snapshot(`{}`)},
		{snapshot(`["secret"]`), snapshot(`{}`)},
		{snapshot(`"secret"`), snapshot(`{}`)},
		{delta(`[{"op":"add","path":"/plan/steps/-","value":2},{"op":"replace","path":"/x","value":"secret"}]`), delta(`[{"op":"add","path":"/plan/steps/-","value":2}]`)},
		{delta(`[{"op":"replace","path":"/a~1b","value":{"x":1},"note":"secret"}]`), delta(`[{"op":"replace","path":"/a~1b","value":{"x":1}}]`)},
		{delta(`[{"op":"replace","path":"/x","value":"secret"}]`), withheld},
		{delta(`[{"op":"replace","path":"","value":{"plan":"secret"}}]`), withheld},
		{delta(`[{"op":"copy","from":"/x","path":"/plan"}]`), withheld},
	} {
		if got := last(filterFrames(t, public, c[0])); got != c[1] || strings.Contains(got, "secret") {
			t.Errorf("filtering %s gives %s, want %s", c[0], got, c[1])
		}
		without := public
		without.Exclude = []event.Kind{event.KindState}
		for _, s := range []filter.Settings{without, {Policy: event.PolicyPublic}} {
			if got := last(filterFrames(t, s, c[0])); strings.Contains(got, "plan") || strings.Contains(got, "a~1b") {
				t.Errorf("without state, filtering %s gives %s", c[0], got)
			}
		}
	}
}

// TestPoliciesOfThoughts checks the output for each event about reasoning, and that no policy lets out
// internal and unknown events.
func TestPoliciesOfThoughts(t *testing.T) {
	testPolicies(t, nil, []policyCase{
		{`{"type":"REASONING_START","messageId":"secret"}`, unchanged, withheld},
		{`{"type":"REASONING_MESSAGE_START","messageId":"secret","role":"reasoning"}`, unchanged, withheld},
		{`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"secret"}`, unchanged, withheld},
		{`{"type":"REASONING_MESSAGE_END","messageId":"secret"}`, unchanged, withheld},
		{`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"secret"}`, unchanged, withheld},
		{`{"type":"REASONING_END","messageId":"secret"}`, unchanged, withheld},
		{`{"type":"THINKING_START","title":"secret"}`, unchanged, withheld},
		{`{"type":"THINKING_TEXT_MESSAGE_START"}`, unchanged, withheld},
		{`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"secret"}`, unchanged, withheld},
		{`{"type":"THINKING_TEXT_MESSAGE_END"}`, unchanged, withheld},
		{`{"type":"THINKING_END"}`, unchanged, withheld},
		{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"secret"}`, unchanged, withheld},

		// Internal or unknown under both policies.
		{`{"type":"RAW","event":{"x":"secret"},"source":"secret"}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"system"}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":["system"]}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"\u200bSYSTEM"}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"reasoning"}`, unchanged, withheld},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"reasoning","delta":"secret"}`, unchanged, withheld},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"r","role":"reasoning","content":"secret"}]}`, unchanged, withheld},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"Developer "}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"secret"}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"not started","delta":"secret"}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_END","messageId":"not started"}`, withheld, withheld},
		{`{"type":"TEXT_MESSAGE_CHUNK","delta":"secret"}`, withheld, withheld},
		{`{"type":"internal:STEP_STARTED","stepName":"secret"}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret","kind":"internal:x"}`, withheld, withheld},
		{`{"type":"CUSTOM","name":"internal:x","value":"secret"}`, withheld, withheld},
		{`{"type":"CUSTOM","name":"x","value":"secret","event":{"name":"internal:x"}}`, withheld, withheld},
		{`{"type":"CUSTOM","name":"x","value":"secret","event":"internal:x"}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret","result":{"kind":"internal:x"}}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret","result":{"event":{"type":"internal:x"}}}`, withheld, withheld},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"internal:x","content":{"x":"secret"}}`, withheld, withheld},
		{`{"type":"ACTIVITY_DELTA","messageId":"m","activity_type":"internal:x","patch":[{"op":"add","path":"/x","value":"secret"}]}`, withheld, withheld},
		{`{"type":"CUSTOM","name":"x","value":{"kind":"internal:x","y":"secret"}}`, withheld, withheld},
		{`{"type":"CUSTOM","name":"x","value":[{"event":{"type":"Internal:x","y":"secret"}}]}`, withheld, withheld},
		{`{"type":"CUSTOM","name":"on_interrupt","Value":{"KIND":"ınternal","y":"secret"}}`, withheld, withheld},
		{`{"type":"CUSTOM","name":"x","value":{"kind":"external","y":[{"kind":"internal:x"}]}}`, withheld, withheld},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"x","content":{"type":"internal:x","y":"secret"}}`, withheld, withheld},
		{`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"x","patch":[{"op":"add","path":"/x","value":{"kind":"internal:x","y":"secret"}}]}`, withheld, withheld},
		{`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"x","patch":[{"op":"add","path":"/kind","value":"internal"},{"op":"add","path":"/x","value":"secret"}]}`, withheld, withheld},
		{`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"x","patch":[{"op":"replace","path":"/a/Type","value":"internal:note"},{"op":"add","path":"/a/x","value":"secret"}]}`, withheld, withheld},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"x","content":{"x":{"type":"internal:x","y":"secret"}}}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret","metadata":{"kind":"internal:x"}}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret","Type":"x"}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret","rawEvent":{"type":"internal:x"}}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret","rawEvent":[{"event":{"kind":"Internal:x"}}]}`, withheld, withheld},
		{`{"type":"NEVER_HEARD_OF","x":"secret"}`, withheld, withheld},
		{`{"type":["STEP_STARTED"],"stepName":"secret"}`, withheld, withheld},
		{`{"stepName":"secret"}`, withheld, withheld},
		{`{"type":"STEP_STARTED","stepName":"secret"`, withheld, withheld},
		{`"secret"`, withheld, withheld},
	})
}

func testPolicies(t *testing.T, before []string, cases []policyCase) {
	t.Helper()
	for _, c := range cases {
		want := c.client
		if want == unchanged {
			want = c.sent
		}
		sent := append(before[:len(before):len(before)], c.sent)
		client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		if got := last(filterFrames(t, client, sent...)); got != want {
			t.Errorf("client: filtering %s\ngives %s\nwant  %s", c.sent, got, want)
		}
		got := last(filterFrames(t, filter.Settings{Policy: event.PolicyPublic}, sent...))
		if got != c.public || strings.Contains(got, "secret") {
			t.Errorf("public: filtering %s\ngives %s\nwant  %s", c.sent, got, c.public)
		}
	}
}

// TestSettings checks the settings for thoughts and for excluded kinds.
func TestSettings(t *testing.T) {
	for _, thought := range []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"reasoning"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"Thinking","delta":"Hm."}`,
		`{"type":"REASONING_START","messageId":"m"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"Hm."}`,
		`{"type":"THINKING_START","title":"Plan"}`, `{"type":"THINKING_END"}`,
	} {
		if got := last(filterFrames(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, thought)); got != strings.Replace(thought, `"role":"Thinking"`, `"role":"reasoning"`, 1) {
			t.Errorf("with thoughts, filtering %s gives %s", thought, got)
		}
		if got := last(filterFrames(t, filter.Settings{Policy: event.PolicyClient}, thought)); got != withheld {
			t.Errorf("without thoughts, filtering %s gives %s, want it withheld", thought, got)
		}
	}
	for _, snapshot := range []string{`"content":"Hm."`, `"content":[{"text":"Hm."}]`} {
		snapshot = `{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","content":"Hi"},{"role":"reasoning",` + snapshot + `}]}`
		if got := last(filterFrames(t, filter.Settings{Policy: event.PolicyClient}, snapshot)); got != withheld {
			t.Errorf("without thoughts, filtering %s gives %s, want it withheld", snapshot, got)
		}
	}
	for kind, sent := range map[event.Kind]string{
		event.KindToolStarted:    `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
		event.KindInputRequested: `{"type":"CUSTOM","name":"on_interrupt","value":"x"}`,
		event.KindError:          `{"type":"RUN_ERROR","message":"x"}`,
		event.KindArtifact:       `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{}}`,
		event.KindState:          `{"type":"STATE_DELTA","delta":[]}`,
		event.KindText:           `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}`,
	} {
		if got := last(filterFrames(t, filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{kind}}, sent)); got != withheld {
			t.Errorf("with %v excluded, filtering %s gives %s, want it withheld", kind, sent, got)
		}
	}
}

// TestFailure checks that an unreadable error is decoded as one and replaced by an error frame.
func TestFailure(t *testing.T) {
	b := decode(t, `{"type":"RUN_ERROR","message":"said "no" and died"}`)
	if b.Rejected == "" || len(b.Events) != 1 || b.Events[0].Kind != event.KindError || !strings.Contains(b.Table.FailureData, "RUN_ERROR") {
		t.Errorf("Rejected = %q with %d events, FailureData = %q; want one error and a RUN_ERROR", b.Rejected, len(b.Events), b.Table.FailureData)
	}
}

// TestInternalActivities makes an activity internal after its start. Nothing more of it leaves.
func TestInternalActivities(t *testing.T) {
	delta := func(patch string) string {
		return `{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[` + patch + `]}`
	}
	start, more := startCases["an activity"][0], delta(`{"op":"add","path":"/a/x","value":"secret"}`)
	for _, marks := range []string{`{"op":"add","path":"/kind","value":"internal"}`, `{"op":"add","path":"/a","value":{"kind":"internal"}}`, `{"op":"add","path":"/a/type","value":"Internal:x"}`} {
		if got := filterFrames(t, allSettings[0], start, more, delta(marks), more); got[0] != start || got[1] != more || got[2] != withheld || got[3] != withheld {
			t.Errorf("after %s: got %q", marks, got)
		}
	}
}
