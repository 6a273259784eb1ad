package filter_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const (
	openAIResponse = `data:{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}` + "\n\n"
	openAIChat     = `data:{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}` + "\n\n"
	langGraphRun   = "event: metadata\ndata: {\"run_id\":\"01a204ed-f948-70c4-bfb0-bbfe7bef1db2\",\"attempt\":1}\n\n"
)

// openAIItem starts an output item and sends an event about it.
func openAIItem(item, kind, members string) string {
	return openAIResponse + data(`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i",`+item+`}}`) +
		data(`{"type":"`+kind+`","sequence_number":2,"output_index":0,"item_id":"i",`+members+`}`)
}

func openAIChunk(delta string) string {
	return openAIChat + data(`{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":`+delta+`}]}`)
}

func openAIEnd(item string) string {
	return openAISpoken("response.output_item.done", item) + data(`{"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"id":"i",`+item+`}]}}`)
}

func openAISpoken(kind, item string) string {
	return openAIResponse + data(`{"type":"`+kind+`","sequence_number":2,"output_index":0,"item":{"id":"i",`+item+`}}`)
}

func langGraph(mode, payload string) string {
	return langGraphRun + "event: " + mode + "\ndata: " + payload + "\n\n"
}

const aguiCall = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`

// excludedParts lists streams whose last frame shows the word hello as a part of something that a kind describes, although its
// decoder reports no such fact.
var excludedParts = []struct {
	name, dialect, wire string
	kind                event.Kind
}{
	{"arguments", "agui", aguiRun + data(aguiCall) + data(`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"hello"}`), event.KindToolStarted},
	{"end of arguments", "agui", aguiRun + data(`{"type":"TOOL_CALL_START","toolCallId":"hello","toolCallName":"f"}`) + data(`{"type":"TOOL_CALL_END","toolCallId":"hello"}`), event.KindToolStarted},
	{"piece", "agui", aguiRun + data(`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}`) + data(`{"type":"TOOL_CALL_CHUNK","delta":"hello"}`), event.KindToolStarted},
	{"result with a call", "agui", aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[{"id":"1","role":"assistant","toolCalls":[{"id":"c","function":{"arguments":"hello"}}]}]}}`), event.KindToolStarted},

	{"arguments", "openai", openAIItem(`"type":"function_call","name":"f","arguments":""`, "response.function_call_arguments.delta", `"delta":"hello"`), event.KindToolStarted},
	{"whole arguments", "openai", openAIItem(`"type":"function_call","name":"f","arguments":""`, "response.function_call_arguments.done", `"arguments":"hello"`), event.KindToolStarted},
	{"input", "openai", openAIItem(`"type":"custom_tool_call","name":"f","input":""`, "response.custom_tool_call_input.delta", `"delta":"hello"`), event.KindToolStarted},
	{"server's arguments", "openai", openAIItem(`"type":"mcp_call","name":"f","arguments":""`, "response.mcp_call_arguments.delta", `"delta":"hello"`), event.KindToolStarted},
	{"code", "openai", openAIItem(`"type":"code_interpreter_call","code":""`, "response.code_interpreter_call_code.delta", `"delta":"hello"`), event.KindToolStarted},
	{"search", "openai", openAIItem(`"type":"web_search_call"`, "response.web_search_call.searching", `"query":"hello"`), event.KindToolStarted},
	{"end of a search", "openai", openAIItem(`"type":"web_search_call"`, "response.web_search_call.completed", `"query":"hello"`), event.KindToolEnded},
	{"image", "openai", openAIItem(`"type":"image_generation_call"`, "response.image_generation_call.partial_image", `"partial_image_b64":"hello"`), event.KindToolEnded},
	{"output", "openai", openAIItem(`"type":"shell_call"`, "response.shell_call_output_content.delta", `"delta":"hello"`), event.KindToolEnded},
	{"action", "openai", openAISpoken("response.output_item.added", `"type":"shell_call","action":{"commands":["hello"]}`), event.KindToolStarted},
	{"input at the end", "openai", openAIEnd(`"type":"custom_tool_call","name":"f","input":"hello"`), event.KindToolStarted},
	{"action at the end", "openai", openAIEnd(`"type":"shell_call","action":{"commands":["hello"]}`), event.KindToolStarted},
	{"code at the end", "openai", openAIEnd(`"type":"code_interpreter_call","code":"hello"`), event.KindToolStarted},
	{"outputs at the end", "openai", openAIEnd(`"type":"code_interpreter_call","outputs":[{"type":"logs","logs":"hello"}]`), event.KindToolEnded},
	{"results at the end", "openai", openAIEnd(`"type":"file_search_call","results":[{"text":"hello"}]`), event.KindToolEnded},
	{"image at the end", "openai", openAIEnd(`"type":"image_generation_call","result":"hello"`), event.KindToolEnded},
	{"chunk", "openai", openAIChunk(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"f"}}]}`) + data(`{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"hello"}}]}}]}`), event.KindToolStarted},
	{"chunk as before tool_calls", "openai", openAIChunk(`{"function_call":{"name":"f","arguments":"hello"}}`), event.KindToolStarted},

	{"input", "aisdk", data(`{"type":"start"}`) + data(`{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`) + data(`{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"hello"}`), event.KindToolStarted},

	{"piece", "adk", data(`{"invocationId":"e-1","author":"a","partial":true,"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"hello"}],"willContinue":true}}]}}`), event.KindToolStarted},
	{"code", "adk", data(`{"invocationId":"e-1","author":"a","partial":true,"content":{"parts":[{"executableCode":{"code":"hello"}}]}}`), event.KindToolStarted},
	{"result of code", "adk", data(`{"invocationId":"e-1","author":"a","partial":true,"content":{"parts":[{"codeExecutionResult":{"output":"hello"}}]}}`), event.KindToolEnded},
	{"widget", "adk", data(`{"invocationId":"e-1","author":"a","content":{"parts":[{"functionResponse":{"id":"c","name":"f","response":{}}}]},"actions":{"renderUiWidgets":[{"id":"c","provider":"mcp","payload":{"tool_args":{"x":"hello"}}}]}}`), event.KindToolStarted},
	{"server's tool", "adk", data(`{"invocationId":"e-1","author":"a","partial":true,"content":{"parts":[{"toolCall":{"id":"c","toolType":"GOOGLE_SEARCH_WEB","args":{"q":"hello"}}}]}}`), event.KindToolStarted},
	{"server's result", "adk", data(`{"invocationId":"e-1","author":"a","partial":true,"content":{"parts":[{"toolResponse":{"id":"c","response":{"q":"hello"}}}]}}`), event.KindToolEnded},

	{"widget", "a2a", data(`{"jsonrpc":"2.0","id":"1","result":{"kind":"status-update","taskId":"t","contextId":"c","final":false,"status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"data","data":{"id":"c","name":"f","response":{}},"metadata":{"adk_type":"function_response"}}]}},"metadata":{"adk_author":"a","adk_actions":{"renderUiWidgets":[{"id":"c","provider":"mcp","payload":{"tool_args":{"x":"hello"}}}]}}}}`), event.KindToolStarted},
	{"encoded widget", "a2a", data(`{"jsonrpc":"2.0","id":"1","result":{"kind":"status-update","taskId":"t","contextId":"c","final":false,"status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"data","data":{"id":"c","name":"f","response":{}},"metadata":{"adk_type":"function_response"}}]}},"metadata":{"adk_author":"a","adk_actions":"{\"renderUiWidgets\":[{\"id\":\"c\",\"payload\":{\"tool_args\":{\"x\":\"hello\"}}}]}"}}}`), event.KindToolStarted},

	{"pieces", "langgraph", langGraph("messages", `[{"type":"AIMessageChunk","id":"m","content":"","tool_call_chunks":[{"name":null,"args":"hello","index":0,"type":"tool_call_chunk"}]},{"langgraph_node":"model"}]`), event.KindToolStarted},
	{"provider's pieces", "langgraph", langGraph("messages", `[{"type":"AIMessageChunk","id":"m","content":"","additional_kwargs":{"tool_calls":[{"index":0,"function":{"arguments":"hello"}}]}},{"langgraph_node":"model"}]`), event.KindToolStarted},
	{"invalid call", "langgraph", langGraph("messages", `[{"type":"AIMessageChunk","id":"m","content":"","invalid_tool_calls":[{"name":"f","args":"hello"}]},{"langgraph_node":"model"}]`), event.KindToolStarted},
	{"block", "langgraph", langGraph("messages", `[{"type":"AIMessageChunk","id":"m","content":[{"type":"input_json_delta","partial_json":"hello","index":1}]},{"langgraph_node":"model"}]`), event.KindToolStarted},
	{"block of a state", "langgraph", langGraph("values", `{"messages":[{"type":"ai","id":"m","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":"hello"}}]}]}`), event.KindToolStarted},
	{"block of an update", "langgraph", langGraph("updates", `{"model":{"messages":[{"type":"ai","id":"m","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":"hello"}}]}]}}`), event.KindToolStarted},
	{"result", "langgraph", langGraph("values", `{"messages":[{"type":"tool","tool_call_id":"c","content":"hello"}]}`), event.KindToolEnded},
	{"result of a class", "langgraph", langGraph("values", `{"messages":[{"type":"ToolMessage","content":"hello"}]}`), event.KindToolEnded},
	{"result of a function", "langgraph", langGraph("values", `{"messages":[{"type":"function","name":"f","content":"hello"}]}`), event.KindToolEnded},
	{"result of a function in an update", "langgraph", langGraph("updates", `{"f":{"messages":[{"type":"FunctionMessage","name":"f","content":"hello"}]}}`), event.KindToolEnded},
	{"result in pieces", "langgraph", langGraph("messages/partial", `[{"type":"FunctionMessageChunk","id":"m","content":"hello"}]`), event.KindToolEnded},
	{"result with a role", "langgraph", langGraph("values", `{"messages":[{"role":"tool","tool_call_id":"c","content":"hello"}]}`), event.KindToolEnded},
	{"result of a function with a role", "langgraph", langGraph("values", `{"messages":[{"role":"function","name":"f","content":"hello"}]}`), event.KindToolEnded},
	{"serialized result", "langgraph", langGraph("values", `{"messages":[{"lc":1,"type":"constructor","id":["langchain","schema","messages","FunctionMessage"],"kwargs":{"type":"function","name":"f","content":"hello"}}]}`), event.KindToolEnded},
	{"serialized result without a type", "langgraph", langGraph("values", `{"messages":[{"lc":1,"type":"constructor","id":["langchain_core","messages","ToolMessage"],"kwargs":{"tool_call_id":"c","content":"hello"}}]}`), event.KindToolEnded},
	{"text with the ID of a call", "langgraph", langGraph("values", `{"messages":[{"type":"ai","tool_call_id":"c","content":"hello"}]}`), event.KindText},
	{"result beside its type", "langgraph", langGraph("values", `{"messages":[{"type":"function","data":{"name":"f","content":"hello"}}]}`), event.KindToolEnded},
	{"part", "openai", openAIItem(`"type":"reasoning","summary":[]`, "response.content_part.added", `"content_index":0,"part":{"type":"reasoning_text","text":"hello"}`), event.KindThought},
	{"whole part", "openai", openAIItem(`"type":"reasoning","summary":[]`, "response.content_part.done", `"content_index":0,"part":{"type":"reasoning_text","text":"hello"}`), event.KindThought},
	{"part at the end", "openai", openAIEnd(`"type":"message","role":"assistant","content":[{"type":"reasoning_text","text":"hello"}]`), event.KindThought},
	{"part of an SDK's event", "openai", openAIResponse + data(`{"type":"raw_response_event","data":{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"reasoning","summary":[]}}}`) + data(`{"type":"raw_response_event","data":{"type":"response.content_part.added","sequence_number":1,"item_id":"i","output_index":0,"content_index":0,"part":{"type":"reasoning_text","text":"hello"}}}`), event.KindThought},
	{"result", "agui", aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[{"id":"1","role":"reasoning","content":"hello"}]}}`), event.KindThought},
	{"result of messages", "agui", aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":[{"id":"1","role":"reasoning","content":"hello"}]}`), event.KindThought},
	{"part in a snapshot", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","content":[{"type":"reasoning","text":"hello"}]}]}`), event.KindThought},
	{"encrypted", "agui", aguiRun + data(`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"hello"}`), event.KindThought},
	{"encrypted in a snapshot", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","content":"","encryptedValue":"hello"}]}`), event.KindThought},
	{"encrypted in a call", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","content":"","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"encryptedValue":"hello"}]}]}`), event.KindThought},
	{"encrypted in a function", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}","encrypted_value":"hello"}}]}]}`), event.KindThought},
	{"encrypted in metadata", "agui", aguiRun + data(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"assistant","content":"","metadata":{"encryptedValue":"hello"}}]}`), event.KindThought},
	{"encrypted call in a request", "agui", data(`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"1","role":"assistant","toolCalls":[{"id":"c","encryptedValue":"hello"}]}]}}`), event.KindThought},
	{"encrypted call in a result", "agui", aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[{"id":"1","role":"assistant","toolCalls":[{"id":"c","encryptedValue":"hello"}]}]}}`), event.KindThought},
	{"encrypted in the start of a call", "agui", aguiRun + data(`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","encryptedValue":"hello"}`), event.KindThought},
	{"encrypted in the start of a message", "agui", aguiRun + data(`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","metadata":{"encrypted_value":"hello"}}`), event.KindThought},
	{"OpenRouter's details", "langgraph", langGraph("values", `{"messages":[{"type":"ai","id":"m","content":"","additional_kwargs":{"reasoning_details":[{"type":"reasoning.text","text":"hello"}]}}]}`), event.KindThought},
	{"OpenAI's summary", "langgraph", langGraph("values", `{"messages":[{"type":"ai","id":"m","content":"","additional_kwargs":{"reasoning":{"encrypted_content":"hello"}}}]}`), event.KindThought},
	{"redacted", "langgraph", langGraph("messages", `[{"type":"AIMessageChunk","id":"m","content":[{"type":"redacted_thinking","data":"hello"}]},{"langgraph_node":"model"}]`), event.KindThought},

	{"call", "looopy", data(`{"kind":"content-complete","contextId":"c","taskId":"t","content":"","toolCalls":[{"id":"c","function":{"name":"f","arguments":"hello"}}]}`), event.KindToolStarted},
	{"call", "deepagents", data(`{"v":2,"type":"tool_start","id":"1","ts":"2026-01-01T00:00:00Z","name":"f","call_id":"c","args":"hello"}`), event.KindToolStarted},
	{"call", "adkstudio", "event: session\ndata: s\n\nevent: tool_call\n" + data(`{"name":"f","args":{"a":"hello"}}`), event.KindToolStarted},
}

// TestExcludedParts checks that a setting that excludes a kind withholds each part of what it describes, and that a setting that
// excludes another kind withholds nothing.
func TestExcludedParts(t *testing.T) {
	for _, c := range excludedParts {
		other := event.KindTransfer
		s := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{other}}
		if got := lastOf(t, s, c.dialect, c.wire); !strings.Contains(got, "hello") {
			t.Errorf("%s %s, without %s: %s", c.dialect, c.name, other, got)
		}
		s.Exclude = []event.Kind{c.kind}
		if c.kind == event.KindThought {
			s.Exclude, s.Thoughts = nil, event.ThoughtsNone
		}
		if got := lastOf(t, s, c.dialect, c.wire); got != setting {
			t.Errorf("%s %s, without %s: %s", c.dialect, c.name, c.kind, got)
		}
	}
}
