package agui_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestRepeatedTexts checks that lists and states do not repeat the text of a withheld message under a new ID or none, and that what
// ordinary agents say leaves.
//
// Source: litellm_messages_to_ag_ui_messages in ag_ui_crewai/sdk.py of ag-ui-crewai 1.0.
func TestRepeatedTexts(t *testing.T) {
	const step, end = `{"type":"STEP_STARTED","stepName":"internal_draft"}`, `{"type":"STEP_FINISHED","stepName":"internal_draft"}`
	said := func(id, text string) []string {
		return []string{`{"type":"TEXT_MESSAGE_START","messageId":"` + id + `","role":"assistant"}`, fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":%q,"delta":%q}`, id, text[:4]), fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":%q,"delta":%q}`, id, text[4:]), `{"type":"TEXT_MESSAGE_END","messageId":"` + id + `"}`}
	}
	chunks := func(id, text string) []string {
		return []string{fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":%q,"role":"assistant","delta":%q}`, id, text[:4]), fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":%q,"delta":%q}`, id, text[4:])}
	}
	const draft = "a draft of the ledger"
	const message, named = `{"id":"new-id","role":"assistant","content":%q}`, `{"id":"new-id","name":"writer","role":"assistant","content":%q}`
	for what, c := range map[string]struct {
		ordinary, internal []string
		message, text      string
		leaves             bool
	}{
		"the same":                  {nil, said("m1", draft), message, draft, false},
		"in chunks":                 {nil, chunks("m1", draft), message, draft, false},
		"without an ID":             {nil, said("m1", draft), `{"role":"assistant","content":%q}`, draft, false},
		"of LangChain":              {nil, said("m1", draft), `{"id":"new-id","type":"ai","name":null,"content":%q}`, draft, false},
		"in parts":                  {nil, said("m1", draft), `{"id":"new-id","role":"assistant","content":[{"type":"text","text":%q}]}`, draft, false},
		"trimmed":                   {nil, said("m1", " "+draft+"\n"), message, draft, false},
		"of two messages":           {nil, append(said("m1", draft), said("m2", draft+", again")...), message, draft, false},
		"another text":              {nil, said("m1", draft), message, draft + ", again", true},
		"a short text":              {nil, said("m1", "Well, done."), message, "Well, done.", true},
		"of the user":               {nil, said("m1", draft), `{"id":"new-id","role":"user","content":%q}`, draft, true},
		"of an agent with a name":   {nil, said("m1", draft), named, draft, true},
		"that an ordinary one said": {said("m0", draft), said("m1", draft), message, draft, true},
		"that one said in chunks":   {chunks("m0", draft), said("m1", draft), message, draft, true},
		"of a message that left":    {said("new-id", draft[:8]), said("m1", draft), message, draft, true},
	} {
		for _, list := range []string{`{"type":"MESSAGES_SNAPSHOT","messages":[%s]}`, `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[%s]}}`} {
			listed := fmt.Sprintf(c.message, c.text)
			sent := append(append(append([]string{run}, c.ordinary...), step), c.internal...)
			sent = append(sent, end, fmt.Sprintf(list, listed))
			if got := last(filterFrames(t, allSettings[0], sent...)); strings.Contains(got, listed) != c.leaves {
				t.Errorf("%s: it leaves as %s", what, got)
			}
		}
	}
}

// TestRepeatedPatches checks that a patch of a state does not bring the text of a withheld message.
func TestRepeatedPatches(t *testing.T) {
	sent := []string{run, `{"type":"STEP_STARTED","stepName":"internal_draft"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","role":"assistant","delta":"a draft of the ledger"}`, `{"type":"STEP_FINISHED","stepName":"internal_draft"}`}
	for patch, leaves := range map[string]bool{
		`{"op":"add","path":"/messages/-","value":{"id":"new-id","role":"assistant","content":"a draft of the ledger"}}`:        false,
		`{"op":"add","path":"/messages/-","value":{"id":"new-id","role":"assistant","content":"a draft of the ledger, again"}}`: true,
		`{"op":"add","path":"/messages","value":[{"id":"new-id","type":"ai","content":"a draft of the ledger"}]}`:               false,
		`{"op":"replace","path":"/messages/0/content","value":"a draft of the ledger"}`:                                         false,
		`{"op":"replace","path":"/messages/0/content","value":"another text"}`:                                                  true,
	} {
		frame := `{"type":"STATE_DELTA","delta":[` + patch + `]}`
		if got := last(filterFrames(t, allSettings[0], append(sent[:len(sent):len(sent)], frame)...)); (got == frame) != leaves {
			t.Errorf("%s leaves as %s", frame, got)
		}
	}
}

// TestErrorsAfterWork checks that the message of an error does not leave after work of an internal agent, until an ordinary one begins
// something.
//
// Source: real streams of ag_ui_langgraph 0.0.47, of which an agent of create_agent failed.
func TestErrorsAfterWork(t *testing.T) {
	const failure = `{"type":"RUN_ERROR","message":"the ledger is empty"}`
	model := func(agent string) string {
		return `{"type":"RAW","event":{"event":"on_chat_model_start","data":{},"metadata":{"langgraph_node":"model","lc_agent_name":"` + agent + `"}}}`
	}
	const step, ended = `{"type":"STEP_STARTED","stepName":"model"}`, `{"type":"STEP_FINISHED","stepName":"model"}`
	for what, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"of a model of LangChain":           {[]string{step, model("internal_audit")}, false},
		"of an ordinary one after it":       {[]string{step, model("internal_audit"), model("writer")}, true},
		"of a step after it":                {[]string{step, model("internal_audit"), ended, step}, true},
		"with an open message":              {[]string{`{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","name":"internal_audit"}`}, false},
		"with an open message, then others": {[]string{`{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","name":"internal_audit"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant"}`}, true},
		"of a subagent":                     {[]string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"internal_audit"}`}, false},
	} {
		got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.sent...), failure)...))
		if (got == failure) != c.leaves || !strings.Contains(got, "RUN_ERROR") {
			t.Errorf("an error %s leaves as %s", what, got)
		}
	}
}

// TestMethodOutputs checks that the question of an internal method of CrewAI leaves without what the method returned.
func TestMethodOutputs(t *testing.T) {
	const value = `{"id":"flow-0001","reason":"crewai:human_feedback","message":"Please review","metadata":{"crewai":{"methodName":"internal_draft","output":"CANARY"}}}`
	for _, frame := range []string{
		`{"type":"CUSTOM","name":"on_interrupt","value":` + value + `}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[` + value + `]}}`,
	} {
		if got := last(filterFrames(t, allSettings[0], run, frame)); got != strings.Replace(frame, `,"output":"CANARY"`, "", 1) {
			t.Errorf("an internal method: %s", got)
		}
		ordinary := strings.Replace(frame, "internal_", "", 1)
		if got := last(filterFrames(t, allSettings[0], run, ordinary)); got != ordinary {
			t.Errorf("an ordinary method: %s", got)
		}
	}
}
