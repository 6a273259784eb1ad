package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// callOf returns the frames of an internal call with an ID and a result.
func callOf(id string) []string {
	return []string{
		run, evasions["event in metadata"](`{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"f"}`),
		`{"type":"TOOL_CALL_RESULT","messageId":"result","toolCallId":"` + id + `","content":"the secret plan"}`,
	}
}

// TestFramesThatName checks what becomes of a frame that has the ID of a withheld call, wherever it is.
func TestFramesThatName(t *testing.T) {
	const id = "call_9f3a2b7c"
	activity := func(id, content string) string {
		return `{"type":"ACTIVITY_SNAPSHOT","messageId":"` + id + `","activityType":"a","content":` + content + `}`
	}
	const message, end = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","metadata":{"of":["ID"]}}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	list := func(messages string) string { return `{"type":"MESSAGES_SNAPSHOT","messages":[` + messages + `]}` }
	finish := func(more string) string { return strings.TrimSuffix(end, "}") + more + "}" }
	const result = `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"d","content":`
	for sent, want := range map[string]string{
		activity("a2ui-surface-ID", `{"x":1}`):                            withheld,
		activity("ID", `{"x":1}`):                                         withheld,
		activity("a", `{"toolCallId":"ID","x":1}`):                        withheld,
		activity("a", `{"ID":{"x":1}}`):                                   withheld,
		activity("a", `{"x":"{\"of\":[\"tool:ID\"]}"}`):                   withheld,
		activity("a", `{"messages":[{"id":"ID-1","content":"x"}],"x":1}`): withheld,
		`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"a","patch":[{"op":"add","path":"/calls/ID/out","value":1}]}`: withheld,
		`{"type":"CUSTOM","name":"x","value":{"id":"tool:ID"}}`:                                                                withheld,
		`{"type":"STEP_STARTED","stepName":"tool:ID"}`:                                                                         withheld,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"ID/1","name":"n"}`:                                                        withheld,
		message: withheld,
		`{"type":"REASONING_MESSAGE_START","messageId":"ID-thought"}`:                                      withheld,
		`{"type":"TOOL_CALL_START","toolCallId":"ID.1","toolCallName":"g"}`:                                withheld,
		`{"type":"STATE_SNAPSHOT","snapshot":{"last":"ID","x":1}}`:                                         withheld,
		`{"type":"STATE_SNAPSHOT","snapshot":["ID","x"]}`:                                                  withheld,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/ID"}]}`:                                       withheld,
		`{"type":"STATE_SNAPSHOT","snapshot":{"a":{"ID":{"x":1},"b":2}}}`:                                  `{"type":"STATE_SNAPSHOT","snapshot":{"a":{"b":2}}}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"a":[{"of":["ID"]},{"b":2}]}}`:                               `{"type":"STATE_SNAPSHOT","snapshot":{"a":[{"b":2}]}}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"a":"{\"of\":\"ID\"}","b":2}}`:                               `{"type":"STATE_SNAPSHOT","snapshot":{"b":2}}`,
		finish(`,"result":{"calls":[{"toolCallId":"ID","out":"x"}]}`):                                      end,
		finish(`,"result":"{\"messages\":[{\"id\":\"ID\"}]}"`):                                             end,
		finish(`,"outcome":{"type":"success","calls":{"ID":"x"}}`):                                         finish(`,"outcome":{"type":"success"}`),
		finish(`,"metadata":{"of":"ID"}`):                                                                  end,
		list(`{"id":"a","role":"activity","activityType":"a","content":{"toolCallId":"ID"}},` + hello):     list(hello),
		list(`{"id":"a2ui-surface-ID","role":"activity","activityType":"a","content":{"x":1}},` + hello):   list(hello),
		list(`{"id":"x","role":"tool","toolCallId":"d","content":"[{\"of\":\"ID\"}]"},` + hello):           list(hello),
		list(`{"id":"x","role":"assistant","content":"x","metadata":{"of":"ID"}},` + hello):                list(hello),
		list(`{"id":"x","role":"assistant","toolCalls":[{"id":"ID-1","function":{"name":"g"}}]},` + hello): list(hello),
		strings.TrimSuffix(run, "}") + `,"input":{"messages":[` + hello + `],"state":{"of":"ID"}}}`:        run,
		result + `"{\"of\":\"ID\"}"}`:                                                                      `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"d","content":""}`,
	} {
		named := strings.ReplaceAll(sent, "ID", id)
		begun := []string{`{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"g"}`, activity("a", "{}"), named}
		if got := last(filterFrames(t, allSettings[0], append(callOf(id), begun...)...)); got != want {
			t.Errorf("%s becomes %s, want %s", named, got, want)
		}
		if got := last(filterFrames(t, allSettings[0], append(callOf("other-1"), begun...)...)); got != named {
			t.Errorf("%s of another call becomes %s", named, got)
		}
	}
}

