package format

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// sharedRing is a ring with several readers.
type sharedRing struct {
	ring      *replay.Ring
	decodings *Decodings
	budget    *budget.Budget
}

func newSharedRing(t *testing.T, memory int64) *sharedRing {
	r := &sharedRing{ring: newRing(t, 1000), budget: budget.New(memory)}
	r.decodings = NewDecodings(func(string, string, bool) Decoder { return &scripted{} }, r.budget.Account("decodings", 1, 1))
	return r
}

func (r *sharedRing) reader(selection string) *Transformer {
	return New(Settings{
		Format: Normalized, AppendID: r.ring.AppendID, Decodings: r.decodings, Selection: selection,
		AppendGap: func(dst []byte, _ uint64, g *replay.Gap) []byte { return fmt.Appendf(dst, "%q", g.Reason) },
		EarlierFrames: func(f replay.Frame, most int, each func(replay.Frame)) (int, bool) {
			return r.ring.EarlierFrames(f.Stream, f.Sequence, nil, most, each)
		},
	})
}

// publish publishes frames of the streams in turn and returns them.
func (r *sharedRing) publish(streams []*replay.Stream, frames int) []replay.Frame {
	head := r.ring.Head()
	for n := range frames {
		r.ring.Publish(replay.Entry{Stream: streams[n%len(streams)], Data: fmt.Append(nil, n, " frame")})
	}
	published, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, frames))
	return published
}

// TestDecodingsAreShared checks that of 40 readers of a stream only the first one decodes.
func TestDecodingsAreShared(t *testing.T) {
	r := newSharedRing(t, 1<<30)
	var readers []*Transformer
	for range 40 {
		readers = append(readers, r.reader("all"))
	}
	frames := r.publish([]*replay.Stream{{}}, 100)
	var want []byte
	for i, reader := range readers {
		var got []byte
		for _, f := range frames {
			got = reader.Append(got, f)
		}
		if i == 0 {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("reader %d got %d bytes, the first %d", i, len(got), len(want))
		}
	}
	if n := r.decodings.decoded.Load(); n != 100 {
		t.Errorf("%d frames were decoded for 40 readers, want 100", n)
	}
	others := r.reader("others")
	others.Append(nil, frames[0])
	if n := r.decodings.decoded.Load(); n != 101 {
		t.Error("a reader with another selection shares a decoding")
	}
	if r.budget.Usage()[0].Bytes == 0 {
		t.Error("nothing is charged")
	}
	for _, reader := range append(readers, others) {
		reader.Close()
	}
	if n := r.budget.Usage()[0].Bytes; n != 0 {
		t.Errorf("%d bytes are charged without readers", n)
	}
}

// TestEvictedDecodingsAreFreed checks that no reader keeps an evicted decoding in memory, for which nothing is charged.
func TestEvictedDecodingsAreFreed(t *testing.T) {
	r := newSharedRing(t, 512<<10)
	var started []weak.Pointer[scripted]
	r.decodings.newDecoder = func(string, string, bool) Decoder {
		decoder := &scripted{}
		started = append(started, weak.Make(decoder))
		return decoder
	}
	var streams []*replay.Stream
	for range 16 {
		streams = append(streams, &replay.Stream{})
	}
	frames := r.publish(streams, 32)
	var readers []*Transformer
	for i := range 8 {
		reader := r.reader(fmt.Sprint("selection ", i))
		defer reader.Close()
		readers = append(readers, reader)
		for _, f := range frames {
			reader.Append(nil, f)
		}
	}
	runtime.GC()
	inMemory := 0
	for _, decoder := range started {
		if decoder.Value() != nil {
			inMemory++
		}
	}
	if known := r.decodings.all.Len(); known == 0 || inMemory > known || len(started) <= known {
		t.Errorf("%d of %d decoders are in memory, want the %d that are not evicted", inMemory, len(started), known)
	}
	runtime.KeepAlive(readers)
}

// TestPositionsAreCharged checks that readers without memory forget their oldest positions, and that nothing is charged without readers.
func TestPositionsAreCharged(t *testing.T) {
	const limit = 64 << 10
	r := newSharedRing(t, limit)
	var streams []*replay.Stream
	for range 200 {
		streams = append(streams, &replay.Stream{})
	}
	reader := r.reader("all")
	for _, f := range r.publish(streams, 200) {
		reader.Append(nil, f)
		if n := r.budget.Usage()[0].Bytes; n > limit {
			t.Fatalf("%d bytes are charged", n)
		}
	}
	if n := reader.positions.Len(); n < 20 || n > limit/positionBytes {
		t.Errorf("%d positions are known, want as many as the memory has room for", n)
	}
	reader.Close()
	if n := r.budget.Usage()[0].Bytes; n != 0 {
		t.Errorf("%d bytes are charged without readers", n)
	}
}

// TestReadersBehindTheWindow checks a reader that is further behind the first one than the window.
func TestReadersBehindTheWindow(t *testing.T) {
	r := newSharedRing(t, 1<<30)
	first, second := r.reader("all"), r.reader("all")
	stream := &replay.Stream{}
	frames := r.publish([]*replay.Stream{stream}, 200)
	second.Append(nil, frames[0])
	for _, f := range frames {
		first.Append(nil, f)
	}
	r.decodings.sharedBy(decodingKey{stream, "all"})[0].window = nil
	for _, f := range frames[1:] {
		second.Append(nil, f)
	}
	if n := r.decodings.Evicted(); n != 1 {
		t.Errorf("%d decodings were started in the middle of the stream, want 1", n)
	}
	if n := r.decodings.decoded.Load(); n != 400 {
		t.Errorf("%d frames were decoded, want 400", n)
	}
}

