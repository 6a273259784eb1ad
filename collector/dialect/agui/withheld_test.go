package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// evasions change the first frame of an entity so that the frame must be withheld.
var evasions = map[string]func(string) string{
	"kind":                      with(`"kind":"internal"`),
	"kind, longer":              with(`"kind":"internal:x"`),
	"kind, in another case":     with(`"KIND":"InternalNote"`),
	"kind, full width":          with(`"ｋｉｎｄ":"ｉｎｔｅｒｎａｌ"`),
	"kind, Kelvin sign":         with(`"\u212aind":"internal"`),
	"kind, dotless i":           with(`"kınd":"ınternal"`),
	"kind, with blanks":         with(`" k\u200bind":"in\u00adter nal"`),
	"kind, a list":              with(`"kind":["internal"]`),
	"kind, unknown":             with(`"kind":"note"`),
	"kind, empty":               with(`"kind":""`),
	"kind, null":                with(`"kind":null`),
	"framework's type":          with(`"rawEvent":{"type":"internal:x"}`),
	"framework's kind, nested":  with(`"rawEvent":{"event":[{"Kind":"internal"}]}`),
	"framework, another case":   with(`"raw\u00adEvent":{"type":"internal"}`),
	"framework's, in a list":    with(`"rawEvent":[{"event":{"kind":["x","Internal"]}}]`),
	"framework's event":         with(`"rawEvent":{"event":"internal:x"}`),
	"framework's event, a list": with(`"raw_event":{"Event":["ınternal"]}`),
	"framework's metadata":      with(`"rawEvent":{"event":"on_custom_event","metadata":{"event":"internal:x"}}`),
	"framework's data":          with(`"rawEvent":{"event":"on_custom_event","data":{"kind":"internal:x"}}`),
	"framework's data, a type":  with(`"rawEvent":{"data":{"Type":"Internal"}}`),
	"event":                     with(`"event":{"type":"internal"}`),
	"event in metadata":         with(`"metadata":{"event":"internal:x"}`),
	"event in Metadata, a list": with(`"Metadata":{"ｅvent":["ınternal"]}`),
	"activity's type":           label("activityType", `"internal:x"`),
	"activity's type, Python's": with(`"activity_type":"Internal"`),
	"role, a number":            with(`"role":7`),
	"role, a list":              with(`"role":["assistant"]`),
	"role, in another case":     with(`"Role":{}`),
	"role, assistant's in caps": with(`"ROLE":"assistant"`),
	"SSE name":                  sseName("internal"),
	"SSE name, longer":          sseName("internal:x"),
	"unreadable":                with(`"x":1,"X":1`),
	"repeated name":             with(`"x":1,"X":1`),
	"type, a list":              swap(`{"type":"`, `{"type":["x"],"was":"`),
	"type, longer":              swap(`{"type":"`, `{"type":"internal:`),
	"type, a second one":        swap(`{"type":"`, `{"type ":"x","type":"`),
}

func with(member string) func(string) string {
	return func(data string) string { return strings.TrimSuffix(data, "}") + "," + member + "}" }
}

// label replaces the activity type of a frame.
func label(member, value string) func(string) string {
	return func(data string) string {
		return with(`"` + member + `":` + value)(strings.Replace(data, `,"activityType":"a"`, "", 1))
	}
}

func sseName(name string) func(string) string {
	return func(data string) string { return name + data }
}

func swap(from, to string) func(string) string {
	return func(data string) string { return strings.Replace(data, from, to, 1) }
}

// startCases holds the first frame of an entity, followed by frames that may continue the entity.
var startCases = map[string][]string{
	"a message": {
		`{"type":"TEXT_MESSAGE_START","messageId":"m"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
	},
	"a message in chunks": {
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`,
	},
	"a call": {
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"x"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}`,
	},
	"a call in chunks": {
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"x"}`, `{"type":"TOOL_CALL_CHUNK","delta":"x"}`, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}`,
	},
	"reasoning": {
		`{"type":"REASONING_START","messageId":"r"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_END","messageId":"m"}`, `{"type":"REASONING_END","messageId":"r"}`,
	},
	"a thought": {
		`{"type":"REASONING_MESSAGE_START","messageId":"m"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_CHUNK","delta":"x"}`, `{"type":"REASONING_MESSAGE_END","messageId":"m"}`,
	},
	"a thought in chunks": {`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_CHUNK","delta":"x"}`},
	"thinking":            {`{"type":"THINKING_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"x"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_END"}`},
	"a thinking message":  {`{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"x"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`},
	"an activity":         {`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{}}`, `{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}`},
	"a subagent":          {`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`, `{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"x"}`},
	"a step":              {`{"type":"STEP_STARTED","stepName":"s"}`, `{"type":"STEP_FINISHED","stepName":"s"}`},
}

