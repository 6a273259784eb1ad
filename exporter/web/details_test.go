package web

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// detailed returns the page of a run with an operation selected, and the facts of its details as "term: text".
func detailed(t *testing.T, s Settings, op tracker.SpanID) (body string, facts []string) {
	t.Helper()
	_, body = ask(t, s, "GET", "/runs/e-1?op="+hex.EncodeToString(op[:]))
	_, shown, _ := strings.Cut(body, `id="details"`)
	shown, _, _ = strings.Cut(shown, "</tr>")
	for _, m := range regexp.MustCompile(`(?s)<dt>(.*?)</dt><dd>(.*?)</dd>`).FindAllStringSubmatch(shown, -1) {
		facts = append(facts, m[1]+": "+strings.TrimSpace(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[2], "")))
	}
	return body, facts
}

// TestDetails checks what the page shows of a selected operation: everything that is known, and nothing else.
func TestDetails(t *testing.T) {
	r := sampleRun()
	model := &tracker.Operation{
		ID: tracker.SpanID{5}, Parent: tracker.SpanID{3}, Kind: tracker.Chat, Name: "gemini", Agent: "second", Started: moment(5), Ended: moment(7),
		Timing: tracker.TimingObserved, Status: tracker.OperationOK, Details: &tracker.Details{RequestModel: "gemini-latest"},
		Response: &tracker.Response{FinishReason: "STOP", Usage: event.Usage{Input: event.Count{N: 1200, Known: true}, Output: event.Count{N: 0, Known: true}}, FirstChunk: moment(6)},
	}
	stated := &tracker.Operation{
		ID: tracker.SpanID{6}, Parent: tracker.SpanID{3}, Kind: tracker.ExecuteTool, Name: "stated", Agent: "second", CallID: "call-6", Timing: tracker.TimingUnknown,
		Status: tracker.OperationOK, Details: &tracker.Details{ReportedDuration: event.Duration{D: 2 * time.Second, Known: true}}, ResponseInferred: true,
	}
	blank := &tracker.Operation{ID: tracker.SpanID{7}, Parent: tracker.SpanID{3}, Kind: tracker.InvokeNode, Timing: tracker.TimingUnknown, Ended: tracker.Timestamp{Frame: 9}}
	r.Operations = append(r.Operations, model, stated, blank)
	s := settings()
	s.Runs = runsOf(r)
	s.TraceURL = "http://localhost:16686/trace/{trace_id}"
	for name, c := range map[string]struct {
		op   tracker.SpanID
		want []string
	}{
		"a failed tool": {tracker.SpanID{4}, []string{
			"Kind: tool", "Status: error", "error.type: NOT_FOUND", "Failure: tool_error", "Agent: second", "Started: 2026-01-02 12:00:03.000", "Ended: 2026-01-02 12:00:04.000",
			"Took: 1.00 s", "Times: observed: when Delegraph received the frames rule T1", "Span id: 0400000000000000", "Parent span id: 0300000000000000", "Trace: Open the trace",
		}},
		"a model": {model.ID, []string{
			"Kind: model call", "Status: ok", "Agent: second", "Model: gemini", "Requested model: gemini-latest", "Finish reason: STOP", "Input tokens: 1 200", "Output tokens: 0",
			"First chunk after: 1.00 s", "Started: 2026-01-02 12:00:05.000", "Ended: 2026-01-02 12:00:07.000", "Took: 2.00 s",
			"Times: observed: when Delegraph received the frames rule T1", "Span id: 0500000000000000", "Parent span id: 0300000000000000", "Trace: Open the trace",
		}},
		"a stated duration": {stated.ID, []string{
			"Kind: tool", "Status: ok", "Agent: second", "Took: 2.00 s", "Times: unknown; the protocol states only the duration rule T9", "Call id: call-6",
			"Span id: 0600000000000000", "Parent span id: 0300000000000000", "Result: matched to the call by name and order, because the stream has no ids", "Trace: Open the trace",
		}},
		"nothing known": {blank.ID, []string{
			"Kind: step", "Status: unfinished", "Times: unknown: the stream does not show when it started or ended rule T3",
			"Span id: 0700000000000000", "Parent span id: 0300000000000000", "Trace: Open the trace",
		}},
		"a transfer": {tracker.SpanID{2}, []string{
			"Kind: tool", "Status: ok", "Agent: first", "Started: 2026-01-02 12:00:01.000", "Ended: 2026-01-02 12:00:02.000", "Took: 1.00 s",
			"Times: observed: when Delegraph received the frames rule T1", "Transfer: from first to second", "Span id: 0200000000000000", "Parent span id: 0100000000000000", "Trace: Open the trace",
		}},
		"no such operation": {tracker.SpanID{9}, nil},
	} {
		body, facts := detailed(t, s, c.op)
		if !slices.Equal(facts, c.want) {
			t.Errorf("%s has\n%s\nwant\n%s", name, strings.Join(facts, "\n"), strings.Join(c.want, "\n"))
		}
		if opened := strings.Count(body, `aria-expanded="true"`); opened != min(len(c.want), 1) {
			t.Errorf("%s: %d rows are open", name, opened)
		}
	}
	if body, facts := detailed(t, s, tracker.SpanID{3}); !slices.Contains(facts, "Confidence: 83 % about the whole answer") || !strings.Contains(body, `href="?from=0" aria-expanded="true"`) {
		t.Errorf("the agent's details are %q", facts)
	}
}

