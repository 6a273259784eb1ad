package format

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestPlaceholderResults pauses a call in a frame that has a result of it, which only says that the call waits.
func TestPlaceholderResults(t *testing.T) {
	results := map[Format]string{Normalized: "tool_ended", A2A: "function_response", A2A03: "function_response", AGUI: "TOOL_CALL_RESULT"}
	for as, result := range results {
		out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
		w := newWriter(&Settings{Format: as}, out)
		stream := &replay.Stream{Dialect: "adk"}
		write := func(n uint64, paused string) string {
			b := event.Batch{Run: "r", Agent: "a"}
			b.Add(event.KindToolPaused).CallID = paused
			e := b.Add(event.KindToolEnded)
			e.CallID, e.Name, e.Error = "c", "f", event.ToolError
			out.begin(n)
			w.frame(replay.Frame{Stream: stream}, &b)
			return out.json.String()
		}
		if got := write(1, "c"); strings.Contains(got, result) {
			t.Errorf("%s: a paused call has ended: %s", as, got)
		}
		if got := write(2, "other"); !strings.Contains(got, result) {
			t.Errorf("%s: a call has not ended: %s", as, got)
		}
	}
}
