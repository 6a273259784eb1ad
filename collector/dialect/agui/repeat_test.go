package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const hello = `{"id":"ok","role":"user","content":"Hi"}`

// inLists are messages that repeat what begun begins, by name.
var inLists = map[string][]string{
	"a message":           {`{"id":"m","role":"assistant","content":"CANARY"}`, `{"ID":"m","role":"activity","content":{"x":"CANARY"}}`},
	"a message in chunks": {`{"id":"m","role":"assistant","content":"CANARY"}`},
	"a call": {
		`{"id":"x","role":"tool","toolCallId":"c","content":"CANARY"}`, `{"id":"x","role":"tool","tool_call_id":"c","content":"CANARY"}`,
		`{"id":"x","role":"assistant","toolCalls":[{"id":"d"},{"id":"c","type":"function","function":{"name":"f","arguments":"CANARY"}}]}`,
	},
	"a call in chunks": {`{"id":"x","role":"tool","toolCallId":"c","content":"CANARY"}`},
	"a thought":        {`{"id":"m","role":"reasoning","content":"CANARY"}`},
	"reasoning":        {`{"id":"r","role":"reasoning","content":"CANARY"}`, `{"id":"m","role":"reasoning","content":"CANARY"}`},
	"an activity":      {`{"id":"m","role":"activity","activityType":"b","content":{"x":"CANARY"}}`},
	"a subagent":       {`{"id":"x","role":"assistant","subagentRunId":"s","content":"CANARY"}`},
}

// lists returns the events in which a list of messages stands, each with what is left of it without the first.
func lists(message string) map[string]string {
	const run = `{"type":"RUN_STARTED","threadId":"t","runId":"q"`
	return map[string]string{
		`{"type":"MESSAGES_SNAPSHOT","messages":[` + message + `,` + hello + `]}`: `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + `]}`,
		run + `,"input":{"messages":[` + hello + `,` + message + `]}}`:            run + `}`,
	}
}

// TestListsRepeatNothing sends a list with what stayed in before, in the same run and in the next one.
func TestListsRepeatNothing(t *testing.T) {
	between := []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"p"}`}
	for what, messages := range inLists {
		for how, evade := range evasions {
			sent := []string{evade(begun[what][0]), begun[what][1]}
			unread := how == "read by nobody" || how == "twice the same"
			if unread && what == "reasoning" || what == "a subagent" && (unread || how == "type, a list" || how == "type that nobody has") {
				continue // nobody knows what it began
			}
			for _, message := range messages {
				for list, left := range lists(message) {
					for _, before := range [][]string{sent, append(sent[:2:2], between...)} {
						if got := last(leave(t, everything[0], append(before, list)...)); got != left && got != stays || strings.Contains(got, "CANARY") {
							t.Errorf("%s, %s: of %s leaves %s", what, how, list, got)
						}
					}
				}
			}
		}
	}
}

// TestListsOfPieces sends a list with a message, of which a piece stayed in, or only the result of a call.
func TestListsOfPieces(t *testing.T) {
	and := evasions["kind"]
	message, call := begun["a message"], begun["a call"]
	for name, c := range map[string]struct {
		sent []string
		list string
		left bool
	}{
		"a piece":           {[]string{message[0], and(message[1])}, inLists["a message"][0], false},
		"a chunk":           {[]string{begun["a message in chunks"][0], and(message[2])}, inLists["a message"][0], false},
		"arguments":         {[]string{call[0], and(call[1])}, inLists["a call"][2], false},
		"a result":          {[]string{call[0], and(call[3])}, inLists["a call"][0], false},
		"a result's id":     {[]string{call[0], and(call[3])}, inLists["a message"][0], false},
		"a result's call":   {[]string{call[0], and(call[3])}, inLists["a call"][2], true},
		"the system's":      {[]string{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"system"}`, message[1]}, inLists["a message"][0], false},
		"a run's":           {[]string{and(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`), message[0], message[1]}, inLists["a message"][0], false},
		"somebody else's":   {[]string{and(strings.Replace(message[0], `"m"`, `"n"`, 1)), message[0]}, inLists["a message"][0], true},
		"of no known thing": {[]string{begun["a call in chunks"][0], and(begun["a call in chunks"][1])}, inLists["a message"][0], false},
	} {
		for list := range lists(c.list) {
			if got := last(leave(t, everything[0], append(c.sent, list)...)); strings.Contains(got, "CANARY") != c.left {
				t.Errorf("%s: of %s leaves %s", name, list, got)
			}
			if got := last(leave(t, filter.Settings{Policy: event.PolicyPublic}, append(c.sent, list)...)); strings.Contains(got, "CANARY") {
				t.Errorf("%s, public: of %s leaves %s", name, list, got)
			}
		}
	}
}

