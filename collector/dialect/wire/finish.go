package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// finishFailures maps finish reasons to failures of a model's answer. A reason that is not listed is no failure: the answer is whole, has
// calls or reached a limit, or the meaning of the reason is unknown. The keys are in lower case and have underscores.
//
// Source: openai/types/chat/chat_completion_chunk.py of openai 3.54; litellm/litellm_core_utils/core_helpers.py, _FINISH_REASON_MAP, of
// litellm 1.110; google/genai/types.py, FinishReason, of google-genai; vllm/v1/engine/__init__.py, FINISH_REASON_STRINGS;
// sglang/srt/managers/schedule_batch.py, FINISH_ABORT; tensorrt_llm/executor/result.py, CompletionOutput; the API references of DeepSeek,
// Zhipu (docs.bigmodel.cn), Mistral and OpenRouter.
var finishFailures = map[string]event.Failure{
	// A filter or the model itself refused the answer.
	"content_filter": event.ModelError, "refusal": event.ModelError, // OpenAI, Anthropic
	"content_filtered": event.ModelError, "guardrail_intervened": event.ModelError, // Bedrock
	"sensitive": event.ModelError, "error_toxic": event.ModelError, // Zhipu, Cohere
	"safety": event.ModelError, "recitation": event.ModelError, "language": event.ModelError, "blocklist": event.ModelError, // Gemini
	"prohibited_content": event.ModelError, "spii": event.ModelError, "model_armor": event.ModelError,
	"image_safety": event.ModelError, "image_prohibited_content": event.ModelError, "image_recitation": event.ModelError,

	// The server failed, or the model wrote what the server could not read.
	"error": event.ModelError, "network_error": event.ModelError, "insufficient_system_resource": event.ModelError, // OpenRouter, vLLM, Mistral; Zhipu; DeepSeek
	"malformed_function_call": event.ModelError, "unexpected_tool_call": event.ModelError, "too_many_tool_calls": event.ModelError, // Gemini
	"malformed_response": event.ModelError, "missing_thought_signature": event.ModelError,

	// The server stopped the answer.
	"abort": event.FailureCanceled, "aborted": event.FailureCanceled, // vLLM, SGLang
	"cancelled": event.FailureCanceled, "canceled": event.FailureCanceled, "timeout": event.FailureTimeout, // TensorRT-LLM
}

// FailedReasons returns the finish reasons that are failures, in lower and in upper case. They may leave under the policy public, so that
// its readers do not take the answer for a whole one.
func FailedReasons() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(finishFailures)) {
		all = append(all, name, strings.ToUpper(name))
	}
	return all
}

// NoReasons are what some servers send instead of null until an answer ends: LocalAI, SGLang and Ollama an empty text, KoboldCpp "null".
//
// Source: issue 5102 of mudler/LocalAI, 3912 of sgl-project/sglang, 4357 of ollama/ollama.
var NoReasons = []string{"", "null"}

// FinishReason returns the finish reason in a value, or a value that does not exist if the answer goes on.
func FinishReason(v strictjson.Value) strictjson.Value {
	if v.Kind() != strictjson.String || slices.ContainsFunc(NoReasons, v.Is) {
		return strictjson.Value{}
	}
	return v
}

// FinishFailure returns the failure that a finish reason states, and its code. Servers spell reasons in upper or lower case, and with
// dashes or underscores. Gemini's API for OpenAI's clients puts its own reason behind another ("content_filter: RECITATION").
func FinishFailure(reason string) (event.Failure, string) {
	if filter, own, found := strings.Cut(reason, ": "); found && strings.HasSuffix(filter, "_filter") {
		return event.ModelError, checkCode([]byte(own))
	}
	name := strings.ReplaceAll(strings.ToLower(reason), "-", "_")
	failure := finishFailures[name]
	if failure != event.ModelError || name == "error" {
		return failure, "" // the class says as much
	}
	return failure, checkCode([]byte(reason))
}