// TestNamesOfOthers checks that IDs of other entities leave, however similar they are.
func TestNamesOfOthers(t *testing.T) {
	for id, texts := range map[string][]string{
		"1":        {"2", "a-1", "1-a", "v0.1", "11", "/items/1"},
		"1.2":      {"1.2.3", "v1.2", "a-1.2"},
		"plan":     {"plan-1", "my.plan", "planner"},
		"c1":       {"c10", "xc1", "a/c1/b", "C1", "use c1", "c1\\nx", "a-c1", "c1:a"},
		"call_123": {"call_1234", "recall_123", "see call_123"},
	} {
		for _, text := range texts {
			sent := `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"a","content":{"id":"` + text + `"}}`
			if got := last(filterFrames(t, allSettings[0], append(callOf(id), sent)...)); got != sent {
				t.Errorf("after %s, %s becomes %s", id, sent, got)
			}
		}
	}
	for id, texts := range map[string][]string{
		"1": {"1"}, "plan": {"plan"}, "c1": {"c1"}, "call_123": {"a/call_123/b", "call_123", "é-call_123"},
		"-ab12_cd":               {"x--ab12_cd", "-ab12_cd.x"},
		strings.Repeat("x", 300): {"a-" + strings.Repeat("x", 300), strings.Repeat("x", 300)},
	} {
		for _, text := range texts {
			sent := `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"a","content":{"id":"` + text + `"}}`
			if got := last(filterFrames(t, allSettings[0], append(callOf(id), sent)...)); got != withheld {
				t.Errorf("after %s, %s becomes %s", id, sent, got)
			}
		}
	}
}

// TestNamesInWords checks that a frame leaves although a word of it, or the label of an agent, is the ID of something withheld.
func TestNamesInWords(t *testing.T) {
	const start = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"plan"}`
	for _, sent := range [][]string{
		{start}, {start, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"plan"}`}, {`{"type":"STEP_STARTED","stepName":"plan"}`},
		{`{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"plan"}`}, {`{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"g"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"d","delta":"plan"}`},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"plan","content":{}}`},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"x","role":"user","content":"plan"},{"id":"y","role":"assistant","content":"plan","name":"plan"}]}`},
	} {
		if got := last(filterFrames(t, allSettings[0], append(callOf("plan"), sent...)...)); got != last(sent) {
			t.Errorf("%s becomes %s", last(sent), got)
		}
	}
}

// TestNamesAfterStart checks that what a client has seen begin ends, although a later part of it names something withheld.
func TestNamesAfterStart(t *testing.T) {
	const start, end = `{"type":"TEXT_MESSAGE_START","messageId":"m-call_123","role":"assistant"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m-call_123"}`
	const piece = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m-call_123","delta":"x"}`
	call := callOf("call_123")
	if got := filterFrames(t, allSettings[0], run, start, call[1], piece, end); got[3] != piece || got[4] != end {
		t.Errorf("after its start, a message becomes %q", got[3:])
	}
	if got := filterFrames(t, allSettings[0], run, start, call[1], with(`"of":"call_123"`)(piece), piece, end); got[3] != withheld || got[4] != withheld || got[5] != end {
		t.Errorf("a message with a piece that names a call becomes %q", got[3:])
	}
	activity := `{"type":"ACTIVITY_SNAPSHOT","messageId":"a-call_123","activityType":"a","content":{}}`
	change := `{"type":"ACTIVITY_DELTA","messageId":"a-call_123","activityType":"a","patch":[]}`
	if got := filterFrames(t, allSettings[0], run, activity, call[1], change, activity); got[1] != activity || got[3] != withheld || got[4] != withheld {
		t.Errorf("an activity becomes %q", got[1:])
	}
	listed := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"activity","activityType":"a","content":{"of":"call_123"}}]}`
	if got := last(filterFrames(t, allSettings[0], append(call, listed, `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"a","patch":[]}`)...)); got != withheld {
		t.Errorf("the change of a withheld activity of a list becomes %s", got)
	}
	cut, delta := `{"type":"STATE_SNAPSHOT","snapshot":{"a":{"of":"call_123"},"b":1}}`, `{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}`
	if got := last(filterFrames(t, allSettings[0], append(call, cut, delta)...)); got != withheld {
		t.Errorf("the change of a state that left in part becomes %s", got)
	}
}

// TestMessagesInActivities checks that an activity leaves without the withheld messages in it, if nothing else in it names them.
func TestMessagesInActivities(t *testing.T) {
	const internal, said = `{"type":"TEXT_MESSAGE_START","messageId":"m","kind":"internal:x"}`, `{"id":"m","role":"assistant","content":"x"}`
	frame := func(messages, more string) string {
		return `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"a","content":{"messages":[` + messages + `]` + more + `}}`
	}
	list := func(messages, more string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"activity","activityType":"a","content":{"messages":[` + messages + `]` + more + `}}]}`
	}
	for _, in := range []func(messages, more string) string{frame, list} {
		if got := last(filterFrames(t, allSettings[0], run, internal, in(said+","+hello, ""))); got != in(hello, "") {
			t.Errorf("got %s", got)
		}
		if got := last(filterFrames(t, allSettings[0], run, internal, in(said+","+hello, `,"last":"m"`))); strings.Contains(got, "last") {
			t.Errorf("got %s", got)
		}
	}
}

