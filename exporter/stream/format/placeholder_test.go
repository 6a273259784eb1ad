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

// TestRepeatedFailures ends a run three times in a failure. Readers learn of it once.
func TestRepeatedFailures(t *testing.T) {
	for as, failure := range map[Format]string{A2A: "TASK_STATE_FAILED", A2A03: `"failed"`, AGUI: "RUN_ERROR"} {
		out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
		w := newWriter(&Settings{Format: as}, out)
		stream := &replay.Stream{Dialect: "adk"}
		written := ""
		for n := range uint64(3) {
			b := event.Batch{Run: "r", Agent: "a"}
			b.Add(event.KindRunEnded).Error = event.AgentError
			out.begin(n + 1)
			w.frame(replay.Frame{Stream: stream}, &b)
			written += out.json.String()
		}
		if n := strings.Count(written, failure); n != 1 {
			t.Errorf("%s: the run failed %d times, want once: %s", as, n, written)
		}
	}
}

// TestRepeatedTexts writes a text, or a piece of one, that the next frame only repeats. Readers get it once.
func TestRepeatedTexts(t *testing.T) {
	for i, as := range []Format{Normalized, A2A, A2A03, AGUI, Normalized, A2A, A2A03, AGUI} {
		out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
		w := newWriter(&Settings{Format: as}, out)
		written := ""
		for n, repeats := range []bool{false, true} {
			b := event.Batch{Run: "r", Agent: "a", Partial: repeats || i > 3, Repeats: repeats, Events: []event.Event{{Kind: event.KindText}}}
			b.Events[0].SetText([]byte("secret"))
			out.begin(uint64(n) + 1)
			w.frame(replay.Frame{Stream: &replay.Stream{Dialect: "looopy"}}, &b)
			written += out.json.String()
		}
		if n := strings.Count(written, "secret"); n != 1 {
			t.Errorf("%s: the text is written %d times, want once: %s", as, n, written)
		}
	}
}

// TestEmptyUsage sends usage without tokens, which only says that more of a response follows. A reader gets no fact.
func TestEmptyUsage(t *testing.T) {
	for used, want := range map[event.Usage]int{{}: 0, {Input: event.Count{N: 1, Known: true}}: 1} {
		w, out := writerOf(Normalized)
		out.begin(1)
		b := &event.Batch{Stream: &event.Stream{}, Run: "r"}
		b.Add(event.KindUsage).Usage = used
		w.frame(replay.Frame{Stream: &replay.Stream{}}, b)
		if got := strings.Count(string(out.appendTo(nil, false)), `"kind":"usage"`); got != want {
			t.Errorf("%d facts of the usage %+v", got, used)
		}
	}
}
