package agui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/agui"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// stays is what leaves of a frame that stays in.
const stays = "stays in"

// whole is what the protocol's own client gets: all.
const whole = "whole"

// policyCase is a frame, given as its data, and what each reader gets of it. Nothing that is called secret may reach the public.
type policyCase struct{ sent, client, public string }

// TestPoliciesOfRuns sends what says how a run and its agents stand.
func TestPoliciesOfRuns(t *testing.T) {
	testPolicies(t, nil, []policyCase{
		{`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","timestamp":1,"input":{"messages":[{"role":"user","content":"secret"}]},"metadata":{"x":"secret"}}`, whole,
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","timestamp":1}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":"secret","outcome":null,"usage":[{"model":"secret","inputTokens":1}]}`, whole,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}`, whole,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","message":"Send?","toolCallId":"c","responseSchema":{"type":"object","title":"Sure?","default":{"x":"secret"},"examples":["secret"],"properties":{"ok":{"type":"boolean","default":"secret","enum":[true,false],"const":"secret"}},"required":["ok"]},"expiresAt":"2026-11-21T00:00:00Z","metadata":{"checkpoint":"secret"}}]}}`, whole,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","message":"Send?","toolCallId":"c","responseSchema":{"type":"object","title":"Sure?","properties":{"ok":{"type":"boolean","enum":[true,false]}},"required":["ok"]},"expiresAt":"2026-11-21T00:00:00Z"}]}}`},
		{`{"type":"RUN_ERROR","message":"secret","code":"secret","usage":[]}`, whole, `{"type":"RUN_ERROR","message":"the run failed"}`},
		{`{"error":"secret"}`, whole, `{"type":"RUN_ERROR","message":"the run failed"}`},
		{`{"type":"STEP_STARTED","stepName":"a","metadata":{"x":"secret"}}`, whole, `{"type":"STEP_STARTED","stepName":"a"}`},
		{`{"type":"STEP_FINISHED","stepName":"a","subagentRunId":"s"}`, whole, `{"type":"STEP_FINISHED","stepName":"a","subagentRunId":"s"}`},
		{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","description":"secret","parentSubagentRunId":"p","parentToolCallId":"c","parentMessageId":"m"}`, whole,
			`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentSubagentRunId":"p","parentToolCallId":"c","parentMessageId":"m"}`},
		{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":"secret","outcome":{"type":"suspended","interruptIds":["i"]}}`, whole,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended","interruptIds":["i"]}}`},
		{`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"secret","code":"secret"}`, whole, `{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"the subagent failed"}`},
	})
}

// TestPoliciesOfContent sends what is said and done.
func TestPoliciesOfContent(t *testing.T) {
	testPolicies(t, []string{`{"type":"TEXT_MESSAGE_START","messageId":"open","role":"assistant"}`}, []policyCase{
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"n"}`, whole, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"n"}`},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"open","delta":"Hello"}`, whole, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"open","delta":"Hello"}`},
		{`{"type":"TEXT_MESSAGE_END","messageId":"open"}`, whole, `{"type":"TEXT_MESSAGE_END","messageId":"open"}`},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello","metadata":{"x":"secret"}}`, whole, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello"}`},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`, whole, stays},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"secret"}`, whole, stays},
		{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":null}`, whole, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`},
		{`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"q\":\"secret\"}"}`, whole, stays},
		{`{"type":"TOOL_CALL_END","toolCallId":"c"}`, whole, `{"type":"TOOL_CALL_END","toolCallId":"c"}`},
		{`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{\"q\":\"secret\"}"}`, whole, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}`},
		{`{"type":"TOOL_CALL_CHUNK","delta":"{\"q\":\"secret\"}"}`, whole, stays},
		{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"secret","role":"tool"}`, whole, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"","role":"tool"}`},
		{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"secret"}]}`, whole, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":""}`},
		{`{"type":"STATE_SNAPSHOT","snapshot":{"x":"secret"}}`, whole, stays},
		{`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/secret","value":1}]}`, whole, stays},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"s","role":"user","content":"secret"}]}`, whole, stays},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{"x":"secret"},"replace":false}`, whole, `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{},"replace":false}`},
		{`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"PLAN","patch":[{"value":"secret"}]}`, whole, `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"PLAN","patch":[]}`},
		{`{"type":"CUSTOM","name":"secret","value":"secret"}`, whole, stays},
		{`{"type":"CUSTOM","name":"on_interrupt","value":"secret","metadata":"secret"}`, whole, `{"type":"CUSTOM","name":"on_interrupt","value":""}`},
	})
}

