package wire

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestRequestInput tells the ADK's questions apart: one with a schema asks for data, over whichever protocol it comes.
func TestRequestInput(t *testing.T) {
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
	} {
		if got := RequestInput(c.name, value(t, c.args)); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.name, c.args, got, c.want)
		}
	}
	for name, want := range map[string]bool{"adk_request_input": true, "adk_request_": true, "adk_requests": false, "transfer_to_agent": false} {
		if got := IsRequest(name); got != want {
			t.Errorf("%s is a request: %t", name, got)
		}
	}
}

// TestSaysError reads the convention by which a tool's response says that it failed.
func TestSaysError(t *testing.T) {
	for response, want := range map[string]bool{
		`{"error":"x"}`: true, `{"error":true}`: true, `{"error":7}`: true, `{"error":1e999}`: true, `{"error":{"code":1}}`: true, `{"error":["x"]}`: true,
		`{"error":""}`: false, `{"error":false}`: false, `{"error":0}`: false, `{"error":{}}`: false, `{"error":[]}`: false, `{"error":null}`: false,
		`{}`: false, `[]`: false, `null`: false, `"error"`: false, `{"Error":"x"}`: false, `{"result":{"error":"x"}}`: false,
	} {
		if got := SaysError(value(t, response)); got != want {
			t.Errorf("%s: %t", response, got)
		}
	}
}

// TestIsFailure leaves out the finish reasons that Python sends as error codes.
func TestIsFailure(t *testing.T) {
	for code, want := range map[string]bool{`"SAFETY"`: true, `7`: true, `""`: false, `"STOP"`: false, `"MAX_TOKENS"`: false} {
		if got := IsFailure(value(t, code)); got != want {
			t.Errorf("%s: %t", code, got)
		}
	}
	if IsFailure(strictjson.Value{}) {
		t.Error("an absent code is a failure")
	}
}

// TestGeminiUsage derives only what the total says.
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
			t.Errorf("%s: %+v, want %+v", counts, got, want)
		}
	}
}

// TestNames holds no more strings than are allowed, and none that was cut.
func TestNames(t *testing.T) {
	var names Names
	long := strings.Repeat("x", dialect.MaxName-1) + "é"
	if got := names.Cut([]byte(long), dialect.MaxName); got != long[:dialect.MaxName-1] || names.Len() != 0 {
		t.Errorf("%q, %d held", got, names.Len())
	}
	for i := range 2 * MaxNames {
		if want := "n" + strconv.Itoa(i); names.Cut([]byte(want), dialect.MaxName) != want {
			t.Fatalf("lost %s", want)
		}
	}
	if names.Len() != MaxNames {
		t.Errorf("%d names", names.Len())
	}
	if got := names.Cut([]byte("n10"), 2); got != "n1" {
		t.Errorf("a held name is cut to %q", got)
	}
}
