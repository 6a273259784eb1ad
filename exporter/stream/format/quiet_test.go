package format

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestQuietRunEnds lets more runs pass than are tracked while another is open and silent. Its reader gets its end.
func TestQuietRunEnds(t *testing.T) {
	for _, as := range Formats() {
		w, out := writerOf(as)
		quiet := &replay.Stream{SingleRun: true}
		writeRun(w, out, 0, "quiet", quiet)
		for i := range 2 * maxRuns {
			stream := &replay.Stream{SingleRun: true}
			writeRun(w, out, 2*i+1, fmt.Sprint("run ", i), stream)
			out.begin(uint64(2*i + 2))
			w.streamEnded(replay.Frame{Stream: stream}, &event.Batch{})
		}
		out.begin(1 << 20)
		w.streamEnded(replay.Frame{Stream: quiet}, &event.Batch{Run: "quiet"})
		if !strings.Contains(out.json.String(), `"quiet"`) || strings.Contains(string(out.appendTo(nil, false)), "evicted") {
			t.Errorf("%s: the silent run ends with %q", as, out.json.String())
		}
	}
}

// TestTooManyOpenRuns opens more runs than are tracked. The reader, which misses the end of the first one, is told so.
func TestTooManyOpenRuns(t *testing.T) {
	for _, as := range []Format{A2A, A2A03, AGUI} {
		w, out := writerOf(as)
		var all []byte
		for i := range maxRuns + 1 {
			writeRun(w, out, i, fmt.Sprint("run ", i), &replay.Stream{SingleRun: true})
			if all = out.appendTo(all, false); i < maxRuns && bytes.Contains(all, []byte("evicted")) {
				t.Fatalf("%s: a gap with %d open runs", as, i+1)
			}
		}
		if !bytes.Contains(all, []byte("evicted")) {
			t.Errorf("%s: no gap", as)
		}
	}
}

// TestManyOpenStreams ends many streams that were open at once, after their frames have left the buffer. The reader gets the run that each
// brought, or a gap for one that was forgotten.
func TestManyOpenStreams(t *testing.T) {
	for _, extra := range []int{0, 1} {
		r := newSharedRing(t, 1<<30)
		r.decodings.newDecoder = func(string, string, bool) Decoder { return &deltas{} }
		reader := New(Settings{
			Format: Normalized, AppendID: r.ring.AppendID, Decodings: r.decodings, Selection: "all",
			AppendGap: func(dst []byte, _ uint64, g *replay.Gap) []byte { return fmt.Appendf(dst, "%q", g.Reason) },
		})
		defer reader.Close()
		var all []byte
		add := func(stream *replay.Stream, data string) {
			head := r.ring.Head()
			r.ring.Publish(replay.Entry{Stream: stream, Data: []byte(data), StreamEnded: data == "", End: event.EndOfStream})
			frames, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, 1))
			all = reader.Append(all, frames[0])
		}
		open := make([]*replay.Stream, maxStreams+extra)
		for i := range open {
			open[i] = &replay.Stream{SingleRun: true}
			add(open[i], "a piece of text that is long enough")
		}
		all = nil
		for _, stream := range open {
			add(stream, "")
		}
		ends, known := strings.Count(string(all), `"stream_ended"`), strings.Count(string(all), `"run":"r"`)
		if gaps := strings.Count(string(all), `"evicted"`); ends != len(open) || known != len(open)-gaps || (gaps > 0) != (extra > 0) {
			t.Errorf("of %d streams %d end, %d with a run, and %d gaps", len(open), ends, known, gaps)
		}
	}
}

func writerOf(as Format) (writer, *output) {
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	return newWriter(&Settings{Format: as}, out), out
}

// writeRun writes the first frame of a run.
func writeRun(w writer, out *output, number int, id string, stream *replay.Stream) {
	b := &event.Batch{Run: id, Agent: "a"}
	b.Add(event.KindRunStarted)
	b.Add(event.KindText).SetText([]byte("text"))
	out.begin(uint64(number))
	w.frame(replay.Frame{Stream: stream}, b)
}

// TestResumeAfterFirstFrame resumes readers when the ring lacks the first frame of an answer. They are told once. Readers that did not resume,
// or that have the first frame, are not.
func TestResumeAfterFirstFrame(t *testing.T) {
	for _, as := range Formats() {
		for _, c := range []struct {
			name            string
			singleRun, back bool
			ringHasFirst    bool
			only            int // of the stream's last frames, those that come after the reader has connected
			want            int
		}{
			{"resumed", true, true, false, 4, 1},
			{"resumed before the end", true, true, false, 1, 1},
			{"resumed with the first frame", true, true, true, 4, 0},
			{"new", true, false, false, 4, 0},
			{"a stream of several runs", false, true, false, 4, 0},
			{"the reader may not see the first frame", true, true, true, 4, 0},
		} {
			r, stream := newSharedRing(t, 1<<30), &replay.Stream{SingleRun: c.singleRun}
			frames := r.publishWhole(stream, 6)
			reader := r.readerOf(as, c.ringHasFirst)
			reader.settings.Resumed = c.back
			if strings.Contains(c.name, "may not see") {
				hasFirst := reader.settings.EarlierFrames
				reader.settings.EarlierFrames = func(f replay.Frame, _ int, _ func(replay.Frame)) (int, bool) {
					return hasFirst(f, 10, func(replay.Frame) {})
				}
			}
			var all []byte
			for _, f := range frames[len(frames)-c.only:] {
				all = reader.Append(all, f)
			}
			for _, f := range r.publishWhole(&replay.Stream{SingleRun: true}, 1) { // other formats tell a gap with the next run
				all = reader.Append(all, f)
			}
			if n := strings.Count(string(all), "evicted"); n != c.want {
				t.Errorf("%s, %s: %d gaps, want %d:\n%s", as, c.name, n, c.want, all)
			}
			reader.Close()
		}
	}
}

// publishWhole publishes n texts of a stream and its end. It returns the frames.
func (r *sharedRing) publishWhole(stream *replay.Stream, n int) []replay.Frame {
	r.decodings.newDecoder = func(string, string, bool) Decoder { return textDecoder{} }
	head := r.ring.Head()
	for i := range n {
		r.ring.Publish(replay.Entry{Stream: stream, Data: fmt.Append(nil, "text ", i), Kinds: replay.KindsOf(event.KindText), Ordinal: uint64(i + 1)})
	}
	r.ring.Publish(replay.Entry{Stream: stream, StreamEnded: true, End: event.EndOfStream, Ordinal: uint64(n + 1)})
	frames, _ := r.ring.Frames(head, nil, make([]replay.Frame, 0, n+1))
	return frames
}