// TestContinuationsAreWithheld checks that frames that continue a withheld entity are withheld.
func TestContinuationsAreWithheld(t *testing.T) {
	for what, frames := range startCases {
		for how, evade := range evasions {
			sent := append([]string{evade(frames[0])}, frames[1:]...)
			for _, s := range allSettings {
				if got := filterFrames(t, s, sent...); !allWithheld(got) {
					t.Errorf("%s, %s, %s: got %q, want all withheld", what, how, s.Policy, got)
				}
			}
		}
	}
}

func allWithheld(got []string) bool {
	return !slices.ContainsFunc(got, func(output string) bool { return output != withheld })
}

// TestUnrelatedFrames checks that unrelated frames leave before and after a withheld start, and that a
// new start with the same id does not.
func TestUnrelatedFrames(t *testing.T) {
	evade := evasions["kind"]
	for what, frames := range startCases {
		other := strings.NewReplacer(`"m"`, `"m2"`, `"c"`, `"c2"`, `"r"`, `"r2"`, `"s"`, `"s2"`)
		clean := other.Replace(frames[0])
		more := other.Replace(frames[len(frames)-1])
		client := allSettings[0]
		if got := filterFrames(t, client, clean, evade(frames[0]), clean, more); got[0] != clean || got[1] != withheld || got[2] != clean || got[3] != more {
			t.Errorf("%s: got %q, want all but the second frame", what, got)
		}
		if hasID := clean != frames[0]; !hasID {
			continue
		}
		for _, s := range allSettings {
			if got := filterFrames(t, s, evade(frames[0]), frames[0], frames[1]); got[1] != withheld || got[2] != withheld {
				t.Errorf("%s, restarted: got %q, want all withheld", what, got)
			}
		}
	}
}

// TestPartsAreWithheld checks that parts of a withheld entity are withheld.
func TestPartsAreWithheld(t *testing.T) {
	evade := evasions["kind"]
	for name, sent := range map[string][]string{
		"a call of a message":       {evade(startCases["a message"][0]), `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`, startCases["a call"][1]},
		"thoughts of reasoning":     append([]string{evade(startCases["reasoning"][0])}, startCases["a thought"]...),
		"thoughts of thinking":      append([]string{evade(startCases["thinking"][0])}, startCases["a thinking message"]...),
		"chunks of a message":       {evade(startCases["a message"][0]), startCases["a message in chunks"][0], `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`},
		"chunks of an unknown type": {evasions["type, longer"](startCases["a message"][0]), startCases["a message in chunks"][0], `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`},
		"chunks after their end":    {evade(startCases["a message in chunks"][0]), `{"type":"INTERNAL_X"}`, startCases["a message in chunks"][0]},
		"an encrypted value":        {evade(startCases["a call"][0]), `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"x"}`},
		"a subagent of a call":      {evade(startCases["a call"][0]), `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentToolCallId":"c"}`, startCases["a subagent"][1]},
		"a subagent of a message":   {evade(startCases["a message"][0]), `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentMessageId":"m"}`, startCases["a subagent"][2]},
		"a subagent of a subagent":  {evade(startCases["a subagent"][0]), `{"type":"SUBAGENT_STARTED","subagentRunId":"s2","name":"n","parentSubagentRunId":"s"}`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s2","result":"x"}`},
		"a result":                  {evade(startCases["a call"][0]), `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}`},
	} {
		for _, s := range allSettings {
			if got := filterFrames(t, s, sent...); !allWithheld(got) {
				t.Errorf("%s, %s: got %q, want all withheld", name, s.Policy, got)
			}
		}
	}
}

// TestWithheldParents checks that a call or an encrypted value of a withheld message is withheld, regardless of
// the reason.
func TestWithheldParents(t *testing.T) {
	assistant := `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x"}`
	for name, parent := range map[string][]string{
		"instructions":            {`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"system"}`},
		"ended instructions":      {`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"system"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`},
		"instructions in chunks":  {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"developer","delta":"x"}`},
		"instructions later":      {assistant, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"x"}`},
		"instructions without id": {assistant, `{"type":"TEXT_MESSAGE_CHUNK","role":"system","delta":"x"}`},
		"reasoning":               {evasions["kind"](`{"type":"REASONING_START","messageId":"m"}`)},
		"a thought":               {evasions["kind"](startCases["a thought"][0])},
		"a thought in chunks":     {evasions["kind"](startCases["a thought in chunks"][0])},
		"an activity":             {evasions["kind"](startCases["an activity"][0])},
		"a listed message":        {`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"system","content":"x"}]}`},
		"a piece":                 {startCases["a message"][0], evasions["kind"](startCases["a message"][1])},
	} {
		for _, part := range [][]string{
			{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`, startCases["a call"][1], startCases["a call"][3]},
			{`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`, `{"type":"TOOL_CALL_CHUNK","delta":"x"}`},
			{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"x"}`},
		} {
			for _, s := range allSettings {
				got := filterFrames(t, s, slices.Concat(parent, part)...)[len(parent):]
				if slices.ContainsFunc(got, func(one string) bool { return one != withheld }) {
					t.Errorf("%s, %s: %q", name, s.Policy, got)
				}
			}
		}
	}
	for name, parent := range map[string][]string{
		"an answer":      {startCases["a message"][0], startCases["a message"][1], startCases["a message"][3]},
		"an ended twice": {startCases["a message"][0], startCases["a message"][3], startCases["a message"][3]},
		"the user's":     {`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user"}`},
		"an unknown one": nil,
		"another's":      {`{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"system"}`},
	} {
		call := `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`
		for _, s := range allSettings {
			if got := last(filterFrames(t, s, append(parent, call)...)); got != call {
				t.Errorf("%s, %s: %s", name, s.Policy, got)
			}
		}
	}
}