// TestPoliciesOfPrompts sends what models are told, in conversations and in requests, in every way in which a reader might find it:
// it reaches nobody. A run begins without it.
func TestPoliciesOfPrompts(t *testing.T) {
	const run = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	const user, none = `{"role":"user","content":"Hi"}`, `"messages":[]`
	for messages, left := range map[string]string{
		`"messages":[` + user + `,{"role":"system","content":"CANARY"}]`:                      `"messages":[` + user + `]`,
		`"messages":[{"role":"system","content":"CANARY"},` + user + `,` + user + `]`:         `"messages":[` + user + `,` + user + `]`,
		`"messages":[{"role":"developer","content":"CANARY"}]`:                                none,
		`"messages":[{"role":" System","content":"CANARY"}]`:                                  none,
		`"messages":[{"role":"DEVELOPER\u200b","content":[{"text":"CANARY"}]}]`:               none,
		`"messages":[{"Role":"system","content":"CANARY"}]`:                                   none,
		`"messages":[{"ｒole":"ｓystem","content":"CANARY"}]`:                                   none,
		`"messages":[{"role":"user","ｒole":"ｓystem","content":"CANARY"}]`:                     none,
		`"messages":[{"role":"internal:x","content":"CANARY"}]`:                               none,
		`"messages":[{"role":["system"],"content":"CANARY"}]`:                                 none,
		`"messages":[{"role":7,"content":"CANARY"}]`:                                          none,
		`"messages":[{"role":"assistant","content":"CANARY","kind":"internal:x"}]`:            none,
		`"messages":[{"role":"assistant","rawEvent":{"type":"Internal","content":"CANARY"}}]`: none,
		`"messages":["CANARY"]`:                             none,
		`"messages":[["CANARY"]]`:                           none,
		`"ｍessages":[{"ｒole":"ｓystem","content":"CANARY"}]`: "",
		`"Messages":[{"role":"system","content":"CANARY"}]`: "",
		`"messages":{"role":"system","content":"CANARY"}`:   "",
		`"messages":"CANARY"`:                               "",
		`"messages":[],"ｍessages":[{"x":"CANARY"}]`:         "",
	} {
		for _, s := range everything {
			want := stays
			if left != "" && s.Policy == event.PolicyClient {
				want = `{"type":"MESSAGES_SNAPSHOT",` + left + `}`
			}
			if got := last(leave(t, s, `{"type":"MESSAGES_SNAPSHOT",`+messages+`}`)); got != want {
				t.Errorf("%s: of a conversation with %s leaves %s", s.Policy, messages, got)
			}
			for _, input := range []string{`"input":{"threadId":"t",` + messages + `}`, `"Input":{` + messages + `}`, `"ın\u00adput":{` + messages + `}`} {
				if got := last(leave(t, s, strings.TrimSuffix(run, "}")+","+input+"}")); got != run {
					t.Errorf("%s: of a request with %s leaves %s", s.Policy, messages, got)
				}
			}
		}
	}
	for _, input := range []string{`"input":"CANARY"`, `"input":[{"messages":[{"role":"system","content":"CANARY"}]}]`, `"input":{"messages":[{"role":"reasoning","content":"CANARY"}]}`} {
		if got := last(leave(t, everything[0], strings.TrimSuffix(run, "}")+","+input+"}")); got != run {
			t.Errorf("of a request with %s leaves %s", input, got)
		}
	}
	for _, harmless := range []string{
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","content":"system"},{"role":"assistant","toolCalls":[]},{"role":"tool","content":"x"},{"role":"activity","content":{"role":"developer"}}]}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[]}`, `{"type":"MESSAGES_SNAPSHOT","messages":null}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"role":"user","content":"Hi"}],"state":{"role":"system"}}}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":null}`,
	} {
		if got := last(leave(t, everything[0], harmless)); got != harmless {
			t.Errorf("of %s leaves %s", harmless, got)
		}
	}
	// What is left of a frame is all that it had.
	const more = `"parentRunId":null,"x":[1.50,"é",{"a":{}}],"metadata":{"input":"x"}`
	if got, want := last(leave(t, everything[0], strings.TrimSuffix(run, "}")+`,"input":{"messages":"CANARY"},`+more+"}")), strings.TrimSuffix(run, "}")+","+more+"}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPoliciesOfState lets the public have the keys that are configured, of the whole and of its changes.
func TestPoliciesOfState(t *testing.T) {
	snapshot := func(state string) string { return `{"type":"STATE_SNAPSHOT","snapshot":` + state + `,"timestamp":1}` }
	delta := func(patch string) string { return `{"type":"STATE_DELTA","delta":` + patch + `,"timestamp":1}` }
	public := filter.Settings{Policy: event.PolicyPublic, StateKeys: []string{"plan", "a/b"}}
	for _, c := range [][2]string{
		{snapshot(`{"plan":{"steps":[1]},"x":"secret","Plan":"secret"}`), stays}, // twice the same name
		{snapshot(`{"plan":{"steps":[1]},"x":"secret"}`), snapshot(`{"plan":{"steps":[1]}}`)},
		{snapshot(`{"x":"secret"}`), snapshot(`{}`)},
		{snapshot(`{}`), snapshot(`{}`)},
		{snapshot(`["secret"]`), snapshot(`{}`)},
		{snapshot(`"secret"`), snapshot(`{}`)},
		{delta(`[{"op":"add","path":"/plan/steps/-","value":2},{"op":"replace","path":"/x","value":"secret"}]`), delta(`[{"op":"add","path":"/plan/steps/-","value":2}]`)},
		{delta(`[{"op":"replace","path":"/a~1b","value":{"x":1},"note":"secret"}]`), delta(`[{"op":"replace","path":"/a~1b","value":{"x":1}}]`)},
		{delta(`[{"op":"replace","path":"/x","value":"secret"}]`), stays},
		{delta(`[{"op":"replace","path":"","value":{"plan":"secret"}}]`), stays},
		{delta(`[{"op":"copy","from":"/x","path":"/plan"}]`), stays},
	} {
		if got := last(leave(t, public, c[0])); got != c[1] || strings.Contains(got, "secret") {
			t.Errorf("of %s leaves %s, want %s", c[0], got, c[1])
		}
		without := public
		without.Out = []event.Kind{event.KindState}
		for _, s := range []filter.Settings{without, {Policy: event.PolicyPublic}} {
			if got := last(leave(t, s, c[0])); strings.Contains(got, "plan") || strings.Contains(got, "a~1b") {
				t.Errorf("without state, of %s leaves %s", c[0], got)
			}
		}
	}
}

// TestPoliciesOfThoughts sends every event about reasoning, and what no reader is to get.
func TestPoliciesOfThoughts(t *testing.T) {
	testPolicies(t, nil, []policyCase{
		{`{"type":"REASONING_START","messageId":"secret"}`, whole, stays},
		{`{"type":"REASONING_MESSAGE_START","messageId":"secret","role":"reasoning"}`, whole, stays},
		{`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"secret"}`, whole, stays},
		{`{"type":"REASONING_MESSAGE_END","messageId":"secret"}`, whole, stays},
		{`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"secret"}`, whole, stays},
		{`{"type":"REASONING_END","messageId":"secret"}`, whole, stays},
		{`{"type":"THINKING_START","title":"secret"}`, whole, stays},
		{`{"type":"THINKING_TEXT_MESSAGE_START"}`, whole, stays},
		{`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"secret"}`, whole, stays},
		{`{"type":"THINKING_TEXT_MESSAGE_END"}`, whole, stays},
		{`{"type":"THINKING_END"}`, whole, stays},
		{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"secret"}`, whole, stays},

		// What is meant for nobody outside.
		{`{"type":"RAW","event":{"x":"secret"},"source":"secret"}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"system"}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":["system"]}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"\u200bSYSTEM"}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"reasoning"}`, whole, stays},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"reasoning","delta":"secret"}`, whole, stays},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"r","role":"reasoning","content":"secret"}]}`, whole, stays},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"Developer "}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"secret"}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"never begun","delta":"secret"}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_END","messageId":"never begun"}`, stays, stays},
		{`{"type":"TEXT_MESSAGE_CHUNK","delta":"secret"}`, stays, stays},
		{`{"type":"internal:STEP_STARTED","stepName":"secret"}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret","kind":"internal:x"}`, stays, stays},
		{`{"type":"CUSTOM","name":"internal:x","value":"secret"}`, stays, stays},
		{`{"type":"CUSTOM","name":"x","value":"secret","event":{"name":"internal:x"}}`, stays, stays},
		{`{"type":"CUSTOM","name":"x","value":"secret","event":"internal:x"}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret","result":{"kind":"internal:x"}}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret","result":{"event":{"type":"internal:x"}}}`, stays, stays},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"internal:x","content":{"x":"secret"}}`, stays, stays},
		{`{"type":"ACTIVITY_DELTA","messageId":"m","activity_type":"internal:x","patch":[{"op":"add","path":"/x","value":"secret"}]}`, stays, stays},
		{`{"type":"CUSTOM","name":"x","value":{"kind":"internal:x","y":"secret"}}`, stays, stays},
		{`{"type":"CUSTOM","name":"x","value":[{"event":{"type":"Internal:x","y":"secret"}}]}`, stays, stays},
		{`{"type":"CUSTOM","name":"on_interrupt","Value":{"KIND":"ınternal","y":"secret"}}`, stays, stays},
		{`{"type":"CUSTOM","name":"x","value":{"kind":"external","y":{"kind":"internal:x"}}}`, whole, stays}, // its payload
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"x","content":{"type":"internal:x","y":"secret"}}`, stays, stays},
		{`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"x","patch":[{"op":"add","path":"/x","value":{"kind":"internal:x","y":"secret"}}]}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret","metadata":{"kind":"internal:x"}}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret","Type":"x"}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret","rawEvent":{"type":"internal:x"}}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret","rawEvent":[{"event":{"kind":"Internal:x"}}]}`, stays, stays},
		{`{"type":"NEVER_HEARD_OF","x":"secret"}`, stays, stays},
		{`{"type":["STEP_STARTED"],"stepName":"secret"}`, stays, stays},
		{`{"stepName":"secret"}`, stays, stays},
		{`{"type":"STEP_STARTED","stepName":"secret"`, stays, stays},
		{`"secret"`, stays, stays},
	})
}

