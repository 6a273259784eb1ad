package langgraph

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

const (
	threadID = "0b0b1111-1111-1111-1111-11111111111A"
	joinedID = "22222222-2222-2222-2222-222222222222"
	begin    = `{"run_id":"` + joinedID + `","attempt":1}`
	nextRun  = `{"run_id":"33333333-2222-2222-2222-222222222222","attempt":1}`
	userAsks = `{"type":"human","id":"h","content":"question"}`
)

// inThread is the identity of a request for a thread, in a spelling.
func inThread(thread, joined string) event.Identity {
	return event.Identity{Session: thread, JoinedRun: joined, ReplayedRun: joined}
}

// returning is LangGraph with a client that leaves after some frames and comes back. It then gets the last frames again.
type returning struct {
	Dialect
	after, again int
}

// New returns a decoder that changes to another one in the middle.
func (l returning) New(*event.Stream) dialect.Decoder {
	s := &event.Stream{States: new(event.States), Identity: event.Identity{Session: threadID, NewRun: true}}
	return &returningDecoder{returning: l, stream: s, decoder: l.Dialect.New(s).(*decoder)}
}

type returningDecoder struct {
	returning
	stream *event.Stream
	*decoder
	sent []sse.Frame
}

func (l *returningDecoder) Decode(f dialect.Frame, b *event.Batch) {
	isFirst := len(l.sent) == l.after
	if isFirst {
		l.decoder.Close()
		l.stream.JoinedRun = l.run
		l.decoder = l.Dialect.New(l.stream).(*decoder)
		for _, again := range l.sent[max(len(l.sent)-l.again, 0):] {
			repeated := new(event.Batch)
			repeated.Begin(l.stream, again, time.Time{})
			repeated.Parse(200)
			l.decoder.Decode(dialect.Frame{Frame: repeated.Frame, JSON: repeated.JSON}, repeated)
			isFirst = false
		}
	}
	f.ID = []byte(strconv.Itoa(len(l.sent)))
	l.sent = append(l.sent, sse.Frame{ID: f.ID, Event: slices.Clone(f.Event), Data: slices.Clone(f.Data)})
	l.decoder.Decode(f, b)
	if isFirst { // each stream begins with these
		if b.Events = b.Events[2:]; len(b.Events) == 0 {
			b.Add(event.KindOther)
		}
	}
}

// TestResume has the client of each recording leave after any frame.
func TestResume(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.sse")
	for _, file := range files {
		recording, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stream := string(recording)
		want := dialecttest.Facts(Dialect{}, &event.Stream{Identity: event.Identity{Session: threadID}}, stream)
		n := strings.Count(stream, "\nevent:") + 1
		for after := 1; after < n; after += 1 + n/40 {
			for _, again := range []int{0, 3} {
				got := dialecttest.Facts(returning{after: after, again: again}, &event.Stream{}, stream)
				got = strings.ReplaceAll(got, " settled uncertain ", " settled ") // of results in states
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, after frame %d with %d again: -want +got\n%s", file, after, again, diff)
				}
			}
		}
	}
}

// end decodes a stream to its end.
func end(s *event.Stream, frames ...string) {
	d := (Dialect{}).New(s).(*decoder)
	for _, f := range frames {
		name, data, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(f, "\n\n"), "event: "), "\ndata: ")
		b := new(event.Batch)
		b.Begin(s, sse.Frame{Event: []byte(name), Data: []byte(data)}, time.Time{})
		b.Parse(200)
		d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
	}
	d.Close()
}

// TestEarlierRuns has a run repeat the response of the run before, as after an approval. Its call gets its result.
func TestEarlierRuns(t *testing.T) {
	const (
		asks   = `{"hook":{"messages":[{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}}]}]}}`
		result = `{"tools":{"messages":[{"type":"tool","tool_call_id":"c1","name":"f","content":""}]}}`
	)
	for _, c := range []struct {
		name, source, thread, run string
		counts                    bool
	}{
		{"another run", "a", strings.ToLower(threadID), nextRun, false},
		{"the same run from its start", "a", threadID, begin, true},
		{"another thread", "a", "another", nextRun, true},
		{"another source", "b", threadID, nextRun, true},
		{"no thread", "a", "", nextRun, true},
	} {
		s := &event.Stream{States: new(event.States), Source: "a", Identity: inThread(threadID, "")}
		end(s, frame("metadata", begin), frame("updates", asks))
		end(s) // a stream without frames changes nothing
		s.Source, s.Session = c.source, c.thread
		got := strings.Join(facts(s, frame("metadata", c.run), frame("updates", asks), frame("updates", result)), "\n")
		if strings.Contains(got, "model_ended") != c.counts || !strings.Contains(got, `tool_ended name="f" call="c1"`) {
			t.Errorf("%s: facts are\n%s", c.name, got)
		}
	}
}