// TestDefaultEventName checks that the name that an event without a name has anyway withholds nothing.
func TestDefaultEventName(t *testing.T) {
	for what, frames := range startCases {
		for _, s := range allSettings {
			var named []string
			for _, data := range frames {
				named = append(named, sseName("message")(data))
			}
			if got, want := filterFrames(t, s, named...), filterFrames(t, s, frames...); !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %q, want %q", what, s.Policy, got, want)
			}
		}
	}
}

// TestContinuationsWithoutStart checks that what continues an entity stays inside if a frame before it could
// not be read and no start was seen, because that frame may have been the start.
func TestContinuationsWithoutStart(t *testing.T) {
	for what, frames := range startCases {
		if strings.Contains(what, "message") || what == "a step" {
			continue // the pieces of a message never leave without its start, and a step has no pieces
		}
		for _, evade := range []string{"kind", "activity's type", "SSE name"} {
			for _, s := range allSettings {
				sent := []string{evasions[evade](frames[1]), frames[1], frames[0], frames[1]}
				if strings.Contains(what, "thinking") || strings.HasSuffix(what, "chunks") || what == "reasoning" {
					sent = sent[:2] // without an id, the next start is another entity
				}
				if got := filterFrames(t, s, sent...); !allWithheld(got) {
					t.Errorf("%s, %s, %s: got %q, want all withheld", what, evade, s.Policy, got)
				}
			}
		}
	}
}

// TestWithheldRuns checks that nothing leaves of a run with a withheld start, and that all of the next run leaves. Of a nested run, the
// start and the end stay in: other frames do not name it.
func TestWithheldRuns(t *testing.T) {
	start := func(run string) string { return `{"type":"RUN_STARTED","threadId":"t","runId":"` + run + `"}` }
	end := func(run string) string { return `{"type":"RUN_FINISHED","threadId":"t","runId":"` + run + `"}` }
	nested := with(`"parentRunId":"r"`)
	message := startCases["a message"][:2]
	var next []string // with an id of its own
	for _, data := range message {
		next = append(next, strings.Replace(data, `"m"`, `"o"`, 1))
	}
	for how, evade := range evasions {
		if strings.HasPrefix(how, "type") || strings.HasPrefix(how, "role") || how == "unreadable" || how == "repeated name" {
			continue // the frame is not known to start a run, or a run has no role
		}
		for _, s := range allSettings {
			got := filterFrames(t, s, evade(start("r")), message[0], message[1], startCases["a step"][0], end("r"), start("q"), next[0], next[1])
			if want := []string{withheld, withheld, withheld, withheld, withheld, start("q"), next[0], next[1]}; !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %q, want %q", how, s.Policy, got, want)
			}
			got = filterFrames(t, s, start("r"), evade(nested(start("n"))), message[0], message[1], end("n"), startCases["a step"][0], end("r"))
			if want := []string{start("r"), withheld, message[0], message[1], withheld, startCases["a step"][0], end("r")}; !slices.Equal(got, want) {
				t.Errorf("%s, nested, %s: got %q, want %q", how, s.Policy, got, want)
			}
			got = filterFrames(t, s, start("r"), evade(nested(start("n"))), `{"type":"RUN_ERROR","message":"x"}`, start("q"), next[0])
			if want := []string{start("q"), next[0]}; !slices.Equal(got[3:], want) {
				t.Errorf("%s, nested in a run that fails, %s: got %q, want %q at the end", how, s.Policy, got, want)
			}
		}
	}
}

