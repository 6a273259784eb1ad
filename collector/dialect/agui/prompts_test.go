package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestPoliciesOfPrompts checks that no policy lets out instructions for models in conversations and
// requests, in any spelling that a reader might accept. A RUN_STARTED leaves without them.
func TestPoliciesOfPrompts(t *testing.T) {
	const run = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	const user, none = `{"role":"user","content":"Hi"}`, `"messages":[]`
	for messages, remaining := range map[string]string{
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
		for _, s := range allSettings {
			want := withheld
			if remaining != "" && s.Policy == event.PolicyClient {
				want = `{"type":"MESSAGES_SNAPSHOT",` + remaining + `}`
			}
			if got := last(filterFrames(t, s, `{"type":"MESSAGES_SNAPSHOT",`+messages+`}`)); got != want {
				t.Errorf("%s: filtering a conversation with %s gives %s, want %s", s.Policy, messages, got, want)
			}
			for _, input := range []string{`"input":{"threadId":"t",` + messages + `}`, `"Input":{` + messages + `}`, `"ın\u00adput":{` + messages + `}`} {
				if got := last(filterFrames(t, s, strings.TrimSuffix(run, "}")+","+input+"}")); got != run {
					t.Errorf("%s: filtering a request with %s gives %s, want %s", s.Policy, input, got, run)
				}
			}
		}
	}
	for _, input := range []string{`"input":"CANARY"`, `"input":[{"messages":[{"role":"system","content":"CANARY"}]}]`, `"input":{"messages":[{"role":"reasoning","content":"CANARY"}]}`} {
		if got := last(filterFrames(t, allSettings[0], strings.TrimSuffix(run, "}")+","+input+"}")); got != run {
			t.Errorf("filtering a request with %s gives %s, want %s", input, got, run)
		}
	}
	for _, harmless := range []string{
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","content":"system"},{"role":"assistant","toolCalls":[]},{"role":"tool","content":"x"},{"role":"activity","content":{"role":"developer"}}]}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[]}`, `{"type":"MESSAGES_SNAPSHOT","messages":null}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"role":"user","content":"Hi"}],"state":{"role":"system"}}}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":null}`,
	} {
		if got := last(filterFrames(t, allSettings[0], harmless)); got != harmless {
			t.Errorf("filtering %s gives %s, want it unchanged", harmless, got)
		}
	}
	// The other members stay as they were.
	const more = `"parentRunId":null,"x":[1.50,"é",{"a":{}}],"metadata":{"input":"x"}`
	if got, want := last(filterFrames(t, allSettings[0], strings.TrimSuffix(run, "}")+`,"input":{"messages":"CANARY"},`+more+"}")), strings.TrimSuffix(run, "}")+","+more+"}"; got != want {
		t.Errorf("filtering a request gives %s, want %s", got, want)
	}
}

// TestPoliciesOfRawEvents checks that the framework's own event, which may contain instructions for
// models, is removed from a frame.
func TestPoliciesOfRawEvents(t *testing.T) {
	const chained = `{"data":{"input":{"messages":[[{"type":"system","content":"CANARY"}]]}}}`
	for frame, want := range map[string]string{
		`{"type":"STEP_STARTED", "rawEvent":` + chained + `,"stepName":"a"}`:                                                                `{"type":"STEP_STARTED","stepName":"a"}`,
		`{"type":"STEP_STARTED","stepName":"a","raw_event":"CANARY"}`:                                                                       `{"type":"STEP_STARTED","stepName":"a"}`,
		`{"type":"STEP_STARTED","ｒawEvent":"CANARY","stepName":"a"}`:                                                                        `{"type":"STEP_STARTED","stepName":"a"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"system","content":"CANARY"},{"role":"user","content":"Hi"}],"rawEvent":"CANARY"}`: `{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","content":"Hi"}]}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":"CANARY","rawEvent":"CANARY"}`:                                            `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
	} {
		if got := last(filterFrames(t, allSettings[0], frame)); got != want {
			t.Errorf("filtering %s gives %s, want %s", frame, got, want)
		}
	}
}

// TestPoliciesOfPieces checks that a message that is not an assistant's does not leave in pieces either,
// in any order and form.
func TestPoliciesOfPieces(t *testing.T) {
	const (
		start = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":`
		piece = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"secret"}`
		end   = `{"type":"TEXT_MESSAGE_END","messageId":"m"}`
		chunk = `{"type":"TEXT_MESSAGE_CHUNK","delta":"secret"}`
	)
	answer := `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"Hello"}`
	for name, sent := range map[string][]string{
		"the user's":                   {start + `"user"}`, piece, end},
		"the system's":                 {start + `"system"}`, piece, piece, end},
		"of an unknown role":           {start + `"wizard"}`, piece, end},
		"of a role of another type":    {start + `7}`, piece, end},
		"an answer restarted":          {start + `"assistant"}`, start + `"system"}`, piece, end},
		"restarted as an answer":       {start + `"system"}`, start + `"assistant"}`, piece, end},
		"after its end":                {start + `"assistant"}`, end, piece},
		"after its run":                {start + `"assistant"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, piece},
		"chunks of the system's":       {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"secret"}`, chunk, chunk},
		"chunks, later the system's":   {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"secret"}`, chunk},
		"chunks after their end":       {answer, `{"type":"STEP_STARTED","stepName":"x"}`, chunk},
		"chunks after a thought":       {answer, `{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"secret"}`, chunk},
		"chunks of the user between":   {answer, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`, chunk},
		"chunks of a subagent":         {answer, `{"type":"TEXT_MESSAGE_CHUNK","subagentRunId":"s","delta":"secret"}`},
		"chunks of two subagents":      {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","subagentRunId":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"b","subagentRunId":"y"}`, chunk},
		"arguments after an answer":    {answer, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"secret"}`, `{"type":"TOOL_CALL_CHUNK","delta":"secret"}`, chunk},
		"arguments of an unnamed call": {`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","delta":"secret"}`},
		"the user's after their end":   {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`, `{"type":"STEP_STARTED","stepName":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"secret"}`},
		"the user's after an answer":   {answer, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"secret"}`},
	} {
		for _, frame := range filterFrames(t, filter.Settings{Policy: event.PolicyPublic}, sent...) {
			if strings.Contains(frame, "secret") {
				t.Errorf("%s: %s is let out", name, frame)
			}
		}
	}
}

// TestMessagesAreWhole checks that a client gets every frame of a message or none, because clients check
// the order of events.
func TestMessagesAreWhole(t *testing.T) {
	for _, role := range []string{"assistant", "user", "system"} {
		got := filterFrames(t, filter.Settings{Policy: event.PolicyClient}, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"`+role+`"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`)
		for _, output := range got {
			if (output == withheld) != (role == "system") {
				t.Errorf("a message with the role %s becomes %q", role, got)
				break
			}
		}
	}
}
