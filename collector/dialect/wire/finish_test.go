package wire_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestFinishFailure checks which finish reasons are failures. An unknown one is none.
func TestFinishFailure(t *testing.T) {
	const filtered, canceled = event.ModelError, event.FailureCanceled
	for reason, want := range map[string]struct {
		failure event.Failure
		code    string
	}{
		"stop": {}, "length": {}, "tool_calls": {}, "function_call": {}, "end_turn": {}, "STOP": {}, "MAX_TOKENS": {}, "model_length": {}, "eos": {},
		"repetition": {}, "pause_turn": {}, "model_context_window_exceeded": {}, "other": {}, "OTHER": {}, "unknown": {}, "completed": {}, "": {}, "note: SAFETY": {},

		"content_filter": {filtered, "content_filter"}, "content-filter": {filtered, "content-filter"}, "CONTENT_FILTER": {filtered, "CONTENT_FILTER"},
		"SAFETY": {filtered, "SAFETY"}, "safety": {filtered, "safety"}, "IMAGE_SAFETY": {filtered, "IMAGE_SAFETY"}, "sensitive": {filtered, "sensitive"},
		"refusal": {filtered, "refusal"}, "guardrail_intervened": {filtered, "guardrail_intervened"}, "ERROR_TOXIC": {filtered, "ERROR_TOXIC"},
		"content_filter: RECITATION": {filtered, "RECITATION"}, "function_call_filter: MALFORMED_FUNCTION_CALL": {filtered, "MALFORMED_FUNCTION_CALL"}, "content_filter: some words": {filtered, ""},
		"network_error": {filtered, "network_error"}, "insufficient_system_resource": {filtered, "insufficient_system_resource"},
		"MALFORMED_FUNCTION_CALL": {filtered, "MALFORMED_FUNCTION_CALL"}, "error": {filtered, ""}, "ERROR": {filtered, ""},
		"abort": {canceled, ""}, "aborted": {canceled, ""}, "cancelled": {canceled, ""}, "Canceled": {canceled, ""}, "timeout": {event.FailureTimeout, ""},
	} {
		if failure, code := wire.FinishFailure(reason); failure != want.failure || code != want.code {
			t.Errorf("%q is the failure %q with the code %q, want %q and %q", reason, failure, code, want.failure, want.code)
		}
	}
}

// TestFinishReason checks what is no finish reason.
func TestFinishReason(t *testing.T) {
	for data, want := range map[string]bool{`null`: false, `""`: false, `"null"`: false, `0`: false, `"stop"`: true, `"x"`: true} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(data), 1); err != nil {
			t.Fatal(err)
		}
		if got := wire.FinishReason(doc.Root()).Exists(); got != want {
			t.Errorf("%s is a reason: %t", data, got)
		}
	}
}