func testPolicies(t *testing.T, before []string, cases []policyCase) {
	t.Helper()
	for _, c := range cases {
		want := c.client
		if want == whole {
			want = c.sent
		}
		sent := append(before[:len(before):len(before)], c.sent)
		client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		if got := last(leave(t, client, sent...)); got != want {
			t.Errorf("client: of %s\nleaves %s\nwant   %s", c.sent, got, want)
		}
		got := last(leave(t, filter.Settings{Policy: event.PolicyPublic}, sent...))
		if got != c.public || strings.Contains(got, "secret") {
			t.Errorf("public: of %s\nleaves %s\nwant   %s", c.sent, got, c.public)
		}
	}
}

func last(all []string) string { return all[len(all)-1] }

// TestPoliciesOfPieces makes sure that nothing leaves in pieces that would not leave whole: what is no assistant's, in whatever
// order and form it comes.
func TestPoliciesOfPieces(t *testing.T) {
	const (
		start = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":`
		piece = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"secret"}`
		end   = `{"type":"TEXT_MESSAGE_END","messageId":"m"}`
		chunk = `{"type":"TEXT_MESSAGE_CHUNK","delta":"secret"}`
	)
	answer := `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"Hello"}`
	for name, sent := range map[string][]string{
		"the user's":                       {start + `"user"}`, piece, end},
		"the system's":                     {start + `"system"}`, piece, piece, end},
		"of a role that nobody has":        {start + `"wizard"}`, piece, end},
		"of a role that is no string":      {start + `7}`, piece, end},
		"an answer begun again":            {start + `"assistant"}`, start + `"system"}`, piece, end},
		"begun again as an answer":         {start + `"system"}`, start + `"assistant"}`, piece, end},
		"after its end":                    {start + `"assistant"}`, end, piece},
		"after its run":                    {start + `"assistant"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, piece},
		"chunks of the system's":           {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"secret"}`, chunk, chunk},
		"chunks, the system's later":       {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"secret"}`, chunk},
		"chunks after what ends them":      {answer, `{"type":"STEP_STARTED","stepName":"x"}`, chunk},
		"chunks after a thought":           {answer, `{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"secret"}`, chunk},
		"chunks of the user's in between":  {answer, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`, chunk},
		"chunks of another's":              {answer, `{"type":"TEXT_MESSAGE_CHUNK","subagentRunId":"s","delta":"secret"}`},
		"chunks of one of two":             {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","subagentRunId":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"b","subagentRunId":"y"}`, chunk},
		"arguments after an answer":        {answer, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"secret"}`, `{"type":"TOOL_CALL_CHUNK","delta":"secret"}`, chunk},
		"arguments of a call of no name":   {`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","delta":"secret"}`},
		"the user's after what ends them":  {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`, `{"type":"STEP_STARTED","stepName":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"secret"}`},
		"the user's where an answer ended": {answer, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`},
	} {
		for _, frame := range leave(t, filter.Settings{Policy: event.PolicyPublic}, sent...) {
			if strings.Contains(frame, "secret") {
				t.Errorf("%s: %s leaves", name, frame)
			}
		}
	}
}

