package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const hello = `{"id":"ok","role":"user","content":"Hi"}`

// repeatsInLists holds messages that repeat the entities of startCases, by their names there.
var repeatsInLists = map[string][]string{
	"a message":           {`{"id":"m","role":"assistant","content":"CANARY"}`, `{"ID":"m","role":"activity","content":{"x":"CANARY"}}`},
	"a message in chunks": {`{"id":"m","role":"assistant","content":"CANARY"}`},
	"a call": {
		`{"id":"x","role":"tool","toolCallId":"c","content":"CANARY"}`, `{"id":"x","role":"tool","tool_call_id":"c","content":"CANARY"}`,
		`{"id":"x","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"CANARY"}}]}`,
	},
	"a call in chunks": {`{"id":"x","role":"tool","toolCallId":"c","content":"CANARY"}`},
	"a thought":        {`{"id":"m","role":"reasoning","content":"CANARY"}`},
	"reasoning":        {`{"id":"r","role":"reasoning","content":"CANARY"}`},
	"an activity":      {`{"id":"m","role":"activity","activityType":"b","content":{"x":"CANARY"}}`},
}

// lists returns events with a list of two messages, and what remains of each without the given message.
func lists(message string) map[string]string {
	const run = `{"type":"RUN_STARTED","threadId":"t","runId":"q"`
	return map[string]string{
		`{"type":"MESSAGES_SNAPSHOT","messages":[` + message + `,` + hello + `]}`: `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + `]}`,
		run + `,"input":{"messages":[` + hello + `,` + message + `]}}`:            run + `}`,
	}
}

// TestListsRepeatNothing checks that a message that was withheld is removed from a list, in the same run
// and in the next one.
func TestListsRepeatNothing(t *testing.T) {
	between := []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"p"}`}
	for what, messages := range repeatsInLists {
		for how, evade := range evasions {
			sent := []string{evade(startCases[what][0]), startCases[what][1]}
			switch how {
			case "unreadable", "repeated name", "type, a list", "role, in another case", "role, assistant's in caps":
				continue // it is unknown what the frame begins
			}
			for _, message := range messages {
				for list, remaining := range lists(message) {
					for _, before := range [][]string{sent, append(sent[:2:2], between...)} {
						if got := last(filterFrames(t, allSettings[0], append(before, list)...)); got != remaining && got != withheld || strings.Contains(got, "CANARY") {
							t.Errorf("%s, %s: filtering %s gives %s, want %s", what, how, list, got, remaining)
						}
					}
				}
			}
		}
	}
}

// TestListsAfterPieces checks lists with a message of which only a piece, or only the result of a call, was
// withheld.
func TestListsAfterPieces(t *testing.T) {
	evade := evasions["kind"]
	message, call := startCases["a message"], startCases["a call"]
	for name, c := range map[string]struct {
		sent   []string
		list   string
		leaves bool // the message, under the policy client
	}{
		"a piece":          {[]string{message[0], evade(message[1])}, repeatsInLists["a message"][0], false},
		"a chunk":          {[]string{startCases["a message in chunks"][0], evade(message[2])}, repeatsInLists["a message"][0], false},
		"arguments":        {[]string{call[0], evade(call[1])}, repeatsInLists["a call"][2], false},
		"a result":         {[]string{call[0], evade(call[3])}, repeatsInLists["a call"][0], false},
		"a result's id":    {[]string{call[0], evade(call[3])}, repeatsInLists["a message"][0], false},
		"a result's call":  {[]string{call[0], evade(call[3])}, repeatsInLists["a call"][2], true},
		"the system's":     {[]string{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"system"}`, message[1]}, repeatsInLists["a message"][0], false},
		"a run's":          {[]string{evade(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`), message[0], message[1]}, repeatsInLists["a message"][0], false},
		"another message":  {[]string{evade(strings.Replace(message[0], `"m"`, `"n"`, 1)), message[0]}, repeatsInLists["a message"][0], true},
		"an unnamed chunk": {[]string{startCases["a call in chunks"][0], evade(startCases["a call in chunks"][1])}, repeatsInLists["a message"][0], true},
	} {
		for list := range lists(c.list) {
			if got := last(filterFrames(t, allSettings[0], append(c.sent, list)...)); strings.Contains(got, "CANARY") != c.leaves {
				t.Errorf("%s: filtering %s gives %s, want the message let out: %t", name, list, got, c.leaves)
			}
			if got := last(filterFrames(t, filter.Settings{Policy: event.PolicyPublic}, append(c.sent, list)...)); strings.Contains(got, "CANARY") {
				t.Errorf("%s, public: filtering %s gives %s", name, list, got)
			}
		}
	}
}

