package langgraph

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// reading is a client that reads streams of a thread, one after the other.
type reading struct {
	reader filter.Settings
	states *event.States
	memory *event.Withheld
	d      dialect.Decoder
	stream *event.Stream
	filter *filter.Filter
	batch  *event.Batch // of the last frame
}

func newReading(reader filter.Settings) *reading {
	return &reading{reader: reader, states: new(event.States), memory: new(event.Withheld)}
}

// open begins a stream that joins a run, or ""; it does not end the stream before.
func (r *reading) open(joined string) {
	r.stream = &event.Stream{Identity: inThread(threadID, joined), States: r.states, Withheld: r.memory}
	r.d, r.filter = (Dialect{}).New(r.stream), filter.New(r.reader)
}

// read reads frames whose IDs begin with a number, and returns what leaves.
func (r *reading) read(first int, frames ...sent) string {
	var out strings.Builder
	for i, one := range frames {
		out.WriteString(r.readID(strconv.Itoa(first+i), one))
	}
	return out.String()
}

// readID reads a frame with an ID, and returns what leaves.
func (r *reading) readID(id string, one sent) string {
	b := new(event.Batch)
	r.batch = b
	b.Begin(r.stream, sse.Frame{ID: []byte(id), Event: []byte(one.name), Data: []byte(one.data)}, time.Time{})
	b.Parse(200)
	b.Table = (Dialect{}).Table()
	r.d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
	if frame, why := r.filter.Apply(b); why == filter.Passed {
		return fmt.Sprintf("%s %s\n", frame.Name, frame.Data)
	}
	return ""
}

func (r *reading) close() { r.d.(*decoder).Close() }

