package relay_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// knownFaults lists the recordings with a known fault, with the reason.
var knownFaults = map[string]string{}

// allowed returns the frames that a client must get of those that were sent. docs/design/security.md and the dialects' pages
// explain the differences.
func allowed(sent []clientFrame) (all []clientFrame) {
	for _, f := range sent {
		if f, leaves := allow(f); leaves {
			all = append(all, f)
		}
	}
	return all
}

func allow(f clientFrame) (_ clientFrame, leaves bool) {
	var data map[string]json.RawMessage
	if json.Unmarshal([]byte(f.data), &data) != nil {
		return f, true
	}
	if f.event == "events" && strings.Contains(f.data, `"type":"system"`) { // the prompts for models of a LangGraph server are withheld
		return f, false
	}
	if data["rawEvent"] != nil { // a copy of the event of the agent's framework
		f.data = withoutRawEvent(f.data)
		delete(data, "rawEvent")
	}
	switch kind := string(data["type"]); {
	case kind == `"RAW"`: // events of an AG-UI agent's framework are internal
		return f, false
	case kind == `"MESSAGES_SNAPSHOT"`: // prompts for models are withheld
		f.data = withoutPrompts(data)
	case data["jsonrpc"] != nil && slices.Contains(agnosNames, f.event): // A2A has no names for frames
		f.event = ""
	}
	return f, true
}

// withoutRawEvent returns an event without that member, and with the others in their order.
func withoutRawEvent(data string) string {
	decoder := json.NewDecoder(strings.NewReader(data))
	_, _ = decoder.Token()
	var members []string
	for decoder.More() {
		name, _ := decoder.Token()
		var value json.RawMessage
		_ = decoder.Decode(&value)
		if name != "rawEvent" {
			members = append(members, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

var agnosNames = []string{"Task", "Message", "TaskStatusUpdateEvent", "TaskArtifactUpdateEvent"}

// withoutPrompts returns a snapshot without the messages for models.
func withoutPrompts(snapshot map[string]json.RawMessage) string {
	var messages []json.RawMessage
	_ = json.Unmarshal(snapshot["messages"], &messages)
	messages = slices.DeleteFunc(messages, func(message json.RawMessage) bool {
		var said struct{ Role string }
		_ = json.Unmarshal(message, &said)
		return said.Role == "system" || said.Role == "developer"
	})
	rest := maps.Clone(snapshot)
	rest["messages"], _ = json.Marshal(messages)
	text, _ := json.Marshal(rest)
	return string(text)
}

// isCard reports whether a response is an agent card, whose addresses are rewritten.
func isCard(e exchange) bool {
	return strings.HasSuffix(e.request.URL.Path, "/agent-card.json")
}
