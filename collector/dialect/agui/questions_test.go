package agui_test

import (
	"strings"
	"testing"
)

// TestWithheldQuestions checks that the end of a run leaves without a question about something withheld, and without its outcome if that asks
// nothing else.
func TestWithheldQuestions(t *testing.T) {
	finish := func(link string) string {
		return `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"j","reason":"x"},{"id":"i","reason":"tool_call","message":"secret",` + link + `}]}}`
	}
	for name, c := range map[string]struct{ start, link string }{
		"a call":                   {startCases["a call"][0], `"toolCallId":"c"`},
		"a call, in Python's case": {startCases["a call"][0], `"tool_call_id":"c"`},
		"a call of a subagent":     {startCases["a subagent"][0], `"subagentRunId":"s"`},
		"a call in its metadata":   {startCases["a call"][0], `"metadata":{"call":{"id":"c"}}`},
	} {
		for _, s := range allSettings {
			const start = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
			if got, want := last(filterFrames(t, s, start, evasions["kind"](c.start), finish(c.link))), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"j","reason":"x"}]}}`; got != want {
				t.Errorf("%s, %s: got %s, want %s", name, s.Policy, got, want)
			}
			alone := strings.Replace(finish(c.link), `{"id":"j","reason":"x"},`, "", 1)
			if got := last(filterFrames(t, s, start, evasions["kind"](c.start), alone)); got != `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}` {
				t.Errorf("%s, alone, %s: got %s, want it without its outcome", name, s.Policy, got)
			}
			if got := last(filterFrames(t, s, start, c.start, finish(c.link))); !strings.Contains(got, `"id":"i"`) {
				t.Errorf("%s that leaves, %s: got %s, want it with its question", name, s.Policy, got)
			}
		}
	}
}

// TestQuestionsOfWithheldAgents checks that the end of a run leaves without its outcome if a withheld subagent or nested run asked
// the question, or may have asked it.
func TestQuestionsOfWithheldAgents(t *testing.T) {
	const start, bare = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	const subagent, suspended = `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended","interruptIds":["j","i"]}}`
	const nested = `{"type":"RUN_STARTED","threadId":"t","runId":"n","parentRunId":"r"}`
	asking := func(link string) string {
		return `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","message":"secret"` + link + `}]}}`
	}
	internal, unreadable := evasions["kind"], evasions["unreadable"]
	for name, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"a subagent":                   {[]string{subagent, suspended, asking("")}, true},
		"a withheld subagent":          {[]string{internal(subagent), suspended, asking("")}, false},
		"Python's names":               {[]string{internal(subagent), strings.Replace(suspended, "interruptIds", "interrupt_ids", 1), asking("")}, false},
		"another question":             {[]string{internal(subagent), strings.Replace(suspended, `"i"`, `"k"`, 1), asking("")}, true},
		"an internal end":              {[]string{subagent, internal(suspended), asking("")}, false},
		"an unreadable subagent":       {[]string{unreadable(subagent), suspended, asking("")}, false},
		"that it names":                {[]string{unreadable(subagent), asking(`,"subagentRunId":"s"`)}, false},
		"an unreadable call":           {[]string{unreadable(startCases["a call"][0]), asking(`,"toolCallId":"c"`)}, false},
		"a call before unreadable":     {[]string{startCases["a call"][0], unreadable(subagent), asking(`,"toolCallId":"c"`)}, true},
		"a nested run":                 {[]string{nested, strings.Replace(asking(""), `"r"`, `"n"`, 1), asking("")}, true},
		"a withheld nested run":        {[]string{internal(nested), strings.Replace(asking(""), `"r"`, `"n"`, 1), asking("")}, false},
		"a withheld nested run, draft": {[]string{internal(nested), `{"type":"RUN_FINISHED","threadId":"t","runId":"n","outcome":"interrupt","interrupt":{"id":"i"}}`, asking("")}, false},
	} {
		for _, s := range allSettings {
			if got := last(filterFrames(t, s, append([]string{start}, c.sent...)...)); c.leaves != strings.Contains(got, `"id":"i"`) || !c.leaves && got != bare {
				t.Errorf("%s, %s: the end becomes %s, want it with its question: %t", name, s.Policy, got, c.leaves)
			}
		}
	}
}

