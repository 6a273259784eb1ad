package adkserver

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

const (
	coordinator  = "coordinator"
	billingAgent = "billing_agent"
	summarizer   = "summarizer"
)

// script holds the turns of each agent. A turn ends with a model response; tool calls lead to the
// next turn.
type script map[string][]turn

// turn is one response of the model: its chunks, each a list of parts, and how it ends.
type turn struct {
	chunks [][]part
	finish string
	status int  // if not 0, the request fails with this HTTP status
	cut    bool // the connection breaks after the chunks
}

// Cases returns the sorted names of the scripts. The user text "case:NAME" selects one.
func Cases() []string { return slices.Sorted(maps.Keys(scripts)) }

var scripts = map[string]script{
	"plain":  {coordinator: {says("This is a plain answer.")}},
	"stream": {coordinator: {says("This answer ", "comes in ", "several ", "chunks.")}},
	"parallel_tools": {coordinator: {
		calls(call("get_weather", "city", "Oslo"), call("get_time", "city", "Oslo")),
		says("It is half past ten in Oslo, ", "and sunny."),
	}},
	"failing_tool": {coordinator: {calls(call("failing_tool", "reason", "a \"quoted\" reason")), says("The tool ", "has failed.")}},
	"parallel_failing": {coordinator: {
		calls(call("get_weather", "city", "Oslo"), call("failing_tool", "reason", "bad luck")),
		says("One tool ", "has failed."),
	}},
	"unknown_tool": {coordinator: {calls(call("no_such_tool", "city", "Oslo")), says("There is ", "no such tool.")}},
	"transfer": {
		coordinator: {
			calls(call("transfer_to_agent", "agent_name", billingAgent, "agentName", billingAgent)),
			says("Billing has answered."), // only requested if control comes back
		},
		billingAgent: {calls(call("lookup_invoice", "invoice", "INV-1")), says("The invoice INV-1 ", "is 42.50.")},
	},
	"long_running":        {coordinator: {calls(call("request_approval", "amount", 100)), says("The approval ", "is noted.")}},
	"long_running_silent": {coordinator: {calls(call("request_signature", "document", "lease")), says("The signature ", "is noted.")}},
	"confirmation":        {coordinator: {calls(call("delete_files", "folder", "/tmp/old")), says("The folder ", "is handled.")}},
	"artifact":            {coordinator: {calls(call("save_report", "title", "Fires")), says("The report ", "is saved.")}},
	"model_error":         {coordinator: {{status: http.StatusServiceUnavailable}}},
	"model_error_midway":  {coordinator: {{chunks: texts("This answer ", "breaks "), cut: true}}},
	"model_error_after_tool": {coordinator: {
		calls(call("get_weather", "city", "Oslo")),
		{status: http.StatusTooManyRequests},
	}},
	"agent_tool": {
		coordinator: {calls(call("summarizer", "request", "case:agent_tool make it short")), says("The summary ", "is short.")},
		summarizer:  {says("A short ", "summary.")},
	},
	"text_and_tool": {coordinator: {
		{chunks: append(texts("Let me ", "look. "), []part{call("get_weather", "city", "Oslo")}), finish: "STOP"},
		says("It is sunny."),
	}},
	"slow":       {coordinator: {says(numbered(40)...)}},
	"max_tokens": {coordinator: {{chunks: texts("This answer ", "is cut"), finish: "MAX_TOKENS"}}},
	"safety":     {coordinator: {{chunks: [][]part{nil}, finish: "SAFETY"}}},
	"thought": {coordinator: {{chunks: [][]part{
		{{Text: "The user wants ", Thought: true}},
		{{Text: "an answer.", Thought: true}},
		{{Text: "Here ", ThoughtSignature: []byte("signature")}},
		{{Text: "it is."}},
	}, finish: "STOP"}}},
	"unicode": {coordinator: {says(
		"Zürich \"quoted\" back\\slash ", "日本語 👩‍🚒 ", "e\u0301 \u2028\u2029 ", "line\r\nbreak\ttab ", "\u202eright to left\u202c <b>&amp;</b> \u0001.",
	)}},
}

func says(chunks ...string) turn { return turn{chunks: texts(chunks...), finish: "STOP"} }

func calls(parts ...part) turn { return turn{chunks: [][]part{parts}, finish: "STOP"} }

func texts(chunks ...string) [][]part {
	var out [][]part
	for _, text := range chunks {
		out = append(out, []part{{Text: text}})
	}
	return out
}

// call returns a function call. args alternates names and values.
func call(name string, args ...any) part {
	named := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		named[args[i].(string)] = args[i+1]
	}
	return part{FunctionCall: &functionCall{Name: name, Args: named}}
}

func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("chunk %d. ", i+1))
	}
	return out
}