// TestJoinedStreams has a client leave a run and join it again, after each frame, and get up to two frames again. What stays in on one
// stream stays in there too.
func TestJoinedStreams(t *testing.T) {
	inner := func(task string) sent {
		return sent{"messages", `[{"type":"AIMessageChunk","id":"i` + task + `","content":"x"},{"langgraph_node":"internal_x","langgraph_checkpoint_ns":"n:` + task + `|internal_x:3"}]`}
	}
	sibling := sent{"messages", `[{"type":"AIMessageChunk","id":"s1","content":"x"},{"langgraph_node":"a","langgraph_checkpoint_ns":"n:1|a:4"}]`}
	const result, beside = `{"type":"tool","id":"r1","tool_call_id":"cX","content":""}`, `{"type":"ai","id":"p1","content":"secret"}`
	inTools := func(m string) sent {
		return sent{"messages", `[` + m + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:t1"}]`}
	}
	state := func(more string) sent { return sent{"values", `{"messages":[` + userAsks + more + `]}`} }
	for name, stream := range map[string][]sent{
		"parallel tasks":         {inner("2"), sibling, {"updates", `{"n":{"done":1}}`}, {"updates", `{"n":{"messages":[{"type":"ai","id":"n1","content":"secret"}]}}`}},
		"pieces of a tool":       {callPiece(modeMessages, 1, "internal_search", "c1", ""), callPiece(modeMessages, 1, "", "", "secret"), callPiece(modeMessages, 1, "", "", "secret")},
		"pieces of a subagent":   {argumentPiece("m1", 0, "c1", "task", `{"subagent_type":"in`), argumentPiece("m1", 0, "", "", `ternal_x"}`), resultOf("c1", "task", "secret")},
		"a pushed message":       {asked, inTools(result), inTools(beside)},
		"beside a result":        {state(""), asked, state("," + result + "," + beside)},
		"without a model":        {state(""), inNode, state("," + beside)},
		"own":                    {{"custom", `{"type":"internal","m":` + wholeX + `}`}, state(`,` + wholeX)},
		"an unreadable frame":    {state(""), {"updates|x:1", `{"internal_x":{"messages":[` + wholeX}, state("," + wholeX), state("," + wholeX)},
		"the end of a subagent":  {inner("2"), {"updates", `{"n":{"notes":"secret"}}`}, state("")},
		"a question of a worker": {inner("2"), asks, state("")},
	} {
		for _, reader := range []filter.Settings{client, public} {
			for at := range stream {
				for again := range min(at+1, 2) + 1 {
					r := newReading(reader)
					r.open("")
					out := r.read(0, append([]sent{{"metadata", begin}}, stream[:at+1]...)...)
					r.close()
					r.open(joinedID)
					if out += r.read(at+2-again, stream[at+1-again:]...); strings.Contains(out, "secret") {
						t.Errorf("%s, %s, after frame %d with %d again, this leaves:\n%s", name, reader.Policy, at, again, out)
					}
				}
			}
		}
	}
}

// TestRepeatedFrames has a client get frames again: with the same parts as before, although the run has gone on.
func TestRepeatedFrames(t *testing.T) {
	shown := `{"type":"ai","id":"m8","content":"shown"}`
	stream := []sent{
		{"metadata", begin}, {"values", `{"messages":[` + userAsks + `,` + shown + `]}`}, fromServer(pieceX, "internal_x"),
		{"values", `{"messages":[` + userAsks + `,` + shown + `,` + wholeX + `],"n":1}`}, {"updates", `{"a":{"x":"shown"},"internal_x":{}}`}, {"custom", `"shown"`},
	}
	for _, reader := range []filter.Settings{client, public} {
		for again := range len(stream) {
			r := newReading(reader)
			r.open("")
			var want string
			for i, one := range stream {
				if out := r.read(i, one); i >= len(stream)-again {
					want += out
				}
			}
			r.close()
			r.open(joinedID)
			if got := r.read(len(stream)-again, stream[len(stream)-again:]...); got != want {
				t.Errorf("%s, %d again: this leaves:\n%s\nand not:\n%s", reader.Policy, again, got, want)
			}
		}
	}
}

// TestOpenWorkElsewhere joins a run in which internal work has not ended, without the state of the stream that has shown it: that stream has
// not ended, or the state is too large.
func TestOpenWorkElsewhere(t *testing.T) {
	var history strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&history, `{"type":"human","id":"%d","content":""},`, i)
	}
	inner := sent{"messages", `[{"type":"AIMessageChunk","id":"i1","content":"x"},{"langgraph_node":"internal_x","langgraph_checkpoint_ns":"n:2|internal_x:3"}]`}
	returned := sent{"updates", `{"n":{"messages":[{"type":"ai","id":"n1","content":"secret"}]}}`}
	const next = `{"messages":[` + userAsks + `]}`
	for _, c := range []struct {
		name   string
		first  []sent
		closes bool
		then   []sent
		leaves bool
	}{
		{"an open stream", []sent{inner}, false, []sent{returned}, false},
		{"an open stream, data", []sent{inner}, false, []sent{writes}, false},
		{"an open stream, the next step", []sent{inner}, false, []sent{{"values", next}, returned}, true},
		{"an open stream without work", []sent{inner, {"values", next}}, false, []sent{returned}, true},
		{"a long history", []sent{{"values", `{"messages":[` + history.String() + userAsks + `]}`}, inner}, true, []sent{returned}, false},
		{"a longer history", []sent{{"values", `{"messages":[` + history.String() + strings.ReplaceAll(history.String(), `"id":"`, `"id":"h`) + userAsks + `]}`}, inner}, true, []sent{returned}, false},
	} {
		r := newReading(client)
		r.open("")
		r.read(0, append([]sent{{"metadata", begin}}, c.first...)...)
		if c.closes {
			r.close()
		}
		r.open(joinedID)
		if out := r.read(10, c.then...); strings.Contains(out, "secret") != c.leaves {
			t.Errorf("%s: this leaves: %s", c.name, out)
		}
	}
}

