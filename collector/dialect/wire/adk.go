package wire

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TransferTool is the function with which an ADK agent hands control to the agent named in its
// arguments.
const TransferTool = "transfer_to_agent"

// ADKEncodedMembers are the members that ADK servers write as objects or as JSON in a string.
//
// Source: google/adk/a2a/converters/event_converter.py of google-adk 2.13, _serialize_metadata_value.
var ADKEncodedMembers = append(
	ADKNames("custom_metadata", "actions", "usage_metadata", "grounding_metadata", "citation_metadata"),
	"customMetadata", "custom_metadata", "a2a:request", "a2a:response",
)

// Calls that an agent makes if the remote agent that it asks waits for input or a credential. No tool has these names.
//
// Source: google/adk/a2a/converters/to_adk_event.py of google-adk 2.13.
const (
	remoteInput      = "mock_function_call_for_required_user_input"
	remoteCredential = "mock_function_call_for_required_user_auth"
)

// IsInputRequest reports whether a function call is one of the ADK's requests for input instead of a
// tool.
func IsInputRequest(name string) bool {
	return strings.HasPrefix(name, "adk_request_") || name == remoteInput || name == remoteCredential
}

// InputKind returns what one of the ADK's requests asks for. A request whose arguments have a schema
// asks for data: the answer is validated against the schema, as that of adk_request_input is.
//
// Source: google/adk/workflow/utils/_workflow_hitl_utils.py of google-adk 2.13.
func InputKind(name string, args strictjson.Value) event.InputKind {
	switch name {
	case "adk_request_credential", remoteCredential:
		return event.InputCredential
	case "adk_request_confirmation":
		return event.InputConfirmation
	}
	if args.First("responseSchema", "response_schema").Exists() {
		return event.InputData
	}
	return event.InputClarification
}

// Question returns the question of one of the ADK's requests. hint is the hint of a confirmation if the
// frame has it outside of the call. The question of adk_request_credential is empty: the request has no
// prompt, and its configuration contains secrets.
func Question(name string, args, hint strictjson.Value) event.Question {
	switch name {
	case "adk_request_confirmation":
		if own := args.First("toolConfirmation", "tool_confirmation").Get("hint"); len(own.Text()) > 0 {
			hint = own
		}
		return event.Question{Prompt: hint.String()}
	case "adk_request_input":
		return event.Question{Prompt: args.Get("message").String(), Schema: args.First("responseSchema", "response_schema")}
	case remoteInput, remoteCredential:
		return event.Question{Prompt: args.First("input_required", "auth_required").String()}
	}
	return event.Question{}
}

// TransferTarget returns the name of the target agent from the arguments of a transfer.
func TransferTarget(args strictjson.Value) strictjson.Value {
	return args.First("agent_name", "agentName")
}

// IsUser reports whether an author, or one in a list, is the human user. It accepts every spelling that a lenient
// reader might accept, so that the user is never taken for an agent.
func IsUser(author strictjson.Value) bool {
	for one := range author.Elements() {
		if IsUser(one) {
			return true
		}
	}
	return lenient.MatchesAny(author.Text(), user)
}

var user = []string{"user"}

// IsFailureCode reports whether an ADK error code means a failure. In Python, the code may also be the
// finish reason of an empty or truncated answer, which is not a failure.
func IsFailureCode(code strictjson.Value) bool {
	return code.Exists() && !code.Is("") && !code.Is("STOP") && !code.Is("MAX_TOKENS")
}

// IsModelError reports whether the code or the text of an error is that of a model's API: the name of a gRPC status, an HTTP status, a
// reason why the model did not answer, or the text of an SDK for models. An exception's class, a JSON-RPC code and UNKNOWN_ERROR say
// nothing about where the error happened.
//
// Source: google/genai/types.py, FinishReason and BlockedReason, of google-genai; litellm/exceptions.py of litellm 1.110.
func IsModelError(code strictjson.Value, message []byte) bool {
	name := Code(code)
	_, reason := FinishFailure(name) // "" for a word such as "error", which any step of a workflow could send
	number, _ := strconv.Atoi(name)
	isHTTPStatus := number >= 100 && number <= 599 // a JSON-RPC code is negative
	return reason != "" || name == "OTHER" || name == "JAILBREAK" || IsStatus(name) || isHTTPStatus ||
		APIErrorCode(message) != "" || bytes.HasPrefix(message, []byte("litellm."))
}

