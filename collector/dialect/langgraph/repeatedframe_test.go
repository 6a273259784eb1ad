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
	d      dialect.Decoder
	stream *event.Stream
	filter *filter.Filter
	batch  *event.Batch // of the last frame
}

func newReading(reader filter.Settings) *reading {
	return &reading{reader: reader, states: new(event.States)}
}

// open begins a stream that joins a run, or ""; it does not end the stream before.
func (r *reading) open(joined string) {
	r.stream = &event.Stream{Identity: inThread(threadID, joined), States: r.states}
	r.d, r.filter = (Dialect{}).New(r.stream), filter.New(r.reader)
}

// read reads frames with IDs that begin with a number, and returns what leaves.
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

// TestFramesSentTwice joins a run while it sends, so that the server sends the last frames twice, with the same IDs. What has left before leaves
// again. If only some authors may be read, questions do not: the second frame does not state the author.
func TestFramesSentTwice(t *testing.T) {
	piece := fromServer(`{"type":"AIMessageChunk","id":"lc_run--1","content":"shown"}`, "a")
	stream := []sent{
		{"metadata", begin}, {"values", `{"messages":[` + userAsks + `,{"type":"system","content":"secret"}]}`}, piece, {"custom", `{"type":"internal","x":"secret"}`}, {"custom", `"shown"`},
		{"updates", `{"__interrupt__":[{"id":"i1","value":"Sure?"}]}`},
	}
	for _, reader := range []filter.Settings{client, public} {
		for again := range len(stream) {
			r := newReading(reader)
			r.open(joinedID)
			first := r.read(0, stream[:len(stream)-again]...)
			last := r.read(len(stream)-again, stream[len(stream)-again:]...)
			if got := r.read(len(stream)-again, stream[len(stream)-again:]...); got != last || strings.Contains(first+got, "secret") {
				t.Errorf("%s, %d again: this leaves:\n%s\nand not:\n%s", reader.Policy, again, got, last)
			}
			if out := r.read(len(stream), sent{"custom", `"next"`}); reader.Policy == event.PolicyClient && !strings.Contains(out, "next") {
				t.Errorf("%d again: a new frame does not leave", again)
			}
		}
		reader.Authors = []string{"writer"}
		r := newReading(reader)
		r.open(joinedID)
		r.read(0, stream...)
		if got := r.read(5, stream[5]); got != "" {
			t.Errorf("%s: a question of an unknown author leaves: %s", reader.Policy, got)
		}
	}
}

// TestForgottenFrames sends more frames than are remembered.
func TestForgottenFrames(t *testing.T) {
	var s sentFrames
	for i := range uint64(3 * maxFrames) {
		if !s.add(i) || s.add(i) || len(s.recent)+len(s.older) > 2*maxFrames {
			t.Fatalf("frame %d: %d frames are remembered", i, len(s.recent)+len(s.older))
		}
	}
	if s.add(2*maxFrames) || s.add(maxFrames) || !s.add(0) {
		t.Error("it does not remember the last frames")
	}
}

// TestFactsOfFramesSentTwice counts what a frame shows once.
func TestFactsOfFramesSentTwice(t *testing.T) {
	var stream []string
	for i, one := range []sent{{"metadata", begin}, fromServer(`{"type":"AIMessageChunk","id":"lc_run--1","content":"a"}`, "a"), fromServer(`{"type":"AIMessageChunk","id":"lc_run--1","content":"b"}`, "a")} {
		stream = append(stream, "id: "+strconv.Itoa(i)+"\n"+frame(one.name, one.data))
	}
	if got := strings.Join(facts(nil, append(stream, stream...)...), "\n"); strings.Count(got, `"a"`) != 1 || strings.Count(got, `"b"`) != 1 || strings.Count(got, "run_started") != 1 {
		t.Errorf("facts are\n%s", got)
	}
}

// TestHashesOfFramesSentTwice checks that a repeated frame has the hash of the first one. Without a hash, the repeated frame would begin
// another run on a stream that joins one.
func TestHashesOfFramesSentTwice(t *testing.T) {
	r := newReading(client)
	r.open(joinedID)
	for range 2 {
		for i, one := range []sent{{"metadata", begin}, {"custom", `1`}, {"unknown", `{}`}, {"error", `{`}} {
			if r.read(i, one); r.batch.Run == "" || r.batch.ContentHash == 0 {
				t.Errorf("%v has no hash", one)
			}
		}
	}
}
