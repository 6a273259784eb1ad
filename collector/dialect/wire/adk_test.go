package wire

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestInputKind checks the kinds of ADK's requests for input. A request with a schema asks for data.
func TestInputKind(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       event.InputKind
	}{
		{"adk_request_credential", `{}`, event.InputCredential},
		{"adk_request_confirmation", `{"response_schema":{}}`, event.InputConfirmation},
		{"adk_request_input", `{"response_schema":{"type":"object"}}`, event.InputData},
		{"adk_request_input", `{"responseSchema":{}}`, event.InputData},
		{"adk_request_input", `{"response_schema":null}`, event.InputClarification},
		{"adk_request_input", `{"message":"Go on?"}`, event.InputClarification},
		{"adk_request_new", `null`, event.InputClarification},
		{"mock_function_call_for_required_user_input", `{"input_required":"When?"}`, event.InputClarification},
		{"mock_function_call_for_required_user_auth", `{"auth_required":"Log in."}`, event.InputCredential},
	} {
		if got := InputKind(c.name, value(t, c.args)); got != c.want {
			t.Errorf("InputKind(%s, %s) = %v, want %v", c.name, c.args, got, c.want)
		}
	}
	for name, want := range map[string]bool{"adk_request_input": true, "adk_request_": true, "adk_requests": false, "transfer_to_agent": false, "mock_function_call_for_required_user_auth": true, "mock_function_call_for_required_user_input": true, "mock_function_call": false} {
		if got := IsInputRequest(name); got != want {
			t.Errorf("IsInputRequest(%s) = %t, want %t", name, got, want)
		}
	}
}

// TestHasError checks the convention for a failed tool's response.
func TestHasError(t *testing.T) {
	for response, want := range map[string]bool{
		`{"error":"x"}`: true, `{"error":true}`: true, `{"error":7}`: true, `{"error":1e999}`: true, `{"error":{"code":1}}`: true, `{"error":["x"]}`: true,
		`{"isError":true,"content":[]}`: true, `{"result":{"isError":true,"content":[]}}`: true, `{"isError":false}`: false, `{"isError":"x"}`: false,
		`{"error":""}`: false, `{"error":false}`: false, `{"error":0}`: false, `{"error":{}}`: false, `{"error":[]}`: false, `{"error":null}`: false,
		`{}`: false, `[]`: false, `null`: false, `"error"`: false, `{"Error":"x"}`: false, `{"result":{"error":"x"}}`: false,
	} {
		if got := HasError(value(t, response)); got != want {
			t.Errorf("HasError(%s) = %t, want %t", response, got, want)
		}
	}
}

// TestIsFailureCode checks that the finish reasons that Python sends as error codes are no failures.
func TestIsFailureCode(t *testing.T) {
	for code, want := range map[string]bool{`"SAFETY"`: true, `7`: true, `""`: false, `"STOP"`: false, `"MAX_TOKENS"`: false} {
		if got := IsFailureCode(value(t, code)); got != want {
			t.Errorf("IsFailureCode(%s) = %t, want %t", code, got, want)
		}
	}
	if IsFailureCode(strictjson.Value{}) {
		t.Error("IsFailureCode() = true for a missing code")
	}
}

// TestIsModelError checks which errors only a model's API sends.
func TestIsModelError(t *testing.T) {
	const apiError = "503 UNAVAILABLE. {'error': {'code': 503}}"
	for code, want := range map[string]bool{
		`"SAFETY"`: true, `"OTHER"`: true, `"JAILBREAK"`: true, `"UNAVAILABLE"`: true, `"429"`: true, `429`: true,
		`"ValueError"`: false, `"UNKNOWN_ERROR"`: false, `"ERROR"`: false, `"timeout"`: false, `"ECONNREFUSED"`: false, `"INVOCATION_ABORTED"`: false,
		`-32603`: false, `"-32603"`: false,
	} {
		if got := IsModelError(value(t, code), []byte("no 429 here")); got != want {
			t.Errorf("IsModelError(%s) = %t, want %t", code, got, want)
		}
	}
	for text, want := range map[string]bool{apiError: true, "litellm.RateLimitError: x": true, "no litellm.RateLimitError": false, "": false} {
		if got := IsModelError(value(t, `"ClientError"`), []byte(text)); got != want {
			t.Errorf("IsModelError of %q = %t, want %t", text, got, want)
		}
	}
}

// TestGeminiUsage checks that a missing count is derived only from the total.
func TestGeminiUsage(t *testing.T) {
	n := func(n int64) event.Count { return event.Count{N: n, Known: true} }
	for counts, want := range map[string]event.Usage{
		`{"promptTokenCount":5,"toolUsePromptTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4,"cachedContentTokenCount":1}`: {
			Input: n(7), Output: n(7), Reasoning: n(4), CacheRead: n(1),
		},
		`{"prompt_token_count":5,"total_token_count":5}`: {Input: n(5), Output: n(0)},
		`{"promptTokenCount":5,"totalTokenCount":4}`:     {Input: n(5)},
		`{"totalTokenCount":4}`:                          {},
	} {
		if got := GeminiUsage(value(t, counts)); got != want {
			t.Errorf("GeminiUsage(%s) = %+v, want %+v", counts, got, want)
		}
	}
}

// TestNameCache checks that the cache is limited and does not keep cut strings.
func TestNameCache(t *testing.T) {
	var names NameCache
	long := strings.Repeat("x", dialect.MaxName-1) + "é"
	if got := names.Truncate([]byte(long), dialect.MaxName); got != long[:dialect.MaxName-1] || names.Len() != 0 {
		t.Errorf("Truncate() of a long name = %q with %d cached strings, want none cached", got, names.Len())
	}
	for i := range 2 * MaxCachedNames {
		if want := "n" + strconv.Itoa(i); names.Truncate([]byte(want), dialect.MaxName) != want {
			t.Fatalf("Truncate(%s) returns another name", want)
		}
	}
	if names.Len() != MaxCachedNames {
		t.Errorf("%d strings are cached, want %d", names.Len(), MaxCachedNames)
	}
	if got := names.Truncate([]byte("n10"), 2); got != "n1" {
		t.Errorf("Truncate() of a cached name = %q, want n1", got)
	}
}
