package adk

import (
	"strings"
	"testing"
)

// TestRelayedEvents checks that what a remote agent sent is no response of a model of this server, unless the event has
// data of a model. Without the metadata, such an event looks like that of a model.
func TestRelayedEvents(t *testing.T) {
	const remote, code = `"customMetadata":{"a2a:task_id":"t"},`, `"errorCode":"UNAVAILABLE"`
	const java = `"customMetadata":[{"key":"a2a:response","stringValue":"{}"}],`
	runDecode(t, []decodeCase{
		{"pieces", []string{by(remote + partial + "," + parts(hi)), by(remote + partial + "," + parts(thought)), by(remote + whole + "," + parts(hi)), by(remote + parts(hi))},
			[]string{`text "hi"`, `thought "hm"`, `text "hi"; final`, `text "hi"; final`}},
		{"pieces with usage", []string{by(remote + partial + "," + used + "," + parts(hi)), by(remote + used + "," + stop + "," + parts(hi))},
			[]string{`model_started; text "hi"`, ended + `; text "hi"; final`}},
		{"pieces in Java", []string{by(java + partial + "," + parts(hi)), by(java + parts(hi))}, []string{`text "hi"`, `text "hi"; final`}},
		{"other entries in Java", []string{by(`"customMetadata":[{"key":"x","stringValue":"a2a:response"}],` + partial + "," + parts(hi))}, []string{`model_started; text "hi"`}},
		{"other metadata", []string{by(`"customMetadata":{"a2a":1},` + partial + "," + parts(hi))}, []string{`model_started; text "hi"`}},
		{"pieces of a function", []string{`{"author":"w","nodeInfo":{"path":"w@1/f@1"},` + partial + "," + parts(hi) + `}`}, []string{`text "hi"`}},
		{"an error", []string{by(remote + code)}, []string{`error agent_error code="UNAVAILABLE" from_code; final`}},
		{"an error after a piece", []string{by(remote + partial + "," + parts(hi)), by(remote + raised)}, []string{`text "hi"`, agentRaised}},
		{"a call", []string{by(remote + parts(call)), by(parts(call))}, []string{`tool_started name="look" call="c1" settled {}`, `tool_started name="look" call="c1" {}`}},
		{"a question", []string{by(remote + `"longRunningToolIds":["q"],` + parts(hi, `{"functionCall":{"id":"q","name":"mock_function_call_for_required_user_input","args":{"input_required":"When?"}}}`))},
			[]string{`text "hi"; input_requested call="q" clarification prompt="When?"; final`}},
	})
}

// TestRepeatedRemoteCalls repeats calls of a remote agent in the answer that says for which of them it waits.
func TestRepeatedRemoteCalls(t *testing.T) {
	state := func(state, more string) string {
		return by(`"customMetadata":{"a2a:response":{"status":{"state":"` + state + `"}}},"longRunningToolIds":["c2"],` + more)
	}
	const ask = `{"functionCall":{"id":"c2","name":"ask","args":{}}}`
	const pending = `{"functionResponse":{"id":"c2","name":"ask","response":{"status":"pending"}}}`
	const started = `tool_started name="look" call="c1" settled {}; tool_started name="ask" call="c2" long_running settled {}; final`
	const answered = `tool_ended name="look" call="c1" settled {}; tool_ended name="ask" call="c2" pending settled {"status":"pending"}; final`
	const waits, answer, said = `input_requested call="c2" tool`, `{"functionResponse":{"id":"c1","name":"look","response":{}}}`, `text "hi"; final`
	calls, results := parts(call, ask), parts(answer, pending)
	runDecode(t, []decodeCase{
		{"in 1.0", []string{state("TASK_STATE_WORKING", calls), state("TASK_STATE_WORKING", results), state("TASK_STATE_WORKING", parts(hi)), state("TASK_STATE_INPUT_REQUIRED", calls)},
			[]string{started, answered, said, waits}},
		{"in 0.3", []string{state("working", calls), state("auth-required", calls)}, []string{started, waits}},
		{"for the first time", []string{state("input-required", calls)}, []string{started}},
		{"in a task that works", []string{state("working", calls), state("working", calls)}, []string{started, started}},
		{"of this server", []string{by(`"longRunningToolIds":["c2"],` + calls), state("input-required", calls)},
			[]string{`tool_started name="look" call="c1" {}; tool_started name="ask" call="c2" long_running {}; final`, started}},
	})
}

// TestRelayedPauses passes on the response of a remote agent's call that waits for the user. Only the event of the remote agent says so.
func TestRelayedPauses(t *testing.T) {
	const failed = `{"functionResponse":{"id":"c1","name":"look","response":{"error":"This tool call requires confirmation, please approve or reject."}}}`
	const started, paused = `tool_started name="look" call="c1" settled {}`, `tool_paused call="c1"; tool_ended name="look" call="c1" tool_error {"error":"This tool call requires confirmation, please approve or reject."}`
	of := func(response string) []string {
		return []string{by(`"customMetadata":{"a2a:response":{}},` + parts(call)), by(`"customMetadata":{"a2a:response":` + response + `},` + parts(failed))}
	}
	const confirm, sign = `{"requestedToolConfirmations":{"c1":{}}}`, `{"requested_auth_configs":{"c1":{}}}`
	runDecode(t, []decodeCase{
		{"in a task", of(`{"status":{"state":"TASK_STATE_WORKING"},"metadata":{"adk_actions":` + confirm + `}}`), []string{started, paused}},
		{"in a message of a task", of(`{"status":{"message":{"metadata":{"adk_actions":` + sign + `}}}}`), []string{started, paused}},
		{"in Java's event", of(`{"updateEvent":{"metadata":{"adk_actions":` + confirm + `}}}`), []string{started, paused}},
		{"in kagent", of(`{"metadata":{"kagent_actions":` + sign + `}}`), []string{started, paused}},
		{"about another call", of(`{"metadata":{"adk_actions":{"requestedToolConfirmations":{"c2":{}}}}}`),
			[]string{started, `tool_paused call="c2"` + strings.TrimPrefix(paused, `tool_paused call="c1"`)}},
		{"of no event", of(`{"metadata":{"adk_author":"a"}}`), []string{started, strings.TrimPrefix(paused, `tool_paused call="c1"; `)}},
	})
}
