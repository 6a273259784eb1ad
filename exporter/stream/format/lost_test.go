package format

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// deltaDecoder decodes the pieces of a text. It ignores pieces if it has not seen the start of the text.
type deltaDecoder struct{ started bool }

func (d *deltaDecoder) Decode(f sse.Frame) *event.Batch {
	b := &event.Batch{Run: "r", Session: "c", Agent: "a"}
	switch {
	case string(f.Data) == "start":
		d.started = true
		b.Add(event.KindRunStarted)
	case string(f.Data) == "end":
		b.Add(event.KindRunEnded)
	case d.started:
		b.Partial = true
		e := b.Add(event.KindText)
		e.SetText(f.Data)
		e.Message = "m"
	default:
		b.Add(event.KindOther)
	}
	return b
}

// publishDeltas publishes the start of a stream and n pieces of its text, each of size bytes. It returns the frames.
func (r *sharedRing) publishDeltas(stream *replay.Stream, n, size int) []replay.Frame {
	r.decodings.newDecoder = func(string, string, bool) Decoder { return &deltaDecoder{} }
	head := r.ring.Head()
	r.ring.Publish(replay.Entry{Stream: stream, Data: []byte("start"), Kinds: replay.KindsOf(event.KindRunStarted), Ordinal: 1})
	for i := range n {
		data := append(fmt.Appendf(nil, "[%d]", i), bytes.Repeat([]byte("."), size)...)
		kinds := replay.KindsOf(event.KindText, event.KindToolStarted) // the filter has withheld a call
		r.ring.Publish(replay.Entry{Stream: stream, Data: data, Kinds: kinds, Ordinal: uint64(i + 2)})
	}
	frames, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, n+1))
	return frames
}

func (r *sharedRing) readerOf(as Format, earlier bool) *Transformer {
	t := r.reader("all")
	t.Close()
	s := t.settings
	s.Format = as
	if !earlier {
		s.EarlierFrames = nil
	}
	return New(s)
}

// TestLostMeaningIsTold takes the decoding of a stream from a reader while the ring lacks the beginning. The reader is told of a gap, once. If
// the ring has the beginning, the reader loses nothing and is told nothing.
func TestLostMeaningIsTold(t *testing.T) {
	for i, as := range append(Formats(), Formats()...) {
		for _, ringHasStart := range []bool{true, false} {
			r, stream := newSharedRing(t, 1<<30), &replay.Stream{SingleRun: i < len(Formats())}
			frames := r.publishDeltas(stream, 10, 4)
			reader := r.readerOf(as, ringHasStart)
			var before, after []byte
			for _, f := range frames[:5] {
				before = reader.Append(before, f)
			}
			r.decodings.all.Purge()
			for _, f := range frames[5:] {
				after = reader.Append(after, f)
			}
			head := r.ring.Head()
			r.ring.Publish(replay.Entry{Stream: stream, Data: []byte("end"), Kinds: replay.KindsOf(event.KindRunEnded)})
			r.ring.Publish(replay.Entry{Stream: stream, StreamEnded: true, End: event.EndOfStream})
			last, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, 2))
			after = reader.Append(reader.Append(after, last[0]), last[1])
			want := 1
			if ringHasStart {
				want = 0
			}
			if n := strings.Count(string(after), `"evicted"`); n != want || strings.Contains(string(before), "evicted") {
				t.Errorf("%s, the ring has the beginning: %t: %d gaps, want %d:\n%s", as, ringHasStart, n, want, after)
			}
			if all := strings.Contains(string(after), "[5]"); all != ringHasStart {
				t.Errorf("%s, the ring has the beginning: %t: the text goes on: %t", as, ringHasStart, all)
			}
			reader.Close()
		}
	}
}

// TestDecodersOutliveWindows lets two readers follow many long texts. Each decoder keeps only the end of its text, and the batches that
// both readers have read need no room: no decoder is evicted.
func TestDecodersOutliveWindows(t *testing.T) {
	const streams, piece = 8, 20 << 10
	r := newSharedRing(t, 2<<20)
	one, two := r.readerOf(AGUI, false), r.readerOf(Normalized, false)
	var all [][]replay.Frame
	for range streams {
		// The frames stay valid after their ring has evicted them.
		r.ring = newRing(t, 1000)
		var frames []replay.Frame
		stream := &replay.Stream{SingleRun: true}
		for n := range 60 {
			f := r.publishDeltas(stream, 1, piece)[min(n, 1):]
			frames = append(frames, f...)
		}
		for i := range frames {
			frames[i].Sequence = uint64(i + 1)
		}
		all = append(all, frames)
	}
	for n := range all[0] {
		for _, frames := range all {
			for _, reader := range []*Transformer{one, two} {
				out := reader.Append(nil, frames[n])
				if n > 0 && !bytes.Contains(out, []byte("[0]....")) {
					t.Fatalf("frame %d has no text: %s", n, out)
				}
			}
		}
	}
	if r.budget.Usage()[0].Shed == 0 || r.decodings.Evicted() != 0 {
		t.Errorf("%d shed, %d evicted, want some and none", r.budget.Usage()[0].Shed, r.decodings.Evicted())
	}
	one.Close()
	two.Close()
	if n := r.budget.Usage()[0].Bytes; n != 0 {
		t.Errorf("%d bytes are charged without readers", n)
	}
}