// TestDecodingsKeepToTheMemory opens more streams than the memory budget has room for.
func TestDecodingsKeepToTheMemory(t *testing.T) {
	const limit = 128 << 10
	r := newSharedRing(t, limit)
	one := r.reader("all")
	var streams []*replay.Stream
	for range 16 {
		streams = append(streams, &replay.Stream{})
	}
	for _, f := range r.publish(streams, 160) {
		one.Append(nil, f)
		if n := r.budget.Usage()[0].Bytes; n > limit {
			t.Fatalf("%d bytes are charged", n)
		}
	}
	if r.budget.Usage()[0].Shed == 0 || r.decodings.Evicted() == 0 {
		t.Errorf("%d shed, %d evicted", r.budget.Usage()[0].Shed, r.decodings.Evicted())
	}
}

// BenchmarkDecodings reports the decodings per frame and the bytes charged for readers of a stream.
func BenchmarkDecodings(b *testing.B) {
	for _, n := range []int{1, 10, 40} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			memory := budget.New(1 << 30)
			decodings := NewDecodings(func(string, string, bool) Decoder { return &scripted{} }, memory.Account("decodings", 1, 1))
			ring, stream := newRing(b, 1000), &replay.Stream{}
			var readers []*Transformer
			for range n {
				readers = append(readers, New(Settings{Format: Normalized, AppendID: ring.AppendID, Decodings: decodings}))
			}
			var out []byte
			for b.Loop() {
				head := ring.Head()
				ring.Publish(replay.Entry{Stream: stream, Data: []byte("a frame")})
				frames, _ := ring.Frames(head, nil, make([]replay.Frame, 0, 1))
				for _, reader := range readers {
					out = reader.Append(out[:0], frames[0])
				}
			}
			b.ReportMetric(float64(decodings.decoded.Load())/float64(b.N), "decodings/frame")
			b.ReportMetric(float64(memory.Usage()[0].Bytes), "charged-B")
		})
	}
}

// frameKeeper is a decoder whose batches use the bytes of their frames.
type frameKeeper struct{}

func (frameKeeper) Decode(f sse.Frame) *event.Batch { return &event.Batch{Frame: f} }

// TestWindowOwnsItsFrames checks that decoding a frame does not change the batch of an earlier frame,
// even if the frames have several data lines.
func TestWindowOwnsItsFrames(t *testing.T) {
	r := newSharedRing(t, 1<<30)
	r.decodings.newDecoder = func(string, string, bool) Decoder { return frameKeeper{} }
	reader, second := r.reader("all"), r.reader("all")
	defer reader.Close()
	defer second.Close()
	data := []string{"one\nframe", "two\nframes"}
	head, s := r.ring.Head(), &replay.Stream{}
	for _, text := range data {
		r.ring.Publish(replay.Entry{Stream: s, Data: []byte(text)})
	}
	frames, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, len(data)))
	for _, f := range frames {
		reader.Append(nil, f)
	}
	window := r.decodings.all.Keys()[0].window
	if len(window) != len(data) {
		t.Fatalf("the window has %d batches, want %d", len(window), len(data))
	}
	for i, kept := range window {
		if got := string(kept.batch.Frame.Data); got != data[i] {
			t.Errorf("batch %d has the data %q, want %q", i, got, data[i])
		}
	}
}

// TestFinalsOfWithheldCalls checks that a response whose calls were withheld is no final response. The start of a run keeps its mark.
func TestFinalsOfWithheldCalls(t *testing.T) {
	for _, c := range []struct {
		whole replay.Kinds
		want  int
	}{
		{replay.KindsOf(event.KindModelEnded, event.KindToolStarted), 1},
		{replay.KindsOf(event.KindModelEnded, event.KindFinal), 2},
		{replay.KindsOf(event.KindText), 2}, // another frame had the end of the response
		{0, 2},
	} {
		var b event.Batch
		for _, k := range []event.Kind{event.KindRunStarted, event.KindFinal, event.KindModelEnded, event.KindFinal} {
			b.Add(k)
		}
		dropFinals(&b, c.whole)
		got := 0
		for _, e := range b.Events {
			if e.Kind == event.KindFinal {
				got++
			}
		}
		if got != c.want {
			t.Errorf("of a frame with the kinds %b, %d marks remain, want %d", c.whole, got, c.want)
		}
	}
}

// TestCatchingUpLeavesOthers lets two readers share a decoding behind the first one's window. If one of them catches up with the older
// decoding, the other keeps the shared one. A decoding without readers is removed.
func TestCatchingUpLeavesOthers(t *testing.T) {
	r := newSharedRing(t, 1<<30)
	stream := &replay.Stream{}
	frames := r.publish([]*replay.Stream{stream}, 200)
	first, fast, slow := r.reader("all"), r.reader("all"), r.reader("all")
	read := func(reader *Transformer, frames []replay.Frame) {
		for _, f := range frames {
			reader.Append(nil, f)
		}
	}
	for _, reader := range []*Transformer{first, fast, slow} {
		read(reader, frames[:10])
	}
	read(first, frames[10:])
	older := r.decodings.all.Keys()[0]
	older.window = older.window[len(older.window)-50:]
	read(fast, frames[10:60])
	read(slow, frames[10:50])
	read(fast, frames[60:])
	read(slow, frames[50:60])
	if n := r.decodings.Evicted(); n != 1 || r.decodings.all.Len() != 2 {
		t.Errorf("%d decodings were started in the middle of the stream and %d are left, want 1 and 2", n, r.decodings.all.Len())
	}
	read(slow, frames[60:])
	if n := r.decodings.all.Len(); n != 1 {
		t.Errorf("%d decodings are left, want only the older one", n)
	}
}
