package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// knownFaults are recordings of which something is not yet as it must be, with the reason. It is to be empty.
var knownFaults = func() map[string]string {
	faults := map[string]string{}
	for reason, streams := range map[string]string{
		"4": `
			agno/native-plain agno/native-tool agno/native-model-error agno/native-delegation langgraph-dev/values
			langgraph-dev/all-modes langgraph-dev/tool langgraph-dev/subagent langgraph-dev/tool-error langgraph-dev/model-error
			langgraph-dev/asking langgraph-dev/answered langserve/stream langserve/stream-events langserve/stream-log
			langserve/stream-error langserve/stream-events-error litellm/chat-plain litellm/chat-tool litellm/chat-breaks
			litellm/messages-plain litellm/responses-plain litellm/responses-tool litellm/responses-short-path openai-agents/plain
			openai-agents/tool openai-agents/handoff openai-agents/model-error openai-agents/responses-named
			openai-agents/responses-model-error pydantic-ai/vercel-plain pydantic-ai/vercel-tool pydantic-ai/vercel-tool-error
			pydantic-ai/vercel-model-error vercel/plain vercel/reasoning vercel/tool vercel/tool-error vercel/model-error
			vercel/chat-path`,
		"5": `
			a2a-02/listened-to a2a-02/no-such-task a2a-03/listened-to a2a-03/no-such-task a2a-1/listened-to a2a-js/listened-to`,
		"6": `
			openai-agents/root-plain openai-agents/root-handoff strands/plain strands/tool strands/tool-error strands/model-error
			strands/canceled`,
		"8": `
			adk-agui/transfer agno/agui-delegation langgraph-agui/subagent strands/handoff`,
	} {
		for name := range strings.FieldsSeq(streams) {
			faults[name] = reason
		}
	}
	return faults
}()

// allowed returns the frames that a client must get of those that were sent. docs/security.md and the dialects' pages have the
// reasons for what differs.
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
	switch kind := string(data["type"]); {
	case kind == `"RAW"`: // what an AG-UI agent's framework says is internal
		return f, false
	case kind == `"MESSAGES_SNAPSHOT"`: // what models are told stays in
		f.data = withoutPrompts(data)
	case data["jsonrpc"] != nil && slices.Contains(agnosNames, f.event): // A2A has no names for frames
		f.event = ""
	}
	return f, true
}

var agnosNames = []string{"Task", "Message", "TaskStatusUpdateEvent", "TaskArtifactUpdateEvent"}

// withoutPrompts returns a snapshot without the messages that are for models.
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

// isCard reports whether an answer is an agent card, whose addresses are rewritten.
func isCard(e answered) bool {
	return strings.HasSuffix(e.request.URL.Path, "/agent-card.json")
}