// TestChunksAfterUnreadable checks that, after an unreadable frame, only chunks leave that cannot continue
// an entity that the frame may have started.
func TestChunksAfterUnreadable(t *testing.T) {
	const (
		unreadable = `{"rawEvent":{"US":1,"us":2}}`
		chunk      = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}`
		role       = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x"}`
		call       = `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","delta":"x"}`
		named      = `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"x"}`
		thought    = `{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"x"}`
		step       = `{"type":"STEP_STARTED","stepName":"s"}`
		list       = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"x"}]}`
	)
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"a message":                      {[]string{unreadable, chunk}, false},
		"too large":                      {[]string{with(`"role":"system","delta":"` + strings.Repeat("x", 2<<20) + `"`)(chunk), chunk}, false},
		"not JSON":                       {[]string{`ping`, chunk}, true},
		"a message, with its role":       {[]string{unreadable, role}, true},
		"the rest of such a message":     {[]string{unreadable, role, chunk}, true},
		"without its ID":                 {[]string{chunk, unreadable, `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`}, false},
		"a started message":              {[]string{chunk, unreadable, chunk}, true},
		"a message with a start frame":   {[]string{startCases["a message"][0], unreadable, chunk}, true},
		"a message ended by a step":      {[]string{chunk, step, unreadable, chunk}, true},
		"arguments":                      {[]string{unreadable, call}, false},
		"a call, with its name":          {[]string{unreadable, named}, true},
		"arguments of a started call":    {[]string{named, unreadable, call}, true},
		"a thought":                      {[]string{unreadable, thought}, false},
		"a started thought":              {[]string{thought, unreadable, thought}, true},
		"a list":                         {[]string{unreadable, list}, true},
		"a state":                        {[]string{unreadable, `{"type":"STATE_DELTA","delta":[]}`}, true},
		"an unknown type":                {[]string{`{"type":"X"}`, chunk}, true},
		"an unknown type of the message": {[]string{`{"type":"X","message_ID":"m"}`, chunk}, true},
		"an internal type":               {[]string{`{"type":"internal:x"}`, chunk}, true},
		"of the message":                 {[]string{`{"type":"internal:x","message_ID":"m"}`, role}, false},
		"of a started message":           {[]string{chunk, `{"type":"internal:x","messageId":"m"}`, chunk}, true},
		"a number":                       {[]string{`7`, chunk}, true},
		"a string":                       {[]string{`"ping"`, chunk}, true},
		"encoded twice, escaped":         {[]string{`"\u007B\"type\":1}"`, chunk}, false},
	} {
		if got := last(filterFrames(t, allSettings[0], c.sent...)); (got != withheld) != c.leaves {
			t.Errorf("%s: the last frame becomes %s, want it let out: %t", name, got, c.leaves)
		}
	}
}

// TestWithheldIDs checks that an activity with the id of a withheld message is withheld.
func TestWithheldIDs(t *testing.T) {
	activity := startCases["an activity"]
	for name, first := range map[string]string{
		"internal":     evasions["kind"](startCases["a message"][0]),
		"instructions": `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"system"}`,
		"list":         `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"system","content":"x"}]}`,
	} {
		if got := filterFrames(t, allSettings[0], first, activity[0], activity[1]); got[1] != withheld || got[2] != withheld {
			t.Errorf("%s: got %q, want all withheld", name, got)
		}
		if got := filterFrames(t, allSettings[0], activity[0], first, activity[0]); got[0] == withheld || got[2] != withheld {
			t.Errorf("%s, later: got %q, want the last withheld", name, got)
		}
	}
}

// TestManyWithheldParents withholds more messages, calls and subagents than are remembered. What names one of them does not leave.
func TestManyWithheldParents(t *testing.T) {
	many := []string{
		`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"TEXT_MESSAGE_START","messageId":"left","role":"assistant"}`, `{"type":"TEXT_MESSAGE_END","messageId":"left"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"left","toolCallName":"f"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"left","name":"a"}`,
	}
	for i := range 1100 {
		many = append(many, fmt.Sprintf(`{"type":"TEXT_MESSAGE_START","messageId":"%d","role":"assistant","kind":"internal"}`, i))
	}
	for _, next := range []string{
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"left"}`, `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"left","encryptedValue":"x"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"a","parentToolCallId":"left"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"a","parentMessageId":"left"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"a","parentSubagentRunId":"left"}`,
	} {
		if got := last(filterFrames(t, allSettings[0], append(many, next)...)); got != next {
			t.Errorf("%s becomes %s", next, got)
		}
		next = strings.Replace(next, "left", "1099", 1)
		if got := last(filterFrames(t, allSettings[0], append(many, next)...)); got != withheld {
			t.Errorf("%s becomes %s", next, got)
		}
	}
	question := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","toolCallId":"left","message":"secret"}]}}`
	if got := last(filterFrames(t, allSettings[0], append(many, question)...)); got != question {
		t.Errorf("a question about a call becomes %s", got)
	}
	question = strings.Replace(question, "left", "1099", 1)
	if got := last(filterFrames(t, allSettings[0], append(many, question)...)); strings.Contains(got, "secret") {
		t.Errorf("a question about a withheld call becomes %s", got)
	}
}