// OwnFailure returns the class of a failure of ADK itself, which canceled the run or raised an exception of its own. It returns
// NoFailure for the code of any other error, such as one of a model or a tool.
//
// Sources: google/adk/events/_abort_events.py, agents/invocation_context.py, sessions/state.py, workflow/_errors.py and
// plugins/_tool_call_integrity_plugin.py of google-adk 2.13.
func OwnFailure(code strictjson.Value) event.Failure { return ownFailures[string(code.Text())] }

// ownFailures leaves out NodeTimeoutError, because a model or a tool may have taken the time.
var ownFailures = map[string]event.Failure{
	"INVOCATION_ABORTED":         event.FailureCanceled,
	"LlmCallsLimitExceededError": event.AgentError, // raised instead of asking the model
	"StateSchemaError":           event.AgentError,
	"ToolCallIntegrityError":     event.AgentError,
	"GraphValidationError":       event.AgentError,
	"WorkflowConfigurationError": event.AgentError,
	"WorkflowDataError":          event.AgentError,
	"WorkflowInvariantError":     event.AgentError,
}

// IsClass reports whether an error code is the name of an exception. The letters in names of statuses and finish reasons are all
// upper-case.
func IsClass(code []byte) bool { return !bytes.Equal(code, bytes.ToUpper(code)) }

// IsPending reports whether an agent's response only acknowledges a long-running call. It does if its status is the one of
// Google's samples, in upper or lower case.
func IsPending(response strictjson.Value) bool {
	return bytes.EqualFold(response.Get("status").Text(), []byte(pendingStatus))
}

// pendingStatus is the status of a response that only acknowledges a call.
const pendingStatus = "pending"

// PublicResponse is the rule for a tool's response under the policy public: only whether it is pending leaves.
var PublicResponse = event.Rule{Members: map[string]*event.Rule{
	"status": {AllowedValues: []string{pendingStatus}, Members: map[string]*event.Rule{}},
}}

// CodeTool is the name of the tool that executes code. The stream has no name for it; the Gemini API and the ADK use this
// one.
const CodeTool = "code_execution"

// CodeFailure returns the failure and the error code that the result of executed code reports.
func CodeFailure(result strictjson.Value) (event.Failure, string) {
	switch outcome := result.Get("outcome"); {
	case len(outcome.Text()) == 0, outcome.Is("OUTCOME_OK"), outcome.Is("OUTCOME_UNSPECIFIED"):
		return event.NoFailure, ""
	case outcome.Is("OUTCOME_DEADLINE_EXCEEDED"):
		return event.FailureTimeout, Code(outcome)
	default:
		return event.ToolError, Code(outcome)
	}
}

// retriedError is the type of a response that ADK makes of an error, so that the model tries again.
//
// Source: google/adk/plugins/reflect_retry_tool_plugin.py of google-adk 2.13.
const retriedError = "ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN"

// HasError reports whether a tool's response reports an error. By the ADK's convention, such a response has a
// non-empty member `error`, or is a retriedError. The result of an MCP tool has `isError` (modelcontextprotocol.io, CallToolResult).
func HasError(response strictjson.Value) bool {
	for _, result := range []strictjson.Value{response, response.Get("result")} {
		if failed, _ := result.Get("isError").Bool(); failed {
			return true
		}
	}
	if response.Get("response_type").Is(retriedError) {
		return true
	}
	e := response.Get("error")
	switch e.Kind() {
	case strictjson.String:
		return len(e.Text()) > 0
	case strictjson.Bool:
		on, _ := e.Bool()
		return on
	case strictjson.Number: // a code; 0 means no error
		n, ok := e.Float()
		return n != 0 || !ok
	}
	return e.Len() > 0
}

// GeminiUsage maps Gemini's counts to those of the GenAI conventions. Tokens that tools add to the prompt
// are input, and thoughts are output. The Go SDK omits a count of 0. A missing output then follows from the
// total, if there is one.
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

// ADKPartKinds maps the type of an ADK agent's A2A part, one of ADKTypes, to the kind of event that the part reports. Source: google/adk/a2a/converters/part_converter.py.
var ADKPartKinds = map[string]event.Kind{
	"function_call": event.KindToolStarted, "executable_code": event.KindToolStarted,
	"function_response": event.KindToolEnded, "code_execution_result": event.KindToolEnded,
}
