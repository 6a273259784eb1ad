package agui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// pieces holds, for each type of frame with content, the frames before it and the frame itself.
var pieces = map[string][]string{
	"a delta":              {startCases["a message"][0], sent("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"CANARY"`)},
	"the end of a message": {startCases["a message"][0], sent("TEXT_MESSAGE_END", `"messageId":"m"`, `"delta":"CANARY"`)},
	"a chunk":              {startCases["a message in chunks"][0], sent("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, `"delta":"CANARY"`)},
	"a chunk without id":   {startCases["a message in chunks"][0], sent("TEXT_MESSAGE_CHUNK", `"delta":"CANARY"`)},
	"a call":               {sent("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"CANARY"`)},
	"arguments":            {startCases["a call"][0], sent("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"CANARY"`)},
	"arguments in chunks":  {startCases["a call in chunks"][0], sent("TOOL_CALL_CHUNK", `"delta":"CANARY"`)},
	"a result":             {startCases["a call"][0], sent("TOOL_CALL_RESULT", `"messageId":"z"`, `"toolCallId":"c"`, `"content":"CANARY"`)},
	"a thought":            {startCases["a thought"][0], sent("REASONING_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"CANARY"`)},
	"a thought in chunks":  {sent("REASONING_MESSAGE_CHUNK", `"messageId":"m"`, `"delta":"CANARY"`)},
	"thinking":             {startCases["a thinking message"][0], sent("THINKING_TEXT_MESSAGE_CONTENT", `"delta":"CANARY"`)},
	"an encrypted value":   {sent("REASONING_ENCRYPTED_VALUE", `"subtype":"message"`, `"entityId":"m"`, `"encryptedValue":"CANARY"`)},
	"an activity":          {sent("ACTIVITY_SNAPSHOT", `"messageId":"m"`, `"activityType":"CANARY"`, `"content":{}`)},
	"a step":               {sent("STEP_STARTED", `"stepName":"CANARY"`)},
	"a subagent's result":  {startCases["a subagent"][0], sent("SUBAGENT_FINISHED", `"subagentRunId":"s"`, `"result":"CANARY"`)},
	"state":                {sent("STATE_SNAPSHOT", `"snapshot":{"x":"CANARY"}`)},
	"a custom event":       {sent("CUSTOM", `"name":"x"`, `"value":"CANARY"`)},
	"the result of a run":  {sent("RUN_STARTED", `"threadId":"t"`, `"runId":"r"`), sent("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"result":"CANARY"`)},
	"the request of a run": {sent("RUN_STARTED", `"threadId":"t"`, `"runId":"r"`, `"input":"CANARY"`)},
}

// TestRolesOfAnyFrame checks that the role that any frame states counts, whatever the frame before it said.
func TestRolesOfAnyFrame(t *testing.T) {
	client, public, none := allSettings[0], allSettings[1], filter.Settings{Policy: event.PolicyClient}
	instructions := []string{
		`"role":"system"`, `"role":" Developer\u200b"`, `"role":"ｓystem"`, `"role":"internal:x"`, `"role":7`, `"role":["system"]`, `"role":{"x":1}`, `"metadata":{"role":"system"}`,
		`"metadata":{"x":1,"Role":"DEVELOPER"}`, `"ｍetadata":{"role":"system"}`, `"metadata":{"role":["system"]}`,
	}
	thoughts := []string{`"role":"reasoning"`, `"role":" Thinking"`, `"metadata":{"role":"reasoning"}`, `"thought":true`, `"metadata":{"thought":true}`, `"Metadata":{"adk_thought":"true"}`}
	others := []string{`"role":"user"`, `"role":"tool"`, `"metadata":{"role":"user"}`, `"metadata":{"role":" Tool"}`}
	for what, frames := range pieces {
		before, frame := frames[:len(frames)-1], frames[len(frames)-1]
		check := func(role string, s filter.Settings) {
			frames := append(slices.Clone(before), with(role)(frame))
			if got := last(filterFrames(t, s, frames...)); strings.Contains(got, "CANARY") {
				t.Errorf("%s: of %s with %s this leaves: %s", s.Policy, what, role, got)
			}
		}
		for _, role := range instructions {
			check(role, client)
			check(role, public)
		}
		for _, role := range thoughts {
			if !strings.Contains(what, "run") && what != "state" { // a setting for thoughts does not concern these
				check(role, none)
			}
			if strings.Contains(frame, "TEXT_MESSAGE") {
				check(role, filter.Settings{Policy: event.PolicyPublic})
			}
		}
		for _, role := range others {
			if strings.HasPrefix(frame, `{"type":"TEXT_MESSAGE`) {
				check(role, public)
			}
		}
		for _, role := range []string{`"role":null`, `"metadata":{"role":"planner","thought":false}`, `"metadata":{"role":null}`, `"metadata":"system"`, `"metadata":{"author":{"role":"system"}}`} {
			if got := last(filterFrames(t, client, append(slices.Clone(before), with(role)(frame))...)); got != with(role)(frame) && !strings.Contains(what, "request") {
				t.Errorf("%s with %s becomes %s", what, role, got)
			}
			if got, want := last(filterFrames(t, public, append(slices.Clone(before), with(role)(frame))...)), last(filterFrames(t, public, frames...)); strings.Contains(got, "CANARY") != strings.Contains(want, "CANARY") {
				t.Errorf("public: %s with %s becomes %s, want %s", what, role, got, want)
			}
		}
	}
}

// TestRolesLast checks that the role of one frame counts for the rest of what it is part of.
func TestRolesLast(t *testing.T) {
	for what, next := range map[string]string{
		"a delta": pieces["a delta"][1], "a chunk": pieces["a chunk"][1], "a chunk without id": pieces["a chunk"][1], "arguments": pieces["arguments"][1], "a thought": pieces["a thought"][1],
		"thinking": pieces["thinking"][1], "a call": pieces["arguments"][1],
	} {
		frames := slices.Clone(pieces[what])
		at := len(frames) - 1
		frames[at] = with(`"metadata":{"role":"system"}`)(frames[at])
		list := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"CANARY","toolCalls":[{"id":"c","function":{"arguments":"CANARY"}}]}]}`
		if what == "a call" || what == "arguments" {
			list = strings.Replace(list, "CANARY", "x", 1)
		}
		for _, s := range allSettings {
			if what == "thinking" {
				list = next // its text has no id, so a list cannot be compared with it
			}
			if got := filterFrames(t, s, append(frames, next, list)...)[at:]; strings.Contains(strings.Join(got, "\n"), "CANARY") {
				t.Errorf("%s: after %s this leaves: %q", s.Policy, what, got)
			}
		}
	}
}

// TestPromptsInResults checks that the end of a run or subagent leaves without a result that contains instructions for models.
func TestPromptsInResults(t *testing.T) {
	ends := map[string]func(string) string{
		"a run": func(result string) string {
			return sent("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`) + result
		},
		"a subagent": func(result string) string { return sent("SUBAGENT_FINISHED", `"subagentRunId":"s"`) + result },
	}
	before := []string{sent("RUN_STARTED", `"threadId":"t"`, `"runId":"r"`), startCases["a subagent"][0]}
	for what, end := range ends {
		bare := end("")
		for _, result := range []string{
			`{"messages":[{"role":"user","content":"x"},{"id":"p","role":"system","content":"CANARY"}]}`, `[{"role":"Developer","content":"CANARY"}]`,
			`{"role":"system","content":"CANARY"}`, `{"state":{"Messages":[{"ｒole":"ｓystem","text":"CANARY"}]}}`, `{"messages":[{"role":7,"content":"CANARY"}]}`,
			`{"messages":[{"type":"system","content":"CANARY"}]}`, `{"messages":[{"role":"assistant","content":"CANARY","metadata":{"role":"system"}}]}`,
		} {
			for _, name := range []string{"result", "Result"} {
				if got := last(filterFrames(t, allSettings[0], append(slices.Clone(before), with(`"`+name+`":`+result)(bare))...)); got != bare {
					t.Errorf("%s with the result %s becomes %s", what, result, got)
				}
			}
		}
		for _, result := range []string{
			`"system"`, `{"messages":[{"role":"assistant","content":"x"}]}`, `{"messages":12}`, `{"messages":["x"]}`, `{"user":{"role":"developer"}}`, `{"type":"system","level":1}`, `null`,
			`{"messages":[{"type":"human","content":"x"}]}`,
		} {
			frame := with(`"result":` + result)(bare)
			if got := last(filterFrames(t, allSettings[0], append(slices.Clone(before), frame)...)); got != frame {
				t.Errorf("%s with the result %s becomes %s", what, result, got)
			}
		}
	}
}

// TestMetadataInLists checks that the metadata of a listed message counts as that of a frame.
func TestMetadataInLists(t *testing.T) {
	list := func(more string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"CANARY"` + more + `}]}`
	}
	none := filter.Settings{Policy: event.PolicyClient}
	for _, inner := range []string{`"role":"system"`, `"event":"internal:x"`, `"kind":"internal:x"`} {
		if got := last(filterFrames(t, allSettings[0], list(`,"metadata":{`+inner+`}`))); got != `{"type":"MESSAGES_SNAPSHOT","messages":[]}` {
			t.Errorf("a list with %s becomes %s", inner, got)
		}
	}
	if harmless := list(`,"metadata":{"event":"on_chain_end","name":"internal audit"}`); last(filterFrames(t, allSettings[0], harmless)) != harmless {
		t.Errorf("%s is withheld", harmless)
	}
	for _, mark := range []string{`,"metadata":{"role":"reasoning"}`, `,"metadata":{"thought":true}`} {
		if got := last(filterFrames(t, none, list(mark))); got != withheld {
			t.Errorf("without thoughts, a list with %s becomes %s", mark, got)
		}
		if got := last(filterFrames(t, allSettings[0], list(mark))); got != list(mark) {
			t.Errorf("with thoughts, a list with %s becomes %s", mark, got)
		}
	}
}