// TestCustomEventsOfWithheldCalls checks that a custom event is withheld if it names something withheld.
func TestCustomEventsOfWithheldCalls(t *testing.T) {
	call, message := startCases["a call"][0], startCases["a message"][0]
	const interrupt, other = `{"type":"CUSTOM","name":"on_interrupt","value":`, `{"type":"CUSTOM","name":"progress","value":`
	internal, unreadable := evasions["kind"], evasions["unreadable"]
	for name, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"a question about a call":           {[]string{internal(call), interrupt + `{"toolCallId":"c","message":"secret"}}`}, false},
		"a question in a list":              {[]string{internal(call), interrupt + `[{"value":{"tool_call_id":"c","message":"secret"}}]}`}, false},
		"a question as text":                {[]string{internal(call), interrupt + `"{\"toolCallId\":\"c\"}"}`}, false},
		"a question that names it beside":   {[]string{internal(call), `{"type":"CUSTOM","name":"on_interrupt","toolCallId":"c","value":"secret"}`}, false},
		"a question with the call":          {[]string{internal(call), interrupt + `{"toolCalls":[{"id":"c","function":{"arguments":"secret"}}]}}`}, false},
		"another event":                     {[]string{internal(call), other + `{"toolCallId":"c","x":"secret"}}`}, false},
		"another event about a message":     {[]string{internal(message), other + `{"messageId":"n"},"id":"m"}`}, false},
		"a question after unreadable":       {[]string{unreadable(call), interrupt + `{"toolCallId":"c"}}`}, false},
		"another event after unreadable":    {[]string{unreadable(call), other + `{"toolCallId":"c"}}`}, false},
		"another event about a known call":  {[]string{call, unreadable(message), other + `{"toolCallId":"c"}}`}, true},
		"a question about another call":     {[]string{internal(call), interrupt + `{"toolCallId":"d"}}`}, true},
		"a question about a call that left": {[]string{call, interrupt + `{"toolCallId":"c"}}`}, true},
		"a question about no call":          {[]string{internal(call), interrupt + `"Go on?"}`}, true},
	} {
		got := last(filterFrames(t, allSettings[0], append([]string{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`}, c.sent...)...))
		if (got == c.sent[len(c.sent)-1]) != c.leaves || !c.leaves && got != withheld {
			t.Errorf("%s: the last frame leaves as %s", name, got)
		}
	}
}

// TestCustomEventsThatName checks that a custom event is withheld if any part of it is the ID of something withheld.
func TestCustomEventsThatName(t *testing.T) {
	internal, unreadable := evasions["kind"], evasions["unreadable"]
	const start = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	for name, c := range map[string]struct {
		of     string // the case in startCases
		id     string
		values []string // each has the ID as ID
		unread []string // also withheld after an unreadable start
	}{
		"a message": {"a message", "m", []string{`{"id":"ID","x":1}`, `{"a":[["ID"]]}`}, []string{`{"messageId":"ID"}`, `{"message_id":"ID"}`, `[{"parentMessageId":"ID"}]`}},
		"a call": {"a call", "c", []string{`{"id":"ID"}`, `{"toolCall":{"id":"ID"}}`, `{"toolCallIds":["ID"]}`, `{"calls":{"ID":{"args":"secret"}}}`, `"ID"`, `"[\"ID\"]"`},
			[]string{`{"parentToolCallId":"ID"}`, `{"parent_tool_call_id":"ID"}`, `{"call_id":"ID"}`, `{"callId":"ID"}`}},
		"a subagent": {"a subagent", "s", []string{`{"subagent":{"id":"ID"}}`}, []string{`{"subagentRunId":"ID"}`, `{"parent_subagent_run_id":"ID"}`}},
	} {
		for i, value := range append(c.values, c.unread...) {
			named := `{"type":"CUSTOM","name":"progress","value":` + strings.ReplaceAll(value, "ID", c.id) + `}`
			other := `{"type":"CUSTOM","name":"progress","value":` + strings.ReplaceAll(value, "ID", "z") + `}`
			first := startCases[c.of][0]
			if got := last(filterFrames(t, allSettings[0], start, internal(first), named)); got != withheld {
				t.Errorf("%s: %s leaves", name, got)
			}
			if got := last(filterFrames(t, allSettings[0], start, unreadable(first), named)); i >= len(c.values) && got != withheld {
				t.Errorf("%s, unreadable: %s leaves", name, got)
			}
			for _, sent := range [][]string{{start, first, named}, {start, internal(first), other}} {
				if got := last(filterFrames(t, allSettings[0], sent...)); got != sent[2] {
					t.Errorf("%s: %s becomes %s", name, sent[2], got)
				}
			}
		}
	}
}
