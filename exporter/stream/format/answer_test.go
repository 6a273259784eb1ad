package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// boundary returns what an output says about the beginning or the end of a run, in short, or "".
func boundary(t *testing.T, data []byte) string {
	t.Helper()
	var e struct {
		Kind, Type, Run, RunID string
		Outcome                struct{ PendingToolCallIDs []string }
		Result                 struct {
			ID, TaskID string
			Final      bool
			Status     json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	var status struct{ State string }
	_ = json.Unmarshal(e.Result.Status, &status) // of AG-UI, it is a text
	switch {
	case strings.HasPrefix(e.Kind, "run_"):
		return e.Kind + " " + e.Run
	case e.Type == "RUN_STARTED":
		return "started " + e.RunID
	case e.Type == "RUN_FINISHED":
		return "finished " + e.RunID + " " + strings.Trim(string(e.Result.Status), `"`)
	case e.Type == "RUN_ERROR":
		return "error"
	case e.Result.ID != "":
		return status.State + " " + e.Result.ID
	case e.Result.Final:
		return "final " + status.State + " " + e.Result.TaskID
	}
	return ""
}

// TestEndOfAnswers reads answers in which the protocol states the end of the run more than once. The run ends with the answer, as in spans.
func TestEndOfAnswers(t *testing.T) {
	answer := replay.Frame{Source: "s", Stream: &replay.Stream{SingleRun: true}}
	other := replay.Frame{Source: "s", Stream: &replay.Stream{SingleRun: true}}
	listener := replay.Frame{Source: "s", Stream: &replay.Stream{}}
	type step struct {
		of  replay.Frame
		b   *event.Batch // nil: the stream ends
		end event.End
	}
	of := func(f replay.Frame, run string, kinds ...event.Kind) step {
		b := &event.Batch{Run: run}
		for _, kind := range kinds {
			e := b.Add(kind)
			if e.CallID = "c"; kind == event.KindError {
				e.Error = event.AgentError
			}
		}
		return step{of: f, b: b}
	}
	const starts, ends, begins, calls, pauses = event.KindRunStarted, event.KindRunEnded, event.KindModelStarted, event.KindToolStarted, event.KindToolPaused
	for _, c := range []struct {
		name                   string
		steps                  []step
		normalized, agui, task string
	}{
		{"an answer of three responses", []step{of(answer, "r", starts, begins, calls, pauses, ends), of(answer, "r", begins, ends), of(answer, "r", starts, begins, ends), {of: answer}},
			"run_started r, run_started r, run_ended r", "started r, finished r completed", "submitted r, final completed r"},
		{"two runs", []step{of(answer, "r", starts, ends), of(answer, "q", starts, ends), {of: answer}},
			"run_started r, run_ended r, run_started q, run_ended q", "started r, finished r completed, started q, finished q completed", "submitted r, final completed r, submitted q, final completed q"},
		{"a failure after the end", []step{of(answer, "r", starts, ends), of(answer, "r", event.KindError), {of: answer}},
			"run_started r, run_ended r", "started r, error", "submitted r, final failed r"},
		{"a client that leaves at the end", []step{of(answer, "r", starts, ends), {of: answer, end: event.EndClientLeft}},
			"run_started r, run_ended r", "started r, finished r completed", "submitted r, final completed r"},
		{"a client that leaves later", []step{of(answer, "r", starts, ends), of(answer, "r", begins), {of: answer, end: event.EndClientLeft}},
			"run_started r, run_ended r", "started r, finished r canceled", "submitted r, final canceled r"},
		{"a connection that breaks", []step{of(answer, "r", starts, ends), {of: answer, end: event.EndBroken}},
			"run_started r, run_ended r", "started r, finished r completed", "submitted r, final completed r"},
		{"the same ID again", []step{of(answer, "r", starts, ends), of(other, "r", starts, ends), {of: answer}, {of: other}},
			"run_started r, run_started r, run_ended r, run_ended r", "started r, finished r completed, started r, finished r completed", "submitted r, final completed r, submitted r, final completed r"},
		{"a listener", []step{of(listener, "r", starts, ends), of(listener, "r", starts, ends)},
			"run_started r, run_ended r, run_started r, run_ended r", "started r, finished r completed, started r, finished r completed", "submitted r, final completed r, submitted r, final completed r"},
	} {
		for as, want := range map[Format]string{Normalized: c.normalized, AGUI: c.agui, A2A03: c.task} {
			out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
			w := newWriter(&Settings{Format: as}, out)
			var got []string
			for n, s := range c.steps {
				if out.begin(uint64(n)); s.b == nil {
					s.of.End = s.end
					w.streamEnded(s.of, &event.Batch{})
				} else {
					w.frame(s.of, s.b)
				}
				start := 0
				for _, end := range out.frameEnds {
					if strings.Contains(string(out.json.Bytes()[start:end]), "pending") {
						t.Errorf("%s, %s: a call waits although the run continued: %s", c.name, as, out.json.Bytes()[start:end])
					}
					if said := boundary(t, out.json.Bytes()[start:end]); said != "" {
						got = append(got, said)
					}
					start = end
				}
			}
			if all := strings.Join(got, ", "); all != want {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", c.name, as, all, want)
			}
		}
	}
}

// TestEndsAreBounded states the ends of more answers than are kept.
func TestEndsAreBounded(t *testing.T) {
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	n, written := newNormalized(&Settings{}, out), 0
	for i := range 2 * maxStreams {
		b := &event.Batch{}
		b.Add(event.KindRunEnded)
		out.begin(uint64(i))
		n.frame(replay.Frame{Stream: &replay.Stream{SingleRun: true}}, b)
		written += len(out.frameEnds)
	}
	if n.heldEnds.Len() != maxStreams || written != maxStreams {
		t.Errorf("%d ends are kept and %d written", n.heldEnds.Len(), written)
	}
}

// TestClassesOfFailures checks that a failed run has the class that its span has.
func TestClassesOfFailures(t *testing.T) {
	for failure, want := range map[event.Failure]event.Failure{
		event.ModelError: event.AgentError, event.ToolError: event.AgentError, event.NoFailure: event.AgentError, event.FailureTimeout: event.FailureTimeout,
	} {
		out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
		b := &event.Batch{Run: "r"}
		b.Add(event.KindError).Error = failure
		w := newAGUI(&Settings{}, out)
		f := replay.Frame{Stream: &replay.Stream{}}
		w.frame(f, b)
		w.streamEnded(f, b)
		if got := out.json.String(); !strings.Contains(got, fmt.Sprintf(`"code":%q`, want)) {
			t.Errorf("a run that failed with %q ends as %s, want %s", failure, got, want)
		}
	}
}

// TestTurns checks that each event of a frame is of the speaker of its turn.
func TestTurns(t *testing.T) {
	var b event.Batch
	for _, agent := range []string{"a", "b"} {
		b.BeginTurn(event.Speaker{Agent: agent})
		b.Add(event.KindText).SetText([]byte(agent))
	}
	b.EndTurns()
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	out.begin(1)
	writeFrame(newNormalized(&Settings{}, out), replay.Frame{Stream: &replay.Stream{}}, &b)
	var got []string
	for _, data := range read(t, out.appendTo(nil, false)) {
		var e struct{ ID, Agent, Text string }
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Agent+" "+e.Text)
	}
	if want := "a a, b b"; strings.Join(got, ", ") != want {
		t.Errorf("the events are %q, want %s", got, want)
	}
}
