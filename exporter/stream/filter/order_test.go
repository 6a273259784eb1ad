package filter_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMemberOrder checks that the order of an object's members decides nothing: a frame with excluded words never leaves.
func TestMemberOrder(t *testing.T) {
	thoughts := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
	authors := func(names ...string) filter.Settings {
		return filter.Settings{Policy: event.PolicyClient, Authors: names, Thoughts: event.ThoughtsDetailed}
	}
	without := func(kind event.Kind) filter.Settings {
		return filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{kind}, Thoughts: event.ThoughtsDetailed}
	}
	noThoughts := filter.Settings{Policy: event.PolicyClient}
	snapshot := func(message string) string {
		return aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[`+message+`]}`)
	}
	part := func(part string) string { return snapshot(`{"id":"m","role":"assistant","content":[` + part + `]}`) }
	result := func(message string) string {
		return aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[`+message+`]}}`)
	}
	activity := func(message string) string {
		return aguiRun + data(`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"messages":[`+message+`]}}`)
	}
	history := func(message string) string {
		return a2aResult(`"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"history":[` + message + `]`)
	}
	ended := func(list string) func(string) string {
		return func(item string) string {
			return data(`{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[],"` + list + `":[` + item + `]}}`)
		}
	}
	chunk := func(delta string) string {
		return data(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `}]}`)
	}
	text := `"text":"hello"`
	for _, c := range []struct {
		name, dialect string
		wrap          func(string) string
		members       []string // of the object with the words
		settings      filter.Settings
		leaves        bool
	}{
		{"a thought by its type", "agui", snapshot, []string{`"id":"m"`, `"role":"assistant"`, `"type":"reasoning"`, `"content":"hello"`}, noThoughts, false},
		{"a thought in a result", "agui", result, []string{`"type":"thinking"`, `"role":"assistant"`, `"content":"hello"`}, noThoughts, false},
		{"a thought in an activity", "agui", activity, []string{`"type":"reasoning"`, `"role":"assistant"`, `"content":"hello"`}, noThoughts, false},
		{"a thought in a part", "agui", part, []string{`"type":"thinking"`, `"role":"assistant"`, text}, noThoughts, false},
		{"a thought by its role", "agui", snapshot, []string{`"id":"m"`, `"role":"reasoning"`, `"type":"text"`, `"content":"hello"`}, noThoughts, false},
		{"a thought of a tool", "agui", snapshot, []string{`"id":"m"`, `"role":"tool"`, `"type":"thinking"`, `"content":"hello"`}, noThoughts, false},
		{"a result that thinks", "agui", snapshot, []string{`"id":"m"`, `"role":"tool"`, `"type":"thinking"`, `"content":"hello"`}, without(event.KindToolEnded), false},
		{"a marked thought, without text", "agui", snapshot, []string{`"id":"m"`, `"role":"assistant"`, `"thought":true`, `"content":"hello"`}, without(event.KindText), true},
		{"a thought by its type, with thoughts", "agui", snapshot, []string{`"id":"m"`, `"role":"assistant"`, `"type":"reasoning"`, `"content":"hello"`}, thoughts, true},
		{"an author beside the user's role", "agui", snapshot, []string{`"id":"m"`, `"role":"user"`, `"name":"bad"`, `"content":"hello"`}, authors("user"), false},

		{"an agent with the user in its metadata", "a2a", history, []string{`"role":"agent"`, `"metadata":{"role":"user"}`, `"messageId":"m"`, `"parts":[{` + text + `}]`}, authors("user"), false},
		{"metadata without a role beside it", "a2a", history, []string{`"metadata":{"role":"user"}`, `"messageId":"m"`, `"parts":[{` + text + `}]`}, authors("user"), false},
		{"the user with an agent in its metadata", "a2a", history, []string{`"role":"user"`, `"metadata":{"role":"agent"}`, `"messageId":"m"`, `"parts":[{` + text + `}]`}, authors("user"), true},
		{"two types, without calls", "a2a", history, []string{`"role":"agent"`, `"parts":[{"data":{"x":"hello"},"metadata":{"adk_type":"function_call","adk:type":"function_response"}}]`}, without(event.KindToolStarted), false},
		{"two types, without results", "a2a", history, []string{`"role":"agent"`, `"parts":[{"data":{"x":"hello"},"metadata":{"adk_type":"function_call","adk:type":"function_response"}}]`}, without(event.KindToolEnded), false},

		{"a thought of a tool", "openai", ended("output"), []string{`"type":"reasoning_text"`, `"role":"tool"`, text}, noThoughts, false},
		{"a message of two", "openai", ended("output_messages"), []string{`"author":{"role":"user"}`, `"role":"assistant"`, `"content":[{"type":"text",` + text + `}]`}, authors("user"), false},
		{"a message of the user", "openai", ended("output_messages"), []string{`"author":{"role":"user"}`, `"content":[{"type":"text",` + text + `}]`}, authors("user"), true},
		{"a result by its author", "openai", ended("output_messages"), []string{`"author":{"role":"tool"}`, `"role":"assistant"`, `"content":[{"type":"text",` + text + `}]`}, without(event.KindToolEnded), false},
		{"a tool's chunk of two", "openai", chunk, []string{`"author":{"role":"user"}`, `"role":"tool"`, `"content":"hello"`}, without(event.KindToolEnded), false},
		{"a thought's chunk of two", "openai", chunk, []string{`"channel":"analysis"`, `"phase":"final_answer"`, `"role":"assistant"`, `"content":"hello"`}, noThoughts, false},
	} {
		for order := range permutations(c.members) {
			sent := c.wrap("{" + strings.Join(order, ",") + "}")
			if got := lastOf(t, c.settings, c.dialect, sent); strings.Contains(got, "hello") != c.leaves {
				t.Errorf("%s %s: %s of %s", c.dialect, c.name, got, sent)
			}
		}
	}
}

// permutations yields all orders of list.
func permutations(list []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) { permute(slices.Clone(list), 0, yield) }
}

func permute(list []string, fixed int, yield func([]string) bool) bool {
	if fixed == len(list) {
		return yield(list)
	}
	for i := fixed; i < len(list); i++ {
		list[fixed], list[i] = list[i], list[fixed]
		more := permute(list, fixed+1, yield)
		if list[fixed], list[i] = list[i], list[fixed]; !more {
			return false
		}
	}
	return true
}
