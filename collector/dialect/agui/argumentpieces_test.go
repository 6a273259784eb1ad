package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestPiecesOfArguments checks which frames say that a call's tool has not run yet.
func TestPiecesOfArguments(t *testing.T) {
	var got []string
	decodeEach(t, []string{
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":""}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"unknown","delta":"}"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"c"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"d","toolCallName":"f","delta":"{"}`, `{"type":"TOOL_CALL_CHUNK","toolCallId":"d","delta":"}"}`,
	}, func(b *event.Batch) { got = append(got, b.ArgumentsOf) })
	if want := " c     d"; strings.Join(got, " ") != want {
		t.Errorf("the frames add to the arguments of %q", got)
	}
}
