package wire

import (
	"bytes"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TransferTool is the function by which an agent of the ADK hands control to another. Its arguments name the other agent.
const TransferTool = "transfer_to_agent"

// IsRequest reports whether a function call is the ADK's own question to the outside instead of a tool.
func IsRequest(name string) bool { return strings.HasPrefix(name, "adk_request_") }

// RequestInput returns what the call of one of the ADK's questions asks for. A schema in its arguments makes it a question for data: the
// answer is validated against the schema, as that of adk_request_input is.
//
// Source: google/adk/workflow/utils/_workflow_hitl_utils.py of google-adk 2.13.
func RequestInput(name string, args strictjson.Value) event.InputKind {
	switch name {
	case "adk_request_credential":
		return event.InputCredential
	case "adk_request_confirmation":
		return event.InputConfirmation
	}
	if args.First("responseSchema", "response_schema").Exists() {
		return event.InputData
	}
	return event.InputClarification
}

// RequestQuestion returns what the call of one of the ADK's questions asks. hint is that of the confirmation where the frame has it outside
// of the call. A request for a credential has no words, and the configuration of one holds secrets: nothing of it is returned.
func RequestQuestion(name string, args, hint strictjson.Value) event.Question {
	switch name {
	case "adk_request_credential":
		return event.Question{}
	case "adk_request_confirmation":
		if own := args.First("toolConfirmation", "tool_confirmation").Get("hint"); len(own.Text()) > 0 {
			hint = own
		}
		return event.Question{Prompt: hint.String()}
	case "adk_request_input":
		return event.Question{Prompt: args.Get("message").String(), Schema: args.First("responseSchema", "response_schema")}
	}
	return event.Question{}
}

// TransferTarget returns the agent that the arguments of a transfer name.
func TransferTarget(args strictjson.Value) strictjson.Value {
	return args.First("agent_name", "agentName")
}

// IsUser reports whether an author is the human. Case and surrounding space do not count, so that nothing of the user's can pass for an
// agent's.
func IsUser(author strictjson.Value) bool {
	return bytes.EqualFold(bytes.TrimSpace(author.Text()), []byte("user"))
}

// IsFailure reports whether an ADK error code says that something failed. Python puts the finish reason of an empty answer there, and that
// of an answer cut at its limit; neither is a failure.
func IsFailure(code strictjson.Value) bool {
	return code.Exists() && !code.Is("") && !code.Is("STOP") && !code.Is("MAX_TOKENS")
}

// SaysError reports whether a tool's response follows the ADK's convention for an error: a member `error` that says something.
func SaysError(response strictjson.Value) bool {
	e := response.Get("error")
	switch e.Kind() {
	case strictjson.String:
		return len(e.Text()) > 0
	case strictjson.Bool:
		on, _ := e.Bool()
		return on
	case strictjson.Number: // a code: 0 is none
		n, ok := e.Float()
		return n != 0 || !ok
	}
	return e.Len() > 0
}

// GeminiUsage maps Gemini's counts to those of the GenAI conventions: what tools put into the prompt is input, thoughts are output. Go
// omits a count of 0, so the total, if present, says what a missing count is.
func GeminiUsage(v strictjson.Value) event.Usage {
	var prompt, tools, answer, thoughts, total, cached event.Count
	for name, n := range v.Members() {
		switch string(name.Text()) {
		case "promptTokenCount", "prompt_token_count":
			prompt = dialect.Count(n)
		case "toolUsePromptTokenCount", "tool_use_prompt_token_count":
			tools = dialect.Count(n)
		case "candidatesTokenCount", "candidates_token_count":
			answer = dialect.Count(n)
		case "thoughtsTokenCount", "thoughts_token_count":
			thoughts = dialect.Count(n)
		case "totalTokenCount", "total_token_count":
			total = dialect.Count(n)
		case "cachedContentTokenCount", "cached_content_token_count":
			cached = dialect.Count(n)
		}
	}
	return WithTotal(event.Usage{Input: prompt.Add(tools), Output: answer.Add(thoughts), CacheRead: cached, Reasoning: thoughts}, total)
}

// WithTotal completes a usage whose output was omitted: the total less the input.
func WithTotal(usage event.Usage, total event.Count) event.Usage {
	if !usage.Output.Known && usage.Input.Known && total.Known && total.N >= usage.Input.N {
		usage.Output = event.Count{N: total.N - usage.Input.N, Known: true}
	}
	return usage
}