// TestListsOfInternal sends messages that call themselves internal, and then what goes on with them.
func TestListsOfInternal(t *testing.T) {
	for message, next := range map[string]string{
		`{"id":"m","role":"activity","activityType":"internal:x","content":{"a":"CANARY"}}`:                                                     begun["an activity"][1],
		`{"id":"m","role":"activity","activity_type":"Internal","content":{"a":"CANARY"}}`:                                                      begun["an activity"][0],
		`{"id":"m","role":"assistant","name":"internal:x","content":"CANARY"}`:                                                                  begun["a message"][0],
		`{"id":"m","role":"assistant","\uff2eame":"\u0131nternal","content":"CANARY"}`:                                                          `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`,
		`{"id":"m","role":"user","content":[{"type":"text","text":"x"},{"type":"internal:x","text":"CANARY"}]}`:                                 begun["a thought"][0],
		`{"id":"m","role":"user","Content":[{"type":"image","source":{"kind":["Internal"],"value":"CANARY"}}]}`:                                 begun["a message"][0],
		`{"id":"m","role":"user","content":{"type":"internal:x","text":"CANARY"}}`:                                                              begun["a message"][0],
		`{"id":"m","role":"user","content":[{"name":"internal:x","text":"CANARY"}]}`:                                                            begun["a message"][0],
		`{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"internal:x","function":{"name":"n","arguments":"CANARY"}}]}`:               begun["a call"][3],
		`{"id":"m","role":"assistant","tool_calls":[{"id":"c","function":{"kind":"internal","arguments":"CANARY"}}]}`:                           begun["a call"][0],
		`{"id":"m","role":"assistant","kind":"internal","toolCalls":[{"id":"c"}]},{"id":"z","role":"tool","toolCallId":"c","content":"CANARY"}`: begun["a call"][1],
		`{"id":"z","role":"tool","toolCallId":"c","content":"CANARY"},{"id":"m","role":"assistant","kind":"internal","toolCalls":[{"id":"c"}]}`: begun["a call"][3],
	} {
		for list, left := range lists(message) {
			for _, s := range everything {
				if got := leave(t, s, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, list, next); got[1] != left && got[1] != stays || got[2] != stays {
					t.Errorf("%s: of %s leaves %s, then %s", s.Policy, list, got[1], got[2])
				}
			}
		}
	}
	for _, harmless := range []string{
		`{"id":"m","role":"assistant","content":"internal:x","toolCalls":[{"id":"c","type":"function","function":{"name":"internal_search","arguments":"{\"type\":\"internal\"}"}}]}`,
		`{"id":"m","role":"activity","activityType":"a","content":{"card":{"type":"internal transfer"}}}`,
		`{"id":"m","role":"user","name":"Ann","content":[{"type":"text","text":"internal"}]}`,
	} {
		for list := range lists(harmless) {
			if got := last(leave(t, everything[0], list)); got != list {
				t.Errorf("of %s leaves %s", list, got)
			}
		}
	}
}

// TestListsOfMany lets no list leave once more stayed in than is remembered.
func TestListsOfMany(t *testing.T) {
	var sent []string
	for range 1025 {
		id := strings.Repeat("x", len(sent)%200+1) + string(rune('a'+len(sent)/200))
		sent = append(sent, `{"type":"TEXT_MESSAGE_START","messageId":"`+id+`","kind":"internal"}`)
	}
	list := `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + `]}`
	if got := last(leave(t, everything[0], append(sent[:1024:1024], list)...)); got != list {
		t.Errorf("of as many as are remembered leaves %s", got)
	}
	if got := last(leave(t, everything[0], append(sent, list)...)); got != stays {
		t.Errorf("of more than are remembered leaves %s", got)
	}
}
