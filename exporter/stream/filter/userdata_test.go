package filter_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// userData has frames with data that users choose, where %s stands. Where isSearched is set, an object in it may call itself internal.
var userData = []struct {
	dialect, before, frame string
	isSearched             bool
}{
	{"adk", "", data(adkEvent(adkParts(`{"functionCall":{"id":"c","name":"count","args":%s}}`))), false},
	{"adk", "", data(adkEvent(adkParts(`{"functionResponse":{"id":"c","name":"count","response":%s}}`))), false},
	{"adk", "", data(adkEvent(`"actions":{"stateDelta":%s,"artifactDelta":%[1]s}`)), false},
	{"adk", "", data(adkEvent(hello, `"customMetadata":%s`)), true},
	{"agui", "", data(`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"state":%s,"messages":[],"tools":[{"name":"x","parameters":{"properties":%[1]s}}],"context":[],"forwardedProps":%[1]s}}`), false},
	{"agui", aguiRun, data(`{"type":"STATE_SNAPSHOT","snapshot":%s}`), false},
	{"agui", aguiRun, data(`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":%s}]}`), false},
	{"agui", aguiRun, data(`{"type":"CUSTOM","name":"x","value":%s}`), true},
	{"agui", aguiRun, data(`{"type":"CUSTOM","name":"x","value":"{\"US\":\"\\n\",\"us\":2}"}`), false},
	{"agui", aguiRun, data(`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":%s}`), true},
	{"agui", aguiRun, data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"activity","activityType":"x","content":%s}]}`), true},
	{"agui", aguiRun, data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":%s}`), false},
	{"agui", aguiRun, data(`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","rawEvent":{"event":"on_chain_end","data":%s}}`), false},
	{"a2a", "", a2aResult(`"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":%s}]`), false},
	{"a2a", "", a2aResult(`"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hello"}],"metadata":{"x":%s}`), true},
	{"langgraph", "", langGraph("values", `{"votes":%s,"messages":[]}`), false},
	{"langgraph", "", langGraph("updates", `{"node":%s}`), false},
	{"aisdk", namelessStreams["aisdk"], data(`{"type":"tool-input-available","toolCallId":"c","toolName":"count","input":%s}`), false},
	{"aisdk", namelessStreams["aisdk"], data(`{"type":"data-words","data":%s}`), true},
	{"aisdk", namelessStreams["aisdk"], data(`{"type":"message-metadata","messageMetadata":{"counts":%s}}`), true},
	{"aisdk", namelessStreams["aisdk"], data(`{"type":"text-start","id":"x","providerMetadata":{"p":{"headers":%s}}}`), true},
	{"aisdk", namelessStreams["aisdk"], data(`{"type":"tool-input-start","toolCallId":"c","toolName":"count","toolMetadata":%s}`), true},
	{"openai", "", "data:" + `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"}}],"metadata":%s}` + "\n\n", false},
	{"deepagents", "", data(`{"v":2,"type":"tool_start","id":"1","ts":"2026-01-01T00:00:00Z","call_id":"c","name":"count","args":%s}`), false},
	{"looopy", "", "event: tool-start\ndata: " + `{"kind":"tool-start","contextId":"c","taskId":"t","toolCallId":"1","toolName":"count","arguments":%s}` + "\n\n", false},
}

// TestUserData checks that names which users choose may differ by case, and that one of two such names can mark a frame as internal.
func TestUserData(t *testing.T) {
	client := filter.Settings{Policy: event.PolicyClient}
	for _, c := range userData {
		ordinary := strings.NewReplacer("%s", `{"US":1,"us":2}`, "%[1]s", `{"US":1,"us":2}`).Replace(c.frame)
		sent := strings.TrimSpace(strings.TrimPrefix(ordinary[strings.LastIndex(ordinary, "data:"):], "data:"))
		if strings.Contains(c.frame, "rawEvent") {
			sent = strings.TrimSuffix(sent[:strings.Index(sent, `,"rawEvent"`)], "\n") + "}"
		}
		for _, configured := range []string{c.dialect, ""} {
			if got := lastOf(t, client, configured, c.before+ordinary); strings.TrimSpace(got) != sent {
				t.Errorf("%s, configured as %q: of %s leaves %s", c.dialect, configured, ordinary, got)
			}
		}
		for _, marked := range []string{`{"kind":"x","Kind":"internal:y"}`, `{"Kind":"internal:y","kind":"x"}`} {
			hidden := strings.ReplaceAll(c.frame, "%s", marked)
			if got := lastOf(t, client, c.dialect, c.before+hidden); c.isSearched && strings.Contains(got, "internal:y") {
				t.Errorf("%s: of %s leaves %s", c.dialect, hidden, got)
			}
		}
	}
}
