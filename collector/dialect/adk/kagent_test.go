package adk_test

import (
	"strconv"
	"testing"
)

// TestInternalKagent checks that an event leaves neither with an internal answer of a remote agent of kagent nor in its other forms.
func TestInternalKagent(t *testing.T) {
	answer := func(kind string) string {
		return `{"status":{"state":"working","message":{"role":"agent","messageId":"m","parts":[{"kind":"text","text":"hi"}]}},"metadata":{"kagent_author":"b","kagent_custom_metadata":"{'kind': '` + kind + `'}"}}`
	}
	text := content(`{"text":"hi"}`)
	for _, kind := range []string{"internal:audit", "audit"} {
		leaves := kind == "audit"
		checkLast(t, kind, leaves, by("a", `"customMetadata":{"a2a:response":`+answer(kind)+`},`+text))
		checkLast(t, kind+" in a string", leaves, by("a", `"customMetadata":{"a2a:response":`+strconv.Quote(answer(kind))+`},`+text))
	}
}
