package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestSecondStarts checks that a call that an internal agent starts again leaves with one start and one end.
//
// Source: _handle_single_event in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47, after a tool of langgraph-swarm 0.1.
func TestSecondStarts(t *testing.T) {
	alice, audit, unnamed := langChain("alice", "one:1|model:2"), langChain("internal_audit", "two:3|tools:4"), func(frame string) string { return frame }
	frames := []string{begun[2], `{"type":"TOOL_CALL_ARGS","toolCallId":"d","delta":"{}"}`, `{"type":"TOOL_CALL_END","toolCallId":"d"}`}
	const result = `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"d","content":"x"}`
	of := func(agent func(string) string) (sent []string) {
		for _, frame := range frames {
			sent = append(sent, agent(frame))
		}
		return sent
	}
	for what, c := range map[string]struct {
		sent  []string
		leave int // frames in all
	}{
		"after the result":       {slices.Concat(of(alice), []string{result}, of(audit)), 5},
		"before the result":      {slices.Concat(of(alice), of(audit), []string{result}), 5},
		"with an unnamed end":    {slices.Concat(of(alice), []string{result, audit(frames[0]), frames[1], frames[2]}), 5},
		"twice":                  {slices.Concat(of(alice), []string{result}, of(audit), of(audit)), 5},
		"by an ordinary agent":   {slices.Concat(of(alice), []string{result}, of(unnamed)), 8},
		"then by an ordinary":    {slices.Concat(of(alice), []string{result}, of(audit), of(alice)), 8},
		"not ended":              {slices.Concat(of(alice), []string{result, audit(frames[0])}, of(alice)), 8},
		"before the end":         {slices.Concat(of(alice)[:2], []string{audit(frames[0]), audit(frames[1])}, of(alice)[2:]), 4},
		"end of an internal one": {slices.Concat(of(alice)[:2], []string{audit(frames[2])}), 4},
	} {
		for i, s := range allSettings {
			got := strings.Join(filterFrames(t, s, append([]string{run}, c.sent...)...), "\n")
			starts, ends, all := strings.Count(got, "CALL_START"), strings.Count(got, "CALL_END"), strings.Count(got, `{"type"`)
			if starts != ends || i == 0 && all != c.leave {
				t.Errorf("%s: %d frames with %d starts and %d ends leave: %s", what, all, starts, ends, got)
			}
		}
	}
}

// TestListsAfterSecondStarts checks that what left of a message or call stays in lists and states after an internal agent repeats it, and
// that other words under its ID do not leave. Python writes arguments anew.
func TestListsAfterSecondStarts(t *testing.T) {
	alice, audit := langChain("alice", "one:1|model:2"), langChain("internal_audit", "two:3|tools:4")
	const result = `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"lc-call-1","content":"done"}`
	said := func(text string) []string {
		return []string{`{"type":"TEXT_MESSAGE_START","messageId":"lc-run-1","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"lc-run-1","delta":"` + text + `"}`, `{"type":"TEXT_MESSAGE_END","messageId":"lc-run-1"}`}
	}
	called := func(city string) []string { return toolCall("lc-call-1", "f", `{"q":"`+city+`"}`, "")[:3] }
	by := func(agent func(string) string, all ...[]string) (sent []string) {
		for _, frame := range slices.Concat(all...) {
			sent = append(sent, agent(frame))
		}
		return sent
	}
	listed := func(text, city string) []string {
		message := `{"id":"lc-run-1","role":"assistant","content":"` + text + `","tool_calls":[{"id":"lc-call-1","name":"f","args":{"q": "` + city + `"}}]}`
		answer := `{"id":"y2","role":"tool","content":"done","tool_call_id":"lc-call-1"}`
		return []string{
			`{"type":"MESSAGES_SNAPSHOT","messages":[` + message + "," + answer + `]}`, `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + message + "," + answer + `]}}`,
			`{"type":"CUSTOM","name":"ui","value":{"messageId":"lc-run-1","toolCallId":"lc-call-1"}}`,
		}
	}
	first := append(by(alice, said("Hi "), called("Zürich")), result)
	for what, c := range map[string]struct {
		before, again []string
		lists         []string
		leave         bool
	}{
		"the same":                      {first, by(audit, said("Hi "), called("Z\\u00fcrich")), listed("Hi", `Z\u00fcrich`), true},
		"the same, in a step":           {append(slices.Clone(first), `{"type":"STEP_STARTED","stepName":"internal_step"}`), by(audit, said("Hi "), called("Zürich")), listed("Hi ", "Zürich"), true},
		"the same, twice":               {first, slices.Concat(by(audit, said("Hi "), called("Zürich")), by(audit, said("Hi "), called("Zürich"))), listed("Hi ", "Zürich"), true},
		"the same, then by an ordinary": {first, slices.Concat(by(audit, said("Hi "), called("Zürich")), by(alice, said("Hi "), called("Zürich"))), listed("Hi ", "Zürich"), true},
		"the same, in a step, unnamed":  {append(slices.Clone(first), `{"type":"STEP_STARTED","stepName":"internal_step"}`), slices.Concat(said("Hi "), called("Zürich")), listed("Hi ", "Zürich"), true},
		"another text, in a step":       {append(slices.Clone(first), `{"type":"STEP_STARTED","stepName":"internal_step"}`), said("CANARY"), listed("CANARY", "Zürich")[:2], false},
		"other arguments, in a step":    {append(slices.Clone(first), `{"type":"STEP_STARTED","stepName":"internal_step"}`), called("CANARY"), listed("Hi ", "CANARY")[:2], false},
		"beside another step":           {append(slices.Clone(first), `{"type":"STEP_STARTED","stepName":"internal_step"}`, `{"type":"STEP_STARTED","stepName":"other"}`), slices.Concat(said("Hi "), called("Zürich")), listed("Hi ", "Zürich"), true},
		"another text":                  {first, by(audit, said("CANARY")), listed("CANARY", "Zürich")[:2], false},
		"a longer text":                 {first, by(audit, said("CANARY")), listed("Hi CANARY", "Zürich")[:2], false},
		"other arguments":               {first, by(audit, called("CANARY")), listed("Hi ", "CANARY")[:2], false},
		"not ended":                     {first[:2], by(audit, said("CANARY")), listed("Hi CANARY", "Zürich")[:2], false},
	} {
		sent := slices.Concat([]string{run}, c.before, c.again, []string{`{"type":"STEP_FINISHED","stepName":"internal_step"}`}, c.lists)
		got := filterFrames(t, allSettings[0], sent...)
		for i, list := range got[len(got)-len(c.lists):] {
			if c.leave && list != c.lists[i] {
				t.Errorf("%s: %s leaves as %s", what, c.lists[i], list)
			}
		}
		if strings.Contains(strings.Join(got, "\n"), "CANARY") {
			t.Errorf("%s: %q leaves", what, got)
		}
	}
}