// textDecoder decodes each frame as a text.
type textDecoder struct{}

func (textDecoder) Decode(f sse.Frame) *event.Batch {
	b := &event.Batch{Run: "r"}
	b.Add(event.KindText).SetText(f.Data)
	return b
}

// TestNoIDBeforeGap checks that a reader gets the ID of a frame only after the gap that the frame shows: a reader that loses the connection
// between them would not hear of the gap.
func TestNoIDBeforeGap(t *testing.T) {
	for _, as := range Formats() {
		r := newSharedRing(t, 1<<30)
		r.decodings.newDecoder = func(string, string, bool) Decoder { return textDecoder{} }
		reader := r.readerOf(as, true)
		head := r.ring.Head()
		r.ring.Publish(replay.Entry{Stream: &replay.Stream{SingleRun: true}, Data: []byte("hello"), Kinds: replay.KindsOf(event.KindText, event.KindToolStarted), Ordinal: 2})
		frames, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, 1))
		out := string(reader.Append(nil, frames[0]))
		before, after, told := strings.Cut(out, `"evicted"`)
		if !told || strings.Contains(before, "id: ") || !strings.Contains(out, "hello") || as != Normalized && !strings.Contains(after, "id: ") {
			t.Errorf("%s: %s", as, out)
		}
		reader.Close()
	}
}

// TestNoIDWithoutGap ends a text of AG-UI while a gap waits for the next event of a run.
func TestNoIDWithoutGap(t *testing.T) {
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	w, f := newAGUI(&Settings{}, out), replay.Frame{Stream: &replay.Stream{}}
	write := func(b event.Batch, kinds ...event.Kind) string {
		b.Run = "r"
		for _, kind := range kinds {
			b.Add(kind).SetText([]byte("hello"))
		}
		out.begin(1)
		w.frame(f, &b)
		return string(out.appendTo(nil, false))
	}
	write(event.Batch{Partial: true}, event.KindText)
	write(event.Batch{}, event.KindModelEnded)
	w.noteGap(&replay.Gap{Reason: replay.GapLost})
	if got := write(event.Batch{}, event.KindModelStarted); !strings.Contains(got, "TEXT_MESSAGE_END") || strings.Contains(got, "id: e") {
		t.Errorf("the end of the text has an ID, or is missing: %s", got)
	}
	if got := write(event.Batch{}, event.KindRunStarted); !strings.Contains(got, `"lost"`) || !strings.Contains(got, "id: e-1") {
		t.Errorf("the gap or the ID is missing: %s", got)
	}
}

// startingDecoder reports the start of a model response with the first piece that it sees.
type startingDecoder struct{ deltaDecoder }

func (d *startingDecoder) Decode(f sse.Frame) *event.Batch {
	b := &event.Batch{Run: "r", Session: "c", Agent: "a"}
	if !d.started {
		b.Add(event.KindModelStarted)
	}
	d.started, b.Partial = true, true
	e := b.Add(event.KindText)
	e.SetText(f.Data)
	e.Message = "m"
	return b
}

// TestNothingIsInvented takes the decoding of a stream from a reader, and the ring lacks the beginning. The reader is not told that a
// second model response starts.
func TestNothingIsInvented(t *testing.T) {
	for _, singleRun := range []bool{false, true} {
		r, stream := newSharedRing(t, 1<<30), &replay.Stream{SingleRun: singleRun}
		r.decodings.newDecoder = func(string, string, bool) Decoder { return &startingDecoder{} }
		head := r.ring.Head()
		for i := range 4 {
			kinds := replay.KindsOf(event.KindText)
			if i == 0 {
				kinds |= replay.KindsOf(event.KindModelStarted)
			}
			r.ring.Publish(replay.Entry{Stream: stream, Data: fmt.Append(nil, "piece ", i), Kinds: kinds, Ordinal: uint64(i + 1)})
		}
		frames, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, 4))
		reader := r.readerOf(Normalized, false)
		var got []byte
		for i, f := range frames {
			if i == 2 {
				r.decodings.all.Purge()
			}
			got = reader.Append(got, f)
		}
		if starts, pieces := bytes.Count(got, []byte("model_started")), bytes.Count(got, []byte("piece ")); starts != 1 || pieces != 4 {
			t.Errorf("the reader got %d starts and %d pieces, want 1 and 4:\n%s", starts, pieces, got)
		}
		reader.Close()
	}
}