// TestWaitBelowItsOperation checks that a request for input is drawn below the operation that waits.
func TestWaitBelowItsOperation(t *testing.T) {
	r := sampleRun()
	r.Inputs[0].Operation = tracker.SpanID{3}
	s := settings()
	s.Runs = runsOf(r)
	_, body := ask(t, s, "GET", "/runs/e-1")
	want := []string{"0100000000000000", "0200000000000000", "0300000000000000", "0300000000000000-wait-0", "0400000000000000"}
	var got []string
	for _, m := range regexp.MustCompile(`id="row-([^"]*)"`).FindAllStringSubmatch(body, -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	if !strings.Contains(body, `<i class="stem gap"></i><i class="stem fork"></i><span class="sr">level 3, wait </span>`) {
		t.Error("the wait is not a child of the second agent, before its tool")
	}
}

// TestSelection checks that a malformed query is refused with a reason.
func TestSelection(t *testing.T) {
	s := settings()
	s.Runs = runsOf(sampleRun())
	for query, want := range map[string]int{"": 200, "?op=": 200, "?from=7": 200, "?op=04": 400, "?op=zz00000000000000": 400, "?op=04000000000000000": 400, "?from=-1": 400, "?from=x": 400, "?x=1": 400, "?op=0400000000000000&op=0400000000000000": 400} {
		if answer, body := ask(t, s, "GET", "/runs/e-1"+query); answer.StatusCode != want {
			t.Errorf("%s: %s %s", query, answer.Status, body)
		}
	}
}

// TestFailures checks the sentences that say what failed.
func TestFailures(t *testing.T) {
	r := sampleRun()
	for i := range maxFailures + 2 {
		r.Operations = append(r.Operations, &tracker.Operation{ID: tracker.SpanID{8, byte(i)}, Parent: tracker.SpanID{3}, Kind: tracker.InvokeAgent, Name: "third", Agent: "third", Status: tracker.OperationError, Failure: event.AgentError})
	}
	s := settings()
	s.Runs = runsOf(r)
	_, body := ask(t, s, "GET", "/runs/e-1")
	for _, want := range []string{
		`</i> <a href="?op=0400000000000000">tool <bdi>search</bdi></a> of agent <bdi>second</bdi> failed: <bdi>NOT_FOUND</bdi></li>`,
		`</i> <a href="?op=0800000000000000">agent <bdi>third</bdi></a> failed: <bdi>agent_error</bdi></li>`, `3 more failed operations`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}