// TestResumedHook resumes a run with the hook after its model, on a stream that knows nothing of the run that waited. What another
// hook returns after the model has answered counts.
func TestResumedHook(t *testing.T) {
	const (
		asks    = `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}},{"name":"g","id":"c2","args":{}}]}`
		rejects = `{"type":"tool","id":"t2","tool_call_id":"c2","name":"g","content":"no","status":"error"}`
		answers = `{"type":"ai","id":"lc_run--2","content":"Hi"}`
		mends   = `{"type":"ai","id":"lc_run--3","content":"Hello"}`
	)
	update := func(node, messages string) string {
		return frame("updates", `{"`+node+`":{"messages":[`+messages+`]}}`)
	}
	got := facts(nil, update("HumanInTheLoopMiddleware.after_model", asks+","+rejects), update("tools", `{"type":"tool","id":"t1","tool_call_id":"c1","name":"f","content":""}`), update("model", answers), update("Mender.after_model", mends))
	want := []string{
		"2 updates", `tool_ended name="g" call="c2" tool_error settled "no"`, "3 updates", `tool_ended name="f" call="c1" settled ""`,
		"4 updates", `text "Hi"`, "model_ended", "final", "5 updates", `text "Hello"`, "model_ended", "final",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestEarlierResults has a run resume after a question. Its state begins with the result of a call beside the question, which ended
// in the run before.
func TestEarlierResults(t *testing.T) {
	const (
		asks   = `{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}},{"name":"g","id":"c2","args":{}}]}`
		f, g   = `{"type":"tool","id":"m1","tool_call_id":"c1","name":"f","content":""}`, `{"type":"tool","id":"m2","tool_call_id":"c2","name":"g","content":""}`
		states = `{"config":{"configurable":{"checkpoint_id":"ID"}},"values":{"messages":[MESSAGES]},"next":["tools"],"tasks":[TASKS]}`
	)
	values := func(messages string) string { return frame("values", `{"messages":[`+messages+`]}`) }
	checkpoint := func(id, messages, tasks string) string {
		return frame("checkpoints", strings.NewReplacer("ID", id, "MESSAGES", messages, "TASKS", tasks).Replace(states))
	}
	task := func(result string) string { return `{"id":"1","name":"tools","result":{"messages":[` + result + `]}}` }
	for _, c := range []struct {
		name          string
		first, second []string
		counts        bool
	}{
		{"the result that the first run has shown", []string{values(asks + "," + f)}, []string{values(asks), values(asks + "," + f + "," + g)}, false},
		{"another result of the call", []string{values(asks + "," + f)}, []string{values(asks), values(asks + "," + strings.Replace(f, "m1", "m3", 1) + "," + g)}, true},
		{"a result without an ID", []string{frame("updates", `{"tools":{"messages":[`+strings.Replace(f, `"id":"m1",`, "", 1)+`]}}`)}, []string{values(asks), values(asks + "," + f + "," + g)}, true},
		{"the loaded checkpoint", nil, []string{checkpoint("1", asks, task(f)), checkpoint("2", asks+","+f+","+g, "")}, false},
		{"a later checkpoint", nil, []string{checkpoint("1", asks, ""), checkpoint("2", asks+","+f+","+g, task(f))}, true},
	} {
		s := &event.Stream{States: new(event.States), Identity: inThread(threadID, "")}
		end(s, append([]string{frame("metadata", begin), values("")}, c.first...)...)
		got := strings.Join(facts(s, append([]string{frame("metadata", nextRun)}, c.second...)...), "\n")
		if strings.Contains(got, `tool_ended name="f"`) != c.counts || !strings.Contains(got, `tool_ended name="g"`) {
			t.Errorf("%s: facts are\n%s", c.name, got)
		}
	}
}

// TestResumeBounds keeps no more of a run and its messages than fits.
func TestResumeBounds(t *testing.T) {
	s := &event.Stream{States: new(event.States), Identity: inThread(threadID, "")}
	keptRuns := func() (runs, size int) {
		s.States.Update(newResumption(s).thread, func(kept event.KeptState) event.KeptState {
			k := kept.(*knowledge)
			runs, size = len(k.runs), k.Size()
			return nil
		})
		return runs, size
	}
	frames := []string{frame("metadata", begin)}
	end(s, frames...)
	if runs, _ := keptRuns(); runs != 1 {
		t.Errorf("%d runs are kept, want 1", runs)
	}
	for i := range maxScopes {
		frames = append(frames, frame("updates|"+strings.Repeat("a", maxStateSize/maxScopes)+strconv.Itoa(i), `{}`))
	}
	end(s, frames...)
	if runs, size := keptRuns(); runs > 0 || size > maxStateSize {
		t.Errorf("%d bytes of %d runs are kept", size, runs)
	}
	var r reportedMessages
	for i := range 2*maxReported + 1 {
		r.add(strconv.Itoa(i), "r")
	}
	if r.merge(reportedMessages{1: 1}); len(r) > maxReported || r[1] != 1 {
		t.Errorf("%d messages are kept", len(r))
	}
}