// TestClientPlays makes sure that a client that checks the order of events finds no half of anything: of a message either all
// leaves or nothing.
func TestClientPlays(t *testing.T) {
	for _, role := range []string{"assistant", "user", "system"} {
		got := leave(t, filter.Settings{Policy: event.PolicyClient}, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"`+role+`"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`)
		for _, one := range got {
			if (one == stays) != (role == "system") {
				t.Errorf("%s: %q", role, got)
				break
			}
		}
	}
}

// TestSettings lets out, and keeps in, what the configuration names.
func TestSettings(t *testing.T) {
	for _, thought := range []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"reasoning"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"Thinking","delta":"Hm."}`,
		`{"type":"REASONING_START","messageId":"m"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"Hm."}`,
		`{"type":"THINKING_START","title":"Plan"}`, `{"type":"THINKING_END"}`,
	} {
		if got := last(leave(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, thought)); got != strings.Replace(thought, `"role":"Thinking"`, `"role":"reasoning"`, 1) {
			t.Errorf("of %s leaves %s", thought, got)
		}
		if got := last(leave(t, filter.Settings{Policy: event.PolicyClient}, thought)); got != stays {
			t.Errorf("no thoughts: of %s leaves %s", thought, got)
		}
	}
	for _, snapshot := range []string{`"content":"Hm."`, `"content":[{"text":"Hm."}]`} {
		snapshot = `{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","content":"Hi"},{"role":"reasoning",` + snapshot + `}]}`
		if got := last(leave(t, filter.Settings{Policy: event.PolicyClient}, snapshot)); got != stays {
			t.Errorf("no thoughts: of %s leaves %s", snapshot, got)
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
		if got := last(leave(t, filter.Settings{Policy: event.PolicyClient, Out: []event.Kind{kind}}, sent)); got != stays {
			t.Errorf("client: %s leaves though %v stays in", got, kind)
		}
	}
}

// TestFailure is what stands for an error that nobody can read.
func TestFailure(t *testing.T) {
	b := decode(t, `{"type":"RUN_ERROR","message":"said "no" and died"}`)
	if b.Rejected == "" || len(b.Events) != 1 || b.Events[0].Kind != event.KindError || !strings.Contains(b.Table.Failure, "RUN_ERROR") {
		t.Errorf("rejected as %q, %d events, replaced by %q", b.Rejected, len(b.Events), b.Table.Failure)
	}
}

// leave is what of each frame leaves by a policy.
func leave(t *testing.T, s filter.Settings, sent ...string) (got []string) {
	t.Helper()
	f := filter.New(s)
	decodeEach(t, sent, func(b *event.Batch) {
		frame, why := f.Apply(b)
		if why != filter.Passed {
			got = append(got, stays)
			return
		}
		got = append(got, string(frame.Data))
	})
	return got
}

func decode(t *testing.T, sent string) (b *event.Batch) {
	t.Helper()
	decodeEach(t, []string{sent}, func(got *event.Batch) { b = got })
	return b
}

func decodeEach(t *testing.T, sent []string, each func(*event.Batch)) {
	t.Helper()
	var wire []byte
	for _, data := range sent {
		name, _, _ := strings.Cut(data, "{")
		f := sse.Frame{Event: []byte(name), Data: []byte(strings.TrimPrefix(data, name))}
		if !strings.Contains(data, "{") {
			f = sse.Frame{Data: []byte(data)}
		}
		if strings.HasPrefix(data, `{"error"`) {
			f.Event = []byte("error")
		}
		var err error
		if wire, err = sse.AppendFrame(wire, f); err != nil {
			t.Fatal(err)
		}
	}
	c := collector.New([]dialect.Dialect{agui.Dialect{}}, collector.Settings{Frame: 1 << 20, JSONDepth: 128}, nil)
	decoding := c.Decode(&event.Stream{}, collector.Input{Reader: strings.NewReader(string(wire)), Arrival: func() time.Time { return time.Time{} }}, "agui")
	for range sent {
		b, err := decoding.Next()
		if err != nil {
			t.Fatal(err)
		}
		each(b)
	}
}

// TestPoliciesOfRawEvents sends the event of the agent's framework that a frame was made of, in which models' instructions may stand.
func TestPoliciesOfRawEvents(t *testing.T) {
	const chained = `{"data":{"input":{"messages":[[{"type":"system","content":"CANARY"}]]}}}`
	for frame, want := range map[string]string{
		`{"type":"STEP_STARTED", "rawEvent":` + chained + `,"stepName":"a"}`:                                                                `{"type":"STEP_STARTED","stepName":"a"}`,
		`{"type":"STEP_STARTED","stepName":"a","raw_event":"CANARY"}`:                                                                       `{"type":"STEP_STARTED","stepName":"a"}`,
		`{"type":"STEP_STARTED","ｒawEvent":"CANARY","stepName":"a"}`:                                                                        `{"type":"STEP_STARTED","stepName":"a"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"system","content":"CANARY"},{"role":"user","content":"Hi"}],"rawEvent":"CANARY"}`: `{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","content":"Hi"}]}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":"CANARY","rawEvent":"CANARY"}`:                                            `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
	} {
		for _, s := range everything {
			if s.Policy == event.PolicyClient {
				if got := last(leave(t, s, frame)); got != want {
					t.Errorf("of %s leaves %s, want %s", frame, got, want)
				}
			}
		}
	}
}
