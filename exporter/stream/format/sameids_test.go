package format

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// received is what a client has at the end: runs with their last status, texts and calls, each by its id.
type received struct{ runs, texts, calls map[string]string }

func newReceived() received {
	return received{map[string]string{}, map[string]string{}, map[string]string{}}
}

// summary returns the values of a map, in order.
func summary(m map[string]string) string {
	return strings.ReplaceAll(strings.Join(slices.Sorted(maps.Values(m)), " "), `"`, "")
}

// take adds an event of AG-UI. Clients keep messages and calls by their ids over all runs of a connection.
func (r received) takeAGUI(t *testing.T, data []byte) {
	var e struct{ Type, RunID, MessageID, ToolCallID, Delta, Content, Message string }
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	switch e.Type {
	case "RUN_STARTED", "RUN_FINISHED":
		r.runs[e.RunID] = e.Type
	case "TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT":
		r.texts[e.MessageID] += e.Delta
	case "TOOL_CALL_ARGS":
		r.calls[e.ToolCallID] += e.Delta
	case "TOOL_CALL_RESULT":
		r.calls[e.ToolCallID] += e.Content
	}
}

// takeA2A adds an update of A2A 0.3. Clients keep artifacts and messages by their task.
func (r received) takeA2A(t *testing.T, data []byte) {
	type part struct {
		Text string
		Data struct {
			ID             string
			Args, Response struct{ Value string }
		}
	}
	var e struct {
		Result struct {
			ID, TaskID, ContextID string
			Artifact              struct {
				ArtifactID string
				Parts      []part
			}
			Status struct {
				State   string
				Message struct{ Parts []part }
			}
		}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	u := &e.Result
	id := cmp.Or(u.TaskID, u.ID)
	r.runs[id] = cmp.Or(u.Status.State, r.runs[id])
	task := u.ContextID + "/" + id
	for _, p := range append(u.Artifact.Parts, u.Status.Message.Parts...) {
		if p.Text != "" {
			r.texts[task+"/"+u.Artifact.ArtifactID] += p.Text
		} else if p.Data.ID != "" {
			r.calls[task+"/"+p.Data.ID] += p.Data.Args.Value + p.Data.Response.Value
		}
	}
}

// TestSameIDs reads two answers whose runs, messages and calls have the same ids. Some servers number the calls of each answer,
// or give every answer the same id.
func TestSameIDs(t *testing.T) {
	type step struct {
		of replay.Frame
		b  *event.Batch // nil: the stream ends
	}
	first := replay.Frame{Source: "s", Stream: &replay.Stream{Dialect: "openai", SingleRun: true}}
	second := replay.Frame{Source: "s", Stream: &replay.Stream{Dialect: "openai", SingleRun: true}}
	other := replay.Frame{Source: "other", Stream: second.Stream}
	tail, otherTail := replay.Frame{Source: "s", Stream: &replay.Stream{}}, replay.Frame{Source: "other", Stream: &replay.Stream{}}
	of := func(f replay.Frame, session string, kind event.Kind, text string) step {
		b := &event.Batch{Run: "r", Session: session, Partial: kind == event.KindText || kind == event.KindThought}
		e := b.Add(kind)
		e.Message, e.CallID, e.Name = "m", "call_0", "look"
		e.SetText([]byte(text))
		var doc strictjson.Doc
		if err := doc.Parse(fmt.Appendf(nil, "%q", text), 1); err != nil {
			t.Fatal(err)
		}
		e.SetPayload(doc.Root())
		return step{f, b}
	}
	text := func(f replay.Frame, s string) step { return of(f, "", event.KindText, s) }
	thought := func(f replay.Frame, s string) step { return of(f, "", event.KindThought, s) }
	call := func(f replay.Frame, session, s string) step { return of(f, session, event.KindToolStarted, s) }
	result := func(f replay.Frame, session, s string) step { return of(f, session, event.KindToolEnded, s) }
	final := func(f replay.Frame, session string) step { return of(f, session, event.KindRunEnded, "") }
	next := func(s step) step { // the same of another run
		s.b.Run = "r2"
		return s
	}
	by := func(branch string, s step) step {
		s.b.Agent, s.b.Branch = branch, branch
		return s
	}
	for _, c := range []struct {
		name         string
		steps        []step
		texts, calls string
		runs         int // their ids
	}{
		{"at once", []step{text(first, "a"), text(second, "x"), text(first, "b"), text(second, "y"), final(first, ""), {of: first}, text(second, "z"), final(second, "")}, "ab xyz", "", 2},
		{"of two sources", []step{text(first, "a"), text(other, "x"), text(first, "b"), text(other, "y")}, "ab xy", "", 2},
		{"of two tails", []step{text(tail, "a"), text(otherTail, "x"), text(tail, "b"), text(otherTail, "y")}, "ab xy", "", 2},
		{"one after the other", []step{text(first, "a"), final(first, ""), {of: first}, text(second, "x"), final(second, "")}, "a x", "", 1},
		{"of one run on two streams", []step{text(first, "a"), text(tail, "b"), text(first, "c"), {of: first}, text(tail, "d"), final(tail, "")}, "abcd", "", 1},
		{"of one run whose listener comes first", []step{text(tail, "a"), text(first, "b"), text(tail, "c"), final(first, "")}, "abc", "", 1},
		{"thoughts", []step{thought(first, "a"), thought(second, "x"), thought(first, "b"), thought(second, "y")}, "ab xy", "", 2},
		{"calls at once", []step{call(first, "", "a"), call(second, "", "x"), result(second, "", "y"), result(first, "", "b")}, "", "ab xy", 2},
		{"calls of a session at once", []step{call(first, "1", "a"), call(second, "1", "x"), result(second, "1", "y"), result(first, "1", "b")}, "", "ab xy", 2},
		{"calls of two sessions", []step{call(first, "1", "a"), result(first, "1", "b"), final(first, "1"), call(second, "2", "x"), result(second, "2", "y")}, "", "ab xy", 1},
		{"texts of two agents", []step{by("1", text(first, "a")), by("2", text(first, "x")), by("1", text(first, "b")), by("2", text(first, "y"))}, "ab xy", "", 1},
		{"calls of two agents at once", []step{by("1", call(first, "", "a")), by("2", call(first, "", "x")), by("1", result(first, "", "b")), by("2", result(first, "", "y"))}, "", "ab xy", 1},
		{"calls of two agents, one after the other", []step{by("1", call(first, "", "a")), by("1", result(first, "", "b")), by("2", call(first, "", "x")), by("2", result(first, "", "y"))}, "", "ab xy", 1},
		{"a result that does not name its agent", []step{by("1", call(first, "", "a")), result(first, "", "b")}, "", "ab", 1},
		{"a result that names neither agent", []step{by("1", call(first, "", "a")), by("2", call(first, "", "x")), result(first, "", "y")}, "", "a xy", 1},
		{"a call of an agent that is announced again", []step{by("1", call(first, "", "a")), by("2", call(first, "", "x")), by("2", call(first, "", "y"))}, "", "a xy", 1},
		{"calls of two runs of a session, one after the other", []step{call(first, "1", "a"), result(first, "1", "b"), final(first, "1"), {of: first}, next(call(second, "1", "x")), next(result(second, "1", "y"))}, "", "ab xy", 2},
		{"a call with the id of an earlier one that a third run answers", []step{call(first, "1", "a"), result(first, "1", "b"), final(first, "1"), {of: first}, next(call(second, "1", "x")), next(final(second, "1")), {of: second}, next(result(tail, "1", "y"))}, "", "ab xy", 2},
		{"a call after the answer to a call of the run before", []step{call(first, "1", "a"), final(first, "1"), {of: first}, result(second, "1", "b"), final(second, "1"), {of: second}, next(call(tail, "1", "x")), next(result(tail, "1", "y"))}, "", "ab xy", 2},
		{"a call without a result that the next run of its session announces again", []step{call(first, "1", "a"), final(first, "1"), {of: first}, call(second, "1", "a"), result(second, "1", "b")}, "", "aab", 1},
		{"a call that the next run of its session answers", []step{call(first, "1", "a"), final(first, "1"), result(second, "1", "b")}, "", "ab", 1},
	} {
		for as, take := range map[Format]func(received, *testing.T, []byte){AGUI: received.takeAGUI, A2A03: received.takeA2A} {
			out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
			w := newWriter(&Settings{Format: as}, out)
			got := newReceived()
			for n, s := range c.steps {
				if out.begin(uint64(n)); s.b == nil {
					w.streamEnded(s.of, &event.Batch{})
				} else {
					w.frame(s.of, s.b)
				}
				start := 0
				for _, end := range out.frameEnds {
					take(got, t, bytes.Clone(out.json.Bytes()[start:end]))
					start = end
				}
			}
			if texts, calls := summary(got.texts), summary(got.calls); texts != c.texts || calls != c.calls || len(got.runs) != c.runs {
				t.Errorf("%s, %s: the texts are %q and the calls %q of the runs %v, want %q, %q and %d", c.name, as, texts, calls, got.runs, c.texts, c.calls, c.runs)
			}
		}
	}
}

// TestFailedCallOfAGUI checks that the result of a call that failed without a result says so.
func TestFailedCallOfAGUI(t *testing.T) {
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	w := newAGUI(&Settings{}, out)
	b := event.Batch{Run: "r"}
	for _, failure := range []event.Failure{event.ToolError, event.NoFailure} {
		e := b.Add(event.KindToolEnded)
		e.CallID, e.Error = "c"+string(failure), failure
	}
	out.begin(1)
	w.frame(replay.Frame{Stream: &replay.Stream{}}, &b)
	if said := out.json.String(); !strings.Contains(said, `"content":"tool_error"`) || strings.Count(said, `"content":""`) != 1 {
		t.Errorf("got %s", said)
	}
}

// TestReusedCallIDs checks that a call whose ID another call of the run had is a call of its own for readers of AG-UI.
func TestReusedCallIDs(t *testing.T) {
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	w, got := newAGUI(&Settings{}, out), newReceived()
	for n, text := range []string{"a", "b", "c"} {
		b := event.Batch{Run: "r"}
		for _, kind := range []event.Kind{event.KindToolStarted, event.KindToolEnded} {
			e := b.Add(kind)
			e.CallID, e.ReusesID = "call_0", n > 0 && kind == event.KindToolStarted
			var doc strictjson.Doc
			if err := doc.Parse(fmt.Appendf(nil, "%q", text), 1); err != nil {
				t.Fatal(err)
			}
			e.SetPayload(doc.Root())
		}
		out.begin(uint64(n))
		w.frame(replay.Frame{Stream: &replay.Stream{}}, &b)
		start := 0
		for _, end := range out.frameEnds {
			got.takeAGUI(t, bytes.Clone(out.json.Bytes()[start:end]))
			start = end
		}
	}
	if calls := summary(got.calls); calls != "aa bb cc" {
		t.Errorf("the calls are %s", calls)
	}
}

// TestCallIDsOfBranches checks that open calls with one ID in different branches are calls of their own for readers of AG-UI.
func TestCallIDsOfBranches(t *testing.T) {
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	w, got := newAGUI(&Settings{}, out), newReceived()
	frames := uint64(0)
	frame := func(run, branch string, kind event.Kind, text string) {
		b := event.Batch{Run: run, Branch: branch}
		e := b.Add(kind)
		e.CallID = "call_0"
		var doc strictjson.Doc
		if err := doc.Parse(fmt.Appendf(nil, "%q", text), 1); err != nil {
			t.Fatal(err)
		}
		e.SetPayload(doc.Root())
		frames++
		out.begin(frames)
		w.frame(replay.Frame{Stream: &replay.Stream{}}, &b)
		start := 0
		for _, end := range out.frameEnds {
			got.takeAGUI(t, bytes.Clone(out.json.Bytes()[start:end]))
			start = end
		}
	}
	for _, run := range []string{"1", "2"} {
		for _, branch := range []string{"a", "b", "c"} {
			frame(run, branch, event.KindToolStarted, branch+run)
		}
		for _, branch := range []string{"c", "a", "b"} {
			frame(run, branch, event.KindToolEnded, branch)
		}
	}
	if calls := summary(got.calls); calls != "a1a a2a b1b b2b c1c c2c" {
		t.Errorf("the calls are %s", calls)
	}
}

// TestRereadFrameEndsNoOpenRun rereads a frame of a second run with the same id. What it says of the first run must not close what the
// reader has open without telling the reader.
func TestRereadFrameEndsNoOpenRun(t *testing.T) {
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	w := newAGUI(&Settings{}, out)
	first, second, third := &replay.Stream{SingleRun: true}, &replay.Stream{SingleRun: true}, &replay.Stream{SingleRun: true}
	var stream []byte
	write := func(n uint64, s *replay.Stream, run string, kinds ...event.Kind) {
		b := event.Batch{Run: run, Partial: true}
		for _, k := range kinds {
			e := b.Add(k)
			e.SetText([]byte("hello"))
		}
		out.begin(n)
		w.frame(replay.Frame{Stream: s}, &b)
		stream = out.appendTo(stream, false)
	}
	write(1, first, "r", event.KindRunStarted, event.KindText, event.KindRunEnded)
	w.setRereading(true)
	write(2, second, "r", event.KindRunStarted)
	w.setRereading(false)
	write(3, third, "other", event.KindRunStarted)
	var order verifier
	all := read(t, stream)
	for _, data := range all {
		order.take(t, data)
	}
	if len(all) < 6 {
		t.Errorf("%d events, want those of two runs", len(all))
	}
}