// TestInternalInLists checks that internal messages are removed from lists, and that frames that continue
// them are withheld.
func TestInternalInLists(t *testing.T) {
	for message, next := range map[string]string{
		`{"id":"m","role":"activity","activityType":"internal:x","content":{"a":"CANARY"}}`:                                                     startCases["an activity"][1],
		`{"id":"m","role":"activity","activity_type":"Internal","content":{"a":"CANARY"}}`:                                                      startCases["an activity"][0],
		`{"id":"m","role":"activity","activityType":"a","content":{"card":{"type":"internal:x","a":"CANARY"}}}`:                                 startCases["an activity"][1],
		`{"id":"m","role":"assistant","kind":"internal:x","content":"CANARY"}`:                                                                  startCases["a message"][0],
		`{"id":"m","role":"assistant","\uff2bind":"\u0131nternal","content":"CANARY"}`:                                                          `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`,
		`{"id":"m","role":"user","content":[{"type":"text","text":"x"},{"type":"internal:x","text":"CANARY"}]}`:                                 startCases["a thought"][0],
		`{"id":"m","role":"user","Content":[{"type":"image","source":{"kind":["Internal"],"value":"CANARY"}}]}`:                                 startCases["a message"][0],
		`{"id":"m","role":"user","content":{"type":"internal:x","text":"CANARY"}}`:                                                              startCases["a message"][0],
		`{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"internal:x","function":{"name":"n","arguments":"CANARY"}}]}`:               startCases["a call"][3],
		`{"id":"m","role":"assistant","toolCalls":[{"id":"c","metadata":{"event":"internal:x"},"function":{"name":"n","arguments":"CANARY"}}]}`: startCases["a call"][3],
		`{"id":"m","role":"assistant","tool_calls":[{"id":"c","Metadata":{"ｅvent":["ınternal"]},"function":{"arguments":"CANARY"}}]}`:           startCases["a message"][0],
		`{"id":"m","role":"user","content":[{"type":"text","metadata":{"event":"internal:x"},"text":"CANARY"}]}`:                                startCases["a message"][0],
		`{"id":"m","role":"user","content":{"metadata":{"event":"internal:x"},"text":"CANARY"}}`:                                                startCases["a message"][0],
		`{"id":"m","role":"assistant","tool_calls":[{"id":"c","function":{"kind":"internal","arguments":"CANARY"}}]}`:                           startCases["a call"][0],
		`{"id":"m","role":"assistant","kind":"internal","toolCalls":[{"id":"c"}]},{"id":"z","role":"tool","toolCallId":"c","content":"CANARY"}`: startCases["a call"][1],
		`{"id":"z","role":"tool","toolCallId":"c","content":"CANARY"},{"id":"m","role":"assistant","kind":"internal","toolCalls":[{"id":"c"}]}`: startCases["a call"][3],
	} {
		for list, remaining := range lists(message) {
			for _, s := range allSettings {
				if got := filterFrames(t, s, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, list, next); got[1] != remaining && got[1] != withheld || got[2] != withheld {
					t.Errorf("%s: filtering %s gives %s, want %s; the next frame becomes %s", s.Policy, list, got[1], remaining, got[2])
				}
			}
		}
	}
	for _, harmless := range []string{
		`{"id":"m","role":"assistant","content":"internal:x","toolCalls":[{"id":"c","type":"function","function":{"name":"internal_search","arguments":"{\"type\":\"internal\"}"}}]}`,
		`{"id":"m","role":"user","name":"internal_x","content":[{"type":"text","name":"internal:x","text":"internal"}]}`,
	} {
		for list := range lists(harmless) {
			if got := last(filterFrames(t, allSettings[0], list)); got != list {
				t.Errorf("filtering %s gives %s, want it unchanged", list, got)
			}
		}
	}
}

// TestRestOfListed continues a message after a list says that it is internal.
func TestRestOfListed(t *testing.T) {
	const list = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","kind":"internal:x","content":"CANARY"}]}`
	frames := startCases["a message"]
	if got := filterFrames(t, allSettings[0], frames[0], list, frames[1]); got[0] != frames[0] || got[2] != withheld {
		t.Errorf("got %q", got)
	}
}