// TestUnreadableHistory has the next run of a thread begin with what an unreadable frame may have had. Messages that were shown leave, and
// so do those of the next run.
func TestUnreadableHistory(t *testing.T) {
	shown := `{"type":"ai","id":"m8","content":"shown"}`
	broken := sent{"updates|x:1", `{"internal_x":{"messages":[` + wholeX}
	state := func(more string) sent { return sent{"values", `{"messages":[` + userAsks + `,` + shown + more + `]}`} }
	for _, repeats := range []bool{true, false} {
		r := newReading(client)
		r.open("")
		r.read(0, sent{"metadata", begin}, state(""), broken)
		if repeats {
			r.read(3, state(","+wholeX))
		}
		r.close()
		for run := range 2 {
			r.open("")
			out := r.read(10*run, sent{"metadata", nextRun}, state(","+wholeX), state(","+wholeX+`,{"type":"ai","id":"m9","content":"new"}`))
			if strings.Contains(out, "secret") || !strings.Contains(out, "shown") || !strings.Contains(out, "new") {
				t.Errorf("repeats %v, run %d: this leaves:\n%s", repeats, run, out)
			}
			r.close()
		}
	}
}

// TestCallsOfOpenStreams reads frames of a run on two streams in turn. The second one learns of each call that the first one withholds.
func TestCallsOfOpenStreams(t *testing.T) {
	first, second := newReading(client), newReading(client)
	second.states, second.memory = first.states, first.memory
	first.open("")
	first.read(0, sent{"metadata", begin})
	second.open(joinedID)
	second.read(0, sent{"metadata", begin}, sent{"updates|tools:U7", `{"model":{}}`})
	first.read(1, bothAsked[0])
	if out := second.read(2, workOf("U8")[0]); strings.Contains(out, "secret") {
		t.Errorf("on the second stream, this leaves:\n%s", out)
	}
}

// TestOpenStreams joins a run while another stream of it is open, which has shown that internal work or a withheld call is open.
func TestOpenStreams(t *testing.T) {
	before, inner := sent{"values", messagesState(askedBefore)}, at("", "internal_x:U", "")
	after := messagesState(askedBefore, `{"type":"ai","id":"m1","content":"secret"}`)
	own := sent{"values", messagesState(askedBefore, ai(`"lc_run--5"`, "shown"), `{"type":"ai","id":"m1","content":"secret"}`)}
	for _, c := range []struct {
		name        string
		first, then []sent
	}{
		{"pieces of a tool", []sent{callPiece(modeMessages, 1, "internal_search", "c1", "")}, []sent{callPiece(modeMessages, 1, "", "", "secret")}},
		{"pieces of a subagent", []sent{argumentPiece("m1", 0, "c1", "task", `{"subagent_type":"internal_x","q":"`)}, []sent{argumentPiece("m1", 0, "", "", `secret"}`)}},
		{"pieces of a subagent that is not named yet", []sent{argumentPiece("m1", 0, "c1", "task", `{"subagent_type":"in`)}, []sent{argumentPiece("m1", 0, "", "", `ternal_x","q":"secret"}`)}},
		{"the next state", []sent{before, inner}, []sent{{"values", after}, {"values", after}}},
		{"the next state, beside a model's answer", []sent{before, inner}, []sent{own, own}},
		{"the next checkpoint", []sent{saved("", `"internal_x"`, before.data)}, []sent{saved("", `"a"`, after)}},
		{"a message without an ID", []sent{before, inner}, []sent{{"values", `{"messages":[["ai","secret"]]}`}}},
	} {
		for _, reader := range []filter.Settings{client, public} {
			first, second := newReading(reader), newReading(reader)
			second.states, second.memory = first.states, first.memory
			first.open("")
			first.read(0, append([]sent{{"metadata", begin}}, c.first...)...)
			second.open(joinedID)
			out := second.read(10, c.then...)
			if strings.Contains(out, "secret") || c.then[0] == own && !strings.Contains(out, "shown") {
				t.Errorf("%s, %s: this leaves:\n%s", c.name, reader.Policy, out)
			}
		}
	}
	r := newReading(client)
	r.open(joinedID)
	whole := argumentPiece("m2", 0, "c2", "task", `{"q":"sho`)
	if out := r.read(0, sent{"values", after}, whole, argumentPiece("m2", 0, "", "", `wn"}`)); !strings.Contains(out, "secret") || !strings.Contains(out, "wn") {
		t.Errorf("without such work, this leaves:\n%s", out)
	}
}

