package filter_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// repeatedWords lists streams whose last frame shows words that settings can exclude, although its decoder reports none. The
// agent is named bad; earlier frames of the stream establish that where necessary.
var repeatedWords = []struct{ name, dialect, wire string }{
	{"end", "adkstudio", "event: session\ndata: s\n\nevent: trace\n" + data(`{"type":"node_start","node":"bad","step":0}`) + "event: end\ndata: hello\n\n"},

	{"state at the end of a node", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"node_end","node":"bad","step":0,"state_snapshot":{"input":{},"output":{"response":"hello"}}}`)},
	{"state of another node", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"node_start","node":"good","step":1,"state_snapshot":{"input":{"response":"hello"}}}`)},
	{"state", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"state","state":{"response":"hello"}}`)},
	{"state at the end", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"node_start","node":"good","step":1}`) + "event: trace\n" + data(`{"type":"done","state":{"response":"hello"}}`)},
	{"state after text of nobody", "adkstudio", "event: chunk\ndata: x\n\nevent: trace\n" + data(`{"type":"node_start","node":"good","step":1,"state_snapshot":{"input":{"response":"hello"}}}`)},

	{"snapshot", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","name":"bad","content":"hello"}]}`)},
	{"snapshot, nobody", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","content":[{"type":"text","text":"hello"}]}]}`)},
	{"snapshot, subagent", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","name":"good","subagentRunId":"s","content":"hello"}]}`)},
	{"snapshot, one of two", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","name":"good","content":"hello"},{"id":"2","role":"assistant","Name":"bad","Content":"hello"}]}`)},
	{"input", "agui", data(`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"1","role":"assistant","name":"bad","content":"hello"}]}}`)},
	{"user", "agui", aguiRun + data(`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user"}`) + data(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hello"}`)},
	{"result", "agui", aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"answer":"hello"}}`)},

	{"message", "looopy", data(`{"kind":"task-created","taskId":"t","contextId":"c","initiator":"user","metadata":{"agentId":"bad"}}`) + data(`{"kind":"message","taskId":"t","contextId":"c","message":{"role":"assistant","content":"hello"}}`)},
	{"message, nobody", "looopy", data(`{"kind":"task-created","taskId":"t","contextId":"c","initiator":"user"}`) + data(`{"kind":"message","taskId":"t","contextId":"c","message":{"role":"assistant","content":"hello"}}`)},

	{"status", "looopy", data(`{"kind":"task-created","taskId":"t","contextId":"c","initiator":"user","metadata":{"agentId":"bad"}}`) + data(`{"kind":"task-status","taskId":"t","contextId":"c","status":"working","message":"hello"}`)},
	{"status of a failure", "looopy", data(`{"kind":"task-created","taskId":"t","contextId":"c","initiator":"user","metadata":{"agentId":"bad"}}`) + data(`{"kind":"task-status","taskId":"t","contextId":"c","status":"failed","message":"hello"}`)},

	{"history", "a2a", a2aResult(`"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"history":[` + a2aMessage(`"kind":"message"`) + `]`)},
	{"history, contradicting", "a2a", a2aResult(`"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"history":[{"role":"agent","messageId":"m",` + a2aBad + `,"parts":[{"kind":"text","text":"hello",` + a2aGood + `}]}]`)},
	{"history of a question", "a2a", a2aResult(`"kind":"task","id":"t","contextId":"c","status":{"state":"input-required"},"history":[` + a2aMessage(`"kind":"message"`) + `]`)},
	{"status at work", "a2a", a2aResult(`"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":` + a2aMessage(`"kind":"message"`) + `}`)},
	{"status at work, 1.0", "a2a", data(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":` + a2aMessage(`"taskId":"t"`) + `}}}`)},
	{"contradicting status", "a2a", a2aResult(`"kind":"status-update","taskId":"t","contextId":"c","final":true,` + a2aGood + `,"status":{"state":"completed","message":` + a2aMessage(a2aBad) + `}`)},
	{"contradicting artifact", "a2a", a2aResult(`"kind":"artifact-update","taskId":"t","contextId":"c",` + a2aGood + `,"artifact":{"artifactId":"a",` + a2aBad + `,"parts":[{"kind":"text","text":"hello"}]}`)},
	{"contradicting artifact, other way", "a2a", a2aResult(`"kind":"artifact-update","taskId":"t","contextId":"c",` + a2aBad + `,"artifact":{"artifactId":"a",` + a2aGood + `,"parts":[{"kind":"text","text":"hello"}]}`)},
	{"contradicting part", "a2a", a2aResult(`"kind":"artifact-update","taskId":"t","contextId":"c",` + a2aGood + `,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"hello","metadata":{"ADK_AUTHOR":["good"]}}]}`)},

	{"transcript of speech", "openai", openAIChat + data(`{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"audio":{"id":"a","transcript":"hello"}}}]}`)},
	{"transcript of a response's speech", "openai", openAIResponse + data(`{"type":"response.audio.transcript.delta","sequence_number":1,"response_id":"resp_1","delta":"hello"}`)},
	{"compaction", "adk", data(`{"invocationId":"e-1","author":"bad","actions":{"compaction":{"compactedContent":{"role":"model","parts":[{"text":"hello"}]}}}}`)},
	{"result of a subagent", "agui", aguiRun + data(`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"bad"}`) + data(`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":"hello"}`)},
	{"transcript", "adk", data(`{"invocationId":"e-1","author":"bad","outputTranscription":{"text":"hello"}}`)},
	{"transcript in Python's spelling", "adk", data(`{"invocation_id":"e-1","author":"bad","output_transcription":{"text":"hello"}}`)},
	{"transcript of the user", "adk", data(`{"invocationId":"e-1","author":"user","inputTranscription":{"text":"hello"}}`)},
	{"output", "adk", data(`{"invocationId":"e-1","author":"bad","output":"hello"}`)},
	{"output, an object", "adk", data(`{"invocationId":"e-1","author":"bad","output":{"answer":"hello"}}`)},
	{"remote answer", "adk", data(`{"invocationId":"e-1","author":"bad","customMetadata":{"a2a:response":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hello"}]}}}`)},
	{"remote answer in Java", "adk", data(`{"invocationId":"e-1","author":"bad","customMetadata":[{"key":"a2a:response","stringValue":"{\"parts\":[{\"text\":\"hello\"}]}"}]}`)},
	{"remote answer by another in Java", "adk", data(`{"invocationId":"e-1","author":"good","content":{"parts":[{"text":"hello"}]},"customMetadata":[{"key":"a2a:response","stringValue":"{\"metadata\":{\"adk_author\":\"bad\"}}"}]}`)},
	{"remote answer by another in a string", "adk", data(`{"invocationId":"e-1","author":"good","content":{"parts":[{"text":"hello"}]},"customMetadata":{"a2a:response":"{\"metadata\":{\"adk_author\":\"bad\"}}"}}`)},
	{"remote answer by somebody", "adk", data(`{"invocationId":"e-1","author":"good","content":{"parts":[{"text":"hello"}]},"customMetadata":"{'a2a:response': {'adk_author': 'bad'}}"}`)},
	{"remote answer by another", "adk", data(`{"invocationId":"e-1","author":"good","customMetadata":{"a2a:response":{"parts":[{"text":"hello"}],"metadata":{"adk_author":"bad"}}}}`)},
}

var studioRun = "event: session\ndata: s\n\nevent: trace\n" + data(`{"type":"node_start","node":"bad","step":0}`)

var aguiRun = data(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)

const (
	a2aGood = `"metadata":{"adk_author":"good"}`
	a2aBad  = `"metadata":{"adk_author":"bad"}`
)

func a2aResult(members string) string {
	return data(`{"jsonrpc":"2.0","id":1,"result":{` + members + `}}`)
}

func a2aMessage(member string) string {
	return `{"role":"agent","messageId":"m","parts":[{"kind":"text","text":"hello"}],` + member + `}`
}

// lastOf returns the filtered last frame of a stream, or the reason why it is withheld.
func lastOf(t *testing.T, s filter.Settings, dialect, wire string) string {
	t.Helper()
	settings := collector.Settings{MaxFrame: frameLimit, MaxJSONDepth: depthLimit}
	input := collector.Input{Reader: strings.NewReader(wire), ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{Source: "test", SingleRun: true}, input, dialect)
	return leaves(s, func(yield func(*event.Batch) bool) {
		for {
			b, err := decoding.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.Rejected != event.ReasonTruncated && !yield(b) {
				return
			}
		}
	})
}

// TestRepeatedWords checks that settings that exclude words withhold each frame that repeats them, and that nothing else does.
func TestRepeatedWords(t *testing.T) {
	for _, c := range repeatedWords {
		all := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		if got := lastOf(t, all, c.dialect, c.wire); !strings.Contains(got, "hello") {
			t.Errorf("%s %s, no settings: %s", c.dialect, c.name, got)
		}
		for name, s := range map[string]filter.Settings{
			"authors": {Authors: []string{"good"}, Thoughts: event.ThoughtsDetailed},
			"out":     {Exclude: []event.Kind{event.KindText}, Thoughts: event.ThoughtsDetailed},
			"in":      {Include: []event.Kind{event.KindToolStarted, event.KindRunStarted, event.KindRunEnded, event.KindOther}},
		} {
			s.Policy = event.PolicyClient
			if got := lastOf(t, s, c.dialect, c.wire); got != setting {
				t.Errorf("%s %s, client, %s: %s", c.dialect, c.name, name, got)
			}
			s.Policy = event.PolicyPublic
			if got := lastOf(t, s, c.dialect, c.wire); strings.Contains(got, "hello") {
				t.Errorf("%s %s, public, %s: %s", c.dialect, c.name, name, got)
			}
		}
	}
}

// TestWordsThatMayLeave checks that words pass if the settings allow them, even if other words are excluded.
func TestWordsThatMayLeave(t *testing.T) {
	good := filter.Settings{Policy: event.PolicyClient, Authors: []string{"good"}}
	human := filter.Settings{Policy: event.PolicyClient, Authors: []string{"user"}}
	noText := filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindText}}
	noThoughts := filter.Settings{Policy: event.PolicyClient}
	thoughts := filter.Settings{Policy: event.PolicyClient, Include: []event.Kind{event.KindThought}, Thoughts: event.ThoughtsDetailed}
	public := filter.Settings{Policy: event.PolicyPublic, Authors: []string{"good"}}
	noCalls := filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindToolStarted}, Thoughts: event.ThoughtsDetailed}
	noResults := filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindToolEnded}, Thoughts: event.ThoughtsDetailed}
	typed := func(kind string) string {
		return `{"kind":"data","data":{"id":"c","name":"lookup","hello":{}},"metadata":{"adk_type":"` + kind + `"}}`
	}
	inHistory := func(kind string) string {
		return a2aResult(`"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"history":[{"role":"agent","messageId":"m","parts":[` + typed(kind) + `]}]`)
	}
	remote := func(kind string) string {
		return data(`{"invocationId":"e-1","author":"good","customMetadata":{"a2a:response":{"history":[{"parts":[` + typed(kind) + `]}]}}}`)
	}
	message := func(members string) string {
		return data(`{"kind":"task-created","taskId":"t","contextId":"c","initiator":"user","metadata":{"agentId":"good"}}`) + data(`{"kind":"message","taskId":"t","contextId":"c","message":{`+members+`}}`)
	}
	snapshot := func(messages string) string {
		return aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[`+messages+`]}`)
	}
	working := func(part string) string {
		return a2aResult(`"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"role":"agent","messageId":"m","parts":[` + part + `]}}`)
	}
	marked := `{"kind":"text","text":"hello","metadata":{"adk_thought":true}}`
	asking := a2aResult(`"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"input-required","message":` + a2aMessage(`"kind":"message"`) + `}`)
	for _, c := range []struct {
		name, dialect, wire string
		settings            filter.Settings
		leaves              bool
	}{
		{"end without words", "adkstudio", "event: session\ndata: s\n\nevent: end\ndata: \n\n", good, true},
		{"state of one who may", "adkstudio", strings.ReplaceAll(studioRun, "bad", "good") + "event: trace\n" + data(`{"type":"done","state":{"response":"hello"}}`), good, true},
		{"start of one who may, without state", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"node_start","node":"good","step":1,"state_snapshot":{"input":{}}}`), good, true},
		{"thought of a node", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"node_end","node":"bad","step":0,"thinking":"hello"}`), noThoughts, false},
		{"thought in a state", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"state","state":{"reasoning":"hello"}}`), noThoughts, false},
		{"no thought in a state", "adkstudio", studioRun + "event: trace\n" + data(`{"type":"state","state":{"thought":false,"response":"hello"}}`), noThoughts, true},
		{"thought of another", "adkstudio", "event: agent\ndata: good\n\nevent: thinking\n" + data(`{"agent":"bad","content":"hello"}`), filter.Settings{Policy: event.PolicyClient, Authors: []string{"good"}, Thoughts: event.ThoughtsDetailed}, false},
		{"thought in arguments", "adkstudio", studioRun + "event: tool_call\n" + data(`{"name":"f","args":{"thought":true,"text":"hello"}}`), noThoughts, false},
		{"thought in written arguments", "adkstudio", studioRun + "event: tool_call\n" + data(`{"name":"f","args":"{\"thought\":true,\"text\":\"hello\"}"}`), noThoughts, false},
		{"thought in a written result", "adkstudio", studioRun + "event: tool_result\n" + data(`{"name":"f","result":"[{\"thought\":true,\"text\":\"hello\"}]"}`), noThoughts, false},
		{"arguments", "adkstudio", studioRun + "event: tool_call\n" + data(`{"name":"f","args":{"thought":"hello"}}`), noThoughts, true},
		{"thought in arguments", "looopy", data(`{"kind":"tool-start","taskId":"t","toolCallId":"c","toolName":"f","arguments":{"thought":true,"text":"hello"}}`), noThoughts, false},
		{"thought in arguments", "aisdk", data(`{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":{"thought":true,"text":"hello"}}`), noThoughts, false},
		{"thoughts of a response", "looopy", data(`{"kind":"content-complete","taskId":"t","content":"hi","finishReason":"stop","thoughts":[{"content":"hello"}]}`), noThoughts, false},
		{"two agents of a task", "looopy", data(`{"kind":"content-delta","taskId":"t","path":["agent:good"],"delta":"hi"}`) + data(`{"kind":"content-delta","taskId":"t","path":["agent:bad"],"delta":"hello"}`), good, false},
		{"two agents of a task, afterwards", "looopy", data(`{"kind":"content-delta","taskId":"t","path":["agent:good"],"delta":"hi"}`) + data(`{"kind":"content-delta","taskId":"t","path":["agent:bad"],"delta":"hi"}`) + data(`{"kind":"task-complete","taskId":"t","content":"hello"}`), public, false},
		{"one agent of a task", "looopy", data(`{"kind":"content-delta","taskId":"t","path":["agent:good"],"delta":"hi"}`) + data(`{"kind":"task-complete","taskId":"t","content":"hello"}`), good, true},
		{"two agents of a task, at its start", "looopy", data(`{"kind":"task-created","taskId":"t","initiator":"user","agentId":"bad"}`) + data(`{"kind":"content-delta","taskId":"t","path":["agent:good"],"delta":"hello"}`), good, false},
		{"two agents at the start of a task", "looopy", data(`{"kind":"task-created","taskId":"t","initiator":"user","agentId":"bad","metadata":{"agentId":"good"}}`) + data(`{"kind":"content-delta","taskId":"t","delta":"hello"}`), good, false},
		{"message of a task with two agents", "looopy", data(`{"kind":"task-created","taskId":"t","initiator":"user","agentId":"bad"}`) + data(`{"kind":"message","taskId":"t","path":["agent:good"],"message":{"role":"assistant","content":"hello"}}`), good, false},
		{"calls in another spelling, without calls", "looopy", data(`{"kind":"content-complete","taskId":"t","content":"hi","finishReason":"tool_calls","tool_calls":[{"id":"c","function":{"name":"f","arguments":"hello"}}]}`), noCalls, false},
		{"message by another", "looopy", message(`"role":"assistant","name":"bad","content":"hello"`), good, false},
		{"thought beside text", "deepagents", data(`{"type":"content","id":"1","ts":"2026-01-01T00:00:00Z","v":2,"md":"hi","reasoning":"hello"}`), noThoughts, false},
		{"thought in written arguments", "deepagents", data(`{"type":"tool_start","id":"1","ts":"2026-01-01T00:00:00Z","v":2,"name":"f","call_id":"c","args_summary":"{\"thought\":true,\"text\":\"hello\"}"}`), noThoughts, false},
		{"two agents", "deepagents", data(`{"type":"content","id":"1","ts":"2026-01-01T00:00:00Z","v":2,"agent_type":"main","agent_id":"subagent_bad_1","md":"hello"}`), filter.Settings{Policy: event.PolicyClient, Authors: []string{"main"}}, false},
		{"main agent", "deepagents", data(`{"type":"content","id":"1","ts":"2026-01-01T00:00:00Z","v":2,"agent_type":"main","agent_id":"main_1","md":"hello"}`), filter.Settings{Policy: event.PolicyClient, Authors: []string{"main"}}, true},
		{"thoughts of a task", "looopy", data(`{"kind":"task-complete","taskId":"t","content":"hi","metadata":{"reasoning":"hello"}}`), noThoughts, false},
		{"response without thoughts", "looopy", data(`{"kind":"content-complete","taskId":"t","content":"hello","finishReason":"stop","thoughts":[]}`), noThoughts, true},
		{"snapshot by one who may", "agui", snapshot(`{"id":"1","role":"assistant","name":"good","content":"hello"}`), good, true},
		{"snapshot of the user", "agui", snapshot(`{"id":"1","role":"user","content":"hello"}`), human, true},
		{"snapshot of the user, who may not", "agui", snapshot(`{"id":"1","role":"User","content":"hello"}`), good, false},
		{"snapshot of what models are told", "agui", snapshot(`{"id":"1","role":"system","content":"hi"}`), noText, true},
		{"snapshot of a result", "agui", snapshot(`{"id":"1","role":"tool","toolCallId":"c","content":"hello"}`), noText, true},
		{"snapshot of a result, without results", "agui", snapshot(`{"id":"1","role":"tool","toolCallId":"c","content":"hello"}`), filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindToolEnded}}, false},
		{"snapshot of a call, without calls", "agui", snapshot(`{"id":"1","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`), filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindToolStarted}}, false},
		{"snapshot of a thought", "agui", snapshot(`{"id":"1","role":"reasoning","content":"hello"}`), filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindText}, Thoughts: event.ThoughtsDetailed}, true},
		{"snapshot of a thought, without thoughts", "agui", snapshot(`{"id":"1","role":"Reasoning","content":"hello"}`), filter.Settings{Policy: event.PolicyClient}, false},
		{"snapshot of a thought without words", "agui", snapshot(`{"id":"1","role":"reasoning"}`), filter.Settings{Policy: event.PolicyClient}, false},
		{"finished without a result", "agui", aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`), good, true},
		{"message of the user", "looopy", message(`"role":"user","content":"hello"`), human, true},
		{"message of the user, who may not", "looopy", message(`"role":"user","content":"hello"`), good, false},
		{"message of a tool", "looopy", message(`"role":"tool","content":"hello"`), noText, true},
		{"message with thoughts", "looopy", message(`"role":"assistant","content":"","reasoning":"hello"`), filter.Settings{Policy: event.PolicyClient}, false},
		{"marked message of a snapshot, without thoughts", "agui", snapshot(`{"id":"1","role":"assistant","thought":true,"content":"hello"}`), filter.Settings{Policy: event.PolicyClient}, false},
		{"marked message, without thoughts", "looopy", message(`"role":"assistant","thought":true,"content":"hello"`), filter.Settings{Policy: event.PolicyClient}, false},
		{"marked message of a state, without thoughts", "langgraph", langGraphRun + "event: values\n" + data(`{"messages":[{"type":"ai","id":"m","adk_thought":true,"content":"hello"}]}`), filter.Settings{Policy: event.PolicyClient}, false},
		{"marked item of a response, without thoughts", "openai", data(`{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","thought":true,"content":[{"type":"output_text","text":"hello"}]}]}}`), filter.Settings{Policy: event.PolicyClient}, false},
		{"message of the state", "langgraph", langGraphRun + "event: values\n" + data(`{"messages":[{"type":"ai","id":"m","content":"hello"}]}`), filter.Settings{Policy: event.PolicyClient}, true},
		{"event marked by its metadata", "adk", data(`{"invocationId":"e-1","author":"root","content":{"role":"model","parts":[{"text":"hello"}]},"customMetadata":{"thought":true}}`), filter.Settings{Policy: event.PolicyPublic}, false},
		{"content marked by its metadata", "adk", data(`{"invocationId":"e-1","author":"root","content":{"role":"model","parts":[{"text":"hello"}],"metadata":{"adk_thought":true}}}`), filter.Settings{Policy: event.PolicyPublic}, false},
		{"part marked by its metadata", "adk", data(`{"invocationId":"e-1","author":"root","content":{"role":"model","parts":[{"text":"hello","custom_metadata":{"thought":"yes"}}]}}`), filter.Settings{Policy: event.PolicyPublic}, false},
		{"event with other metadata", "adk", data(`{"invocationId":"e-1","author":"root","content":{"role":"model","parts":[{"text":"hello"}]},"customMetadata":{"thought":false}}`), filter.Settings{Policy: event.PolicyPublic}, true},
		{"text in the metadata of a message", "langgraph", langGraphRun + "event: messages\n" + data(`[{"type":"AIMessageChunk","id":"m","content":"hi"},{"langgraph_node":"a","content":"hello","name":"hello"}]`), filter.Settings{Policy: event.PolicyPublic}, false},
		{"thoughts at work", "a2a", working(marked), thoughts, true},
		{"thoughts at work, without text", "a2a", working(marked), filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindText}, Thoughts: event.ThoughtsDetailed}, true},
		{"thoughts at work, without thoughts", "a2a", working(marked), filter.Settings{Policy: event.PolicyClient}, false},
		{"a question", "a2a", asking, noText, true},
		{"history by one who may", "a2a", a2aResult(`"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"history":[` + a2aMessage(a2aGood) + `]`), good, true},
		{"an answer after others", "a2a", a2aResult(`"kind":"task","id":"t","contextId":"c",` + a2aGood + `,"status":{"state":"completed","message":{"role":"agent","messageId":"n","parts":[{"kind":"text","text":"hello"}]}},"history":[` + a2aMessage(a2aBad) + `]`), public, true},
		{"a call in the history", "a2a", inHistory("function_call"), noText, true},
		{"a call in the history, without calls", "a2a", inHistory("function_call"), noCalls, false},
		{"a result in the history, without calls", "a2a", inHistory("function_response"), noCalls, true},
		{"a result in the history, without results", "a2a", inHistory("function_response"), noResults, false},
		{"code in the history, without calls", "a2a", inHistory("executable_code"), noCalls, false},
		{"code in the history, without results", "a2a", inHistory("executable_code"), noResults, true},
		{"its result in the history, without results", "a2a", inHistory("code_execution_result"), noResults, false},
		{"other data in the history", "a2a", inHistory("other"), noCalls, true},
		{"a call in a part, spelled as in some versions", "a2a", working(strings.ReplaceAll(typed("function_call"), "adk_type", "adk:type")), noCalls, false},
		{"code in a part, without calls", "a2a", working(typed("executable_code")), noCalls, false},
		{"a remote call", "adk", remote("function_call"), noResults, true},
		{"a remote call, without calls", "adk", remote("function_call"), noCalls, false},
		{"a remote result, without results", "adk", remote("function_response"), noResults, false},
		{"output by one who may", "adk", data(`{"invocationId":"e-1","author":"good","output":"hello"}`), good, true},
		{"empty output", "adk", data(`{"invocationId":"e-1","author":"bad","output":""}`), good, true},
		{"remote thought", "adk", data(`{"invocationId":"e-1","author":"good","customMetadata":{"a2a:response":{"parts":[` + marked + `]}}}`), filter.Settings{Policy: event.PolicyClient}, false},
	} {
		got := lastOf(t, c.settings, c.dialect, c.wire)
		lost := strings.Contains(c.wire, "hello") && !strings.Contains(got, "hello")
		if left := got != setting && got != empty && !lost; left != c.leaves {
			t.Errorf("%s %s: %s", c.dialect, c.name, got)
		}
	}
}

// TestStateOfOthers checks that state leaves only if all nodes that worked so far may speak.
func TestStateOfOthers(t *testing.T) {
	for name, members := range map[string]string{"node_end": `"step":0,"state_snapshot":{"output":{"x":"hello"}}`, "state": `"state":{"x":"hello"}`, "done": `"total_steps":1,"state":{"x":"hello"}`} {
		sent := studioRun + "event: trace\n" + data(`{"type":"`+name+`","node":"bad",`+members+`}`)
		for author, want := range map[string]bool{"bad": true, "good": false} {
			s := filter.Settings{Policy: event.PolicyPublic, Authors: []string{author}, StateKeys: []string{"x"}}
			if got := lastOf(t, s, "adkstudio", sent); strings.Contains(got, "hello") != want {
				t.Errorf("%s, author %s: %s", name, author, got)
			}
		}
	}
}
