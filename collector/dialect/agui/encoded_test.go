package agui_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestEncodedMarks sends values of applications in which a string is JSON that calls itself internal.
func TestEncodedMarks(t *testing.T) {
	const start = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	const suspend = `{\"type\":\"mastra_suspend\",\"toolCallId\":\"c\",\"suspendPayload\":{\"TYPE\":\"secret\"}}`
	mark := func(s string) string { return strings.Replace(s, "TYPE", `type\":\"internal:x\",\"m`, 1) }
	for name, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"a question of Mastra":    {[]string{`{"type":"CUSTOM","name":"on_interrupt","value":"` + mark(suspend) + `"}`}, false},
		"a question without":      {[]string{`{"type":"CUSTOM","name":"on_interrupt","value":"` + suspend + `"}`}, true},
		"another event":           {[]string{`{"type":"CUSTOM","name":"n","value":[{"v":"` + mark(suspend) + `"}]}`}, false},
		"a string in a string":    {[]string{`{"type":"CUSTOM","name":"n","value":{"v":"{\"w\":\"{\\\"kind\\\":\\\"internal\\\",\\\"m\\\":\\\"secret\\\"}\"}"}}`}, false},
		"JSON of lenient readers": {[]string{`{"type":"CUSTOM","name":"n","value":"{\"kind\":\"internal\",\"x\":NaN,\"m\":\"secret\"}"}`}, false},
		"a text about it":         {[]string{`{"type":"CUSTOM","name":"n","value":"an internal secret"}`}, true},
		"an activity":             {[]string{`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"v":"` + mark(suspend) + `"}}`}, false},
		"the rest of an activity": {[]string{`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"v":"` + mark(suspend) + `"}}`, `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":[{"op":"add","path":"/w","value":"secret"}]}`}, false},
		"a change of an activity": {[]string{`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":[{"op":"add","path":"/w","value":"` + mark(suspend) + `"}]}`}, false},
		"a question at the end":   {[]string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","message":"` + mark(suspend) + `"}]}}`}, false},
	} {
		for _, s := range allSettings {
			got := last(filterFrames(t, s, append([]string{start}, c.sent...)...))
			if strings.Contains(got, "secret") && !c.leaves || s.Policy == event.PolicyClient && c.leaves && !strings.Contains(got, "secret") {
				t.Errorf("%s, %s: the last frame leaves as %s", name, s.Policy, got)
			}
		}
	}
}

// TestEncodedMarksAfterMany sends an internal activity after more withheld calls than are remembered, in an earlier run.
func TestEncodedMarksAfterMany(t *testing.T) {
	sent := []string{run}
	for i := range 1025 {
		sent = append(sent, evasions["kind"](fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":"call_%d","toolCallName":"f"}`, i)))
	}
	sent = append(sent, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"v":"{\"kind\":\"internal\"}"}}`,
		`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":[{"op":"add","path":"/w","value":"secret"}]}`)
	if got := last(filterFrames(t, allSettings[0], sent...)); got != withheld {
		t.Errorf("the rest of the activity becomes %s", got)
	}
}

// TestEncodedMessages sends messages that call themselves internal in strings of JSON, as the LangGraph adapter does with questions.
//
// Source: src/agent.ts of @ag-ui/langgraph.
func TestEncodedMessages(t *testing.T) {
	value := func(kind string) string {
		return strconv.Quote(`{"question":"Send?","draft":[{"id":"d","role":"assistant","kind":"` + kind + `","content":"secret"}]}`)
	}
	const end, start = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"`, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	for name, c := range map[string]struct{ sent, want string }{
		"a question":             {`{"type":"CUSTOM","name":"on_interrupt","value":VALUE}`, withheld},
		"a custom event":         {`{"type":"CUSTOM","name":"n","value":{"a":[VALUE]}}`, withheld},
		"an activity":            {activity(`{"v":VALUE,"n":1}`), withheld},
		"a change":               {change(`[{"op":"add","path":"/v","value":VALUE}]`), withheld},
		"a listed activity":      {snapshotOf(`{"id":"a","role":"activity","activityType":"x","content":{"v":VALUE,"n":1}}`), snapshotOf("")},
		"a result":               {end + `,"result":{"v":VALUE}}`, end + `}`},
		"an answer in a result":  {end + `,"result":{"messages":[{"role":"assistant","content":VALUE}]}}`, ""},
		"a text of braces":       {end + `,"result":{"v":"{an internal} secret","w":VALUE}}`, end + `}`},
		"an interrupt":           {end + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","message":VALUE}]}}`, end + `}`},
		"an answer in a list":    {snapshotOf(`{"id":"a","role":"assistant","content":VALUE}`), ""},
		"a result in a list":     {snapshotOf(`{"id":"a","role":"tool","toolCallId":"c","content":VALUE}`), ""},
		"a request with answers": {strings.TrimSuffix(start, "}") + `,"input":{"messages":[{"id":"a","role":"assistant","content":VALUE}]}}`, ""},
	} {
		sent, want := strings.Replace(c.sent, "VALUE", value("internal_audit"), 1), c.want
		if want == "" {
			want = sent
		}
		for _, s := range allSettings {
			got := last(filterFrames(t, s, sent))
			if s.Policy == event.PolicyClient && got != want || c.want != "" && strings.Contains(got, "secret") {
				t.Errorf("%s, %s: %s\nbecomes %s\nwant    %s", name, s.Policy, sent, got, want)
			}
		}
		sent = strings.Replace(c.sent, "VALUE", value("audit"), 1) // a text of braces is none of JSON
		if got := last(filterFrames(t, allSettings[0], sent)); got != sent {
			t.Errorf("%s, of another kind: %s\nbecomes %s", name, sent, got)
		}
	}
}