// TestListsAfterMany checks that no list leaves after more messages were withheld than are remembered.
func TestListsAfterMany(t *testing.T) {
	var sent []string
	for range 1024 {
		id := strings.Repeat("x", len(sent)%200+1) + string(rune('a'+len(sent)/200))
		sent = append(sent, `{"type":"TEXT_MESSAGE_START","messageId":"`+id+`","kind":"internal"}`)
	}
	list := `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + `]}`
	if got := last(filterFrames(t, allSettings[0], append(sent[:1023:1023], list)...)); got != list {
		t.Errorf("after 1023 withheld messages, a list becomes %s, want it unchanged", got)
	}
	if got := last(filterFrames(t, allSettings[0], append(sent, list)...)); got != withheld {
		t.Errorf("after 1024 withheld messages, a list becomes %s, want it withheld", got)
	}
}

// TestInternalInResults ends a run and a subagent with a result that contains a message which calls itself internal.
func TestInternalInResults(t *testing.T) {
	for _, message := range []string{
		`{"id":"k","role":"assistant","content":"secret","metadata":{"event":"internal_x"}}`, `{"id":"k","role":"activity","activityType":"trace","content":{"type":"internal_trace","t":"secret"}}`,
		`{"id":"k","role":"activity","activityType":"internal_trace","content":{"t":"secret"}}`, `{"content":"secret","type":"internal:x"}`,
	} {
		for _, result := range []string{`{"messages":[` + message + `]}`, `[` + message + `]`, `{"output":` + message + `}`} {
			for _, end := range []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":`} {
				for _, s := range allSettings {
					if got := filterFrames(t, s, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, end+result+`}`); strings.Contains(last(got), "secret") {
						t.Errorf("under %s, %s%s} becomes %s", s.Policy, end, result, last(got))
					}
				}
			}
		}
	}
	const harmless = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"output":{"content":"said","type":"x","metadata":{"event":"y"}},"messages":[{"id":"k","role":"assistant","content":"said"}]}}`
	if got := last(filterFrames(t, allSettings[0], `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, harmless)); got != harmless {
		t.Errorf("a harmless result becomes %s", got)
	}
	for _, result := range []string{`{"type":"internal","ticket":7}`, `[{"kind":"internal:x"}]`} { // a model may write this
		for _, end := range []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s"`} {
			got := last(filterFrames(t, allSettings[0], `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, end+`,"result":`+result+`}`))
			if want := end + `}`; got != want {
				t.Errorf("with the result %s a client gets %s, want %s", result, got, want)
			}
		}
	}
	const question = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","message":"secret","metadata":{"type":"internal"}}]}}`
	if got := last(filterFrames(t, allSettings[0], `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, question)); strings.Contains(got, "secret") {
		t.Errorf("an internal question becomes %s", got)
	}
}

// TestCallsInLists removes a withheld call from a message of a list, and keeps the rest of the message.
func TestCallsInLists(t *testing.T) {
	const (
		run    = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
		hidden = `{"type":"TOOL_CALL_START","kind":"internal","toolCallId":"c","toolCallName":"f"}`
		text   = `{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant"}`
		other  = `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"g"}`
		c      = `{"id":"c","type":"function","function":{"name":"f","arguments":"CANARY"}}`
		d      = `{"id":"d","type":"function","function":{"name":"g","arguments":"{}"}}`
		end    = `,{"id":"x","role":"tool","toolCallId":"d","content":"1"}`
	)
	list := func(message string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[` + strings.TrimPrefix(message+end, ",") + `]}`
	}
	assistant := func(content, calls string) string {
		return `{"id":"a","role":"assistant"` + content + `,"toolCalls":[` + calls + `]}`
	}
	result := `,{"id":"y","role":"tool","toolCallId":"c","content":"CANARY"}`
	for sent, want := range map[string]string{
		assistant(`,"content":"hi"`, c+","+d) + result:                          assistant(`,"content":"hi"`, d),
		assistant(`,"content":"hi"`, c) + result:                                assistant(`,"content":"hi"`, ""),
		assistant(`,"content":[{"type":"text","text":"hi"}]`, c):                assistant(`,"content":[{"type":"text","text":"hi"}]`, ""),
		assistant("", d+","+c) + result:                                         assistant("", d),
		strings.Replace(assistant(`,"content":"hi"`, c+","+d), `"a"`, `"b"`, 1): strings.Replace(assistant(`,"content":"hi"`, d), `"a"`, `"b"`, 1),
		assistant("", c) + result:                                               "",
		assistant(`,"content":""`, c):                                           "",
		assistant(`,"content":null`, c):                                         "",
		assistant(`,"content":"hi"`, d):                                         assistant(`,"content":"hi"`, d),
	} {
		if got := last(filterFrames(t, allSettings[0], run, text, hidden, other, list(sent))); got != list(want) {
			t.Errorf("the list %s becomes %s", list(sent), got)
		}
	}
}

// TestSecondResults sends a second result of a call whose first one is internal, with another message.
func TestSecondResults(t *testing.T) {
	const start, call = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`
	const end, next = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`
	result := func(call, message string) string {
		return `{"type":"TOOL_CALL_RESULT","messageId":"` + message + `","toolCallId":"` + call + `","content":"x"}`
	}
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"a mark":         {[]string{evasions["kind"](result("c", "m")), result("c", "n")}, false},
		"in a later run": {[]string{evasions["kind"](result("c", "m")), end, next, result("c", "n")}, false},
		"another call":   {[]string{evasions["kind"](result("c", "m")), result("d", "n")}, true},
		"no mark":        {[]string{result("c", "m"), result("c", "n")}, true},
	} {
		got := last(filterFrames(t, allSettings[0], append([]string{start, call}, c.sent...)...))
		if (got == c.sent[len(c.sent)-1]) != c.leaves || !c.leaves && got != withheld {
			t.Errorf("%s: the last result leaves as %s", name, got)
		}
	}
}