// TestStreamsThatOverlap ends two streams of a thread one after the other. What each of them knows is kept.
func TestStreamsThatOverlap(t *testing.T) {
	state := sent{"values", `{"messages":[` + userAsks + `]}`}
	whole := sent{"values", `{"messages":[` + userAsks + `,` + wholeX + `]}`}
	broken := sent{"updates|x:1", `{"internal_x":{"messages":[` + wholeX}
	first := callPiece(modeMessages, 1, "internal_search", "c1", "")
	for _, c := range []struct {
		name          string
		first, second []sent
		joined        string
		then          []sent
	}{
		{"an unreadable frame beside another run", []sent{{"metadata", begin}, state, broken}, []sent{{"metadata", nextRun}}, "", []sent{{"metadata", `{"run_id":"019a0000-0000-7000-8000-000000000009","attempt":1}`}, whole}},
		{"an unreadable frame beside the same run", []sent{{"metadata", begin}, state, broken}, []sent{{"metadata", begin}}, joinedID, []sent{whole}},
		{"pieces beside a stream without a run", []sent{{"metadata", begin}, first}, []sent{{"custom", `{}`}}, joinedID, []sent{callPiece(modeMessages, 1, "", "", "secret")}},
		{"pieces beside another run", []sent{{"metadata", begin}, first}, []sent{{"metadata", nextRun}}, joinedID, []sent{callPiece(modeMessages, 1, "", "", "secret")}},
		{"a state beside a stream of the same run", []sent{{"metadata", begin}, state}, []sent{{"metadata", begin}, inNode}, joinedID, []sent{whole}},
	} {
		for _, reader := range []filter.Settings{client, public} {
			a, b := newReading(reader), newReading(reader)
			b.states, b.memory = a.states, a.memory
			a.open("")
			b.open("")
			a.read(0, c.first...)
			b.read(0, c.second...)
			a.close()
			b.close()
			a.open(c.joined)
			if out := a.read(10, c.then...); strings.Contains(out, "secret") {
				t.Errorf("%s, %s: this leaves:\n%s", c.name, reader.Policy, out)
			}
		}
	}
}

// TestManyCompleteCalls has a client leave and join a run with more calls in pieces than are kept.
func TestManyCompleteCalls(t *testing.T) {
	for _, n := range []int{10, 1500, 2500} {
		r := newReading(client)
		r.open("")
		r.read(0, sent{"metadata", begin})
		for i := range n {
			r.read(i, argumentPiece(fmt.Sprint("n", i), 0, fmt.Sprint("d", i), "search", `{}`))
		}
		r.read(n, sent{"values", `{"messages":[` + userAsks + `]}`}, callPiece(modeMessages, 1, "internal_search", "c1", ""))
		r.close()
		r.states.Update(newResumption(r.stream).thread, func(kept event.KeptState) event.KeptState {
			if k := kept.(*knowledge); len(k.runs) != 1 || k.Size() > maxSecrecySize {
				t.Errorf("after %d calls, %d bytes of %d runs are kept", n, k.Size(), len(k.runs))
			}
			return kept
		})
		r.open(joinedID)
		if out := r.read(n+9, callPiece(modeMessages, 1, "", "", "secret")); strings.Contains(out, "secret") {
			t.Errorf("after %d calls, this leaves:\n%s", n, out)
		}
	}
}