// TestActivitiesAfterUnreadable checks that an activity about a call that may be internal is withheld.
func TestActivitiesAfterUnreadable(t *testing.T) {
	call := startCases["a call"][0]
	sent := `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"a","content":{"x":[{"callId":"c"}]}}`
	if got := last(filterFrames(t, allSettings[0], run, evasions["unreadable"](call), sent)); got != withheld {
		t.Errorf("after an unreadable frame: %s", got)
	}
	if got := last(filterFrames(t, allSettings[0], run, call, evasions["unreadable"](startCases["a message"][0]), sent)); got != sent {
		t.Errorf("of a call that left: %s", got)
	}
}

// TestPlainIDs checks that a plain ID of something withheld takes nothing else along: a client may number its messages, and a state may
// have the same number or word.
func TestPlainIDs(t *testing.T) {
	list := func(id string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"` + id + `","role":"system","content":"prompt"},` + hello + `]}`
	}
	prompts := map[string][]string{"1": {list("1")}, "system": {list("system")}, "chat-00042": {list("chat-00042")}, "call_1": {list("call_1")}}
	calls := map[string][]string{"1": callOf("1"), "system": callOf("system"), "call_1": callOf("call_1")}
	frames := []string{
		`{"type":"STATE_SNAPSHOT","snapshot":{"cities":[{"id":"ID","city":"Paris"},{"id":"2"}],"theme":"ID","ID":1}}`,
		`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/page","value":"ID"}]}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"d","content":"{\"page\":\"ID\"}"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"d","content":"ID"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"page":"ID"}}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"x-ID","role":"user","content":"Hi"},{"id":"ID-1","role":"assistant","content":"Ho"}]}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"ID-1","role":"assistant"}`,
	}
	onlyPrompts := []string{
		`{"type":"CUSTOM","name":"x","value":{"page":"ID"}}`, `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"a","content":{"page":"ID"}}`,
	}
	check := func(before []string, id string, frames []string) {
		for _, frame := range frames {
			sent := append(append([]string{run}, before...), `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"g"}`, strings.ReplaceAll(frame, "ID", id))
			if got := last(filterFrames(t, allSettings[0], sent...)); got != last(sent) {
				t.Errorf("after %s, %s becomes %s", last(before), last(sent), got)
			}
		}
	}
	for id, before := range prompts {
		check(before, id, append(frames, onlyPrompts...))
	}
	for id, before := range calls {
		check(before, id, frames)
	}
	check([]string{`{"type":"TEXT_MESSAGE_START","messageId":"chat-00042","name":"internal:x"}`}, "chat-00042", frames[5:])
}

// TestTextsOfManyParts checks that a text is withheld that would have to be compared with too many IDs, and that an ordinary text with
// many IDs leaves.
func TestTextsOfManyParts(t *testing.T) {
	sent := []string{run}
	call := func(id string) string {
		return `{"type":"TOOL_CALL_START","kind":"internal","toolCallId":"` + id + `","toolCallName":"f"}`
	}
	others := ""
	for i := range 100 {
		sent = append(sent, call(strings.Repeat("-", 20+i)+"1"), call(fmt.Sprintf("toolu_01%016d", i)))
		others += fmt.Sprintf("toolu_01%016d,", 1000+i)
	}
	for text, leaves := range map[string]bool{strings.Repeat("-", 4000): false, strings.Repeat("-", 15): true, others: true, others + "toolu_01" + strings.Repeat("0", 16): false} {
		state := `{"type":"STATE_SNAPSHOT","snapshot":{"x":"` + text + `"}}`
		if got := last(filterFrames(t, allSettings[0], append(slices.Clone(sent), state)...)); (got == state) != leaves {
			t.Errorf("%s leaves as %s", state, got)
		}
	}
}
