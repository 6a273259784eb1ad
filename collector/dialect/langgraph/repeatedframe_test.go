package langgraph

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestFramesSentTwice joins a run while an internal task works, so that the server sends the last frames twice, with the same IDs. What
// has left before leaves again, and the facts count once.
func TestFramesSentTwice(t *testing.T) {
	task := func(more string) sent { return sent{"tasks", `{"id":"t1","name":"internal_b"` + more + `}`} }
	piece := sent{"messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"shown"},{"langgraph_node":"a","langgraph_checkpoint_ns":"a:1"}]`}
	stream := []sent{{"metadata", begin}, {"values", `{"messages":[` + userAsks + `]}`}, piece, task(`,"input":{},"triggers":[]`), writes, task(`,"result":{},"interrupts":[]`)}
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
	}
}

// TestForgottenFrames sends a frame again after more frames than are remembered. IDs that do not state a time have no order.
func TestForgottenFrames(t *testing.T) {
	one := sent{"custom", `"x"`}
	for id, leaves := range map[string]bool{"1795900845473-0": false, "1": true, "1795900899999-0": true} {
		r := newReading(client)
		r.open(joinedID)
		r.readID(id, one)
		for i := range maxFrames {
			r.readID(fmt.Sprintf("17959008%05d-0", 46000+i), one)
		}
		r.readID("1795900847900-0", one)
		if r.readID(id, one) != "" != leaves {
			t.Errorf("%s: the first frame leaves again: %t", id, !leaves)
		}
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
