package format

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

const (
	// maxStreams bounds the agent streams of which a reader keeps a decoder: a conversation has one or two at a time. A decoder may
	// remember some MiB of text; what is forgotten is read again out of the ring.
	maxStreams = 16

	// maxEarlier bounds the frames that a reader's connection ever reads again, since they cost time and nobody is sent them.
	maxEarlier = 10_000

	// maxHeard bounds the streams that are known not to be new.
	maxHeard = 1024
)

// Transformer writes the frames of one reader in a format. It is for one goroutine at a time.
type Transformer struct {
	settings Settings
	decoders *simplelru.LRU[*replay.Stream, *decoding]
	heard    *simplelru.LRU[*replay.Stream, struct{}]
	writer   writer
	out      output
	earlier  int // frames that may still be read again
	evicted  int
	scratch  []byte // for frames of more than one line
}

// decoding is a stream that is being read.
type decoding struct {
	Decoder
	last event.Batch // without its facts: whose the last frame was
}

// New makes a transformer.
func New(s Settings) *Transformer {
	t := &Transformer{settings: s, earlier: maxEarlier, out: output{appendID: s.AppendID}}
	t.decoders, _ = simplelru.NewLRU[*replay.Stream, *decoding](maxStreams, nil) // the only error is a size below one
	t.heard, _ = simplelru.NewLRU[*replay.Stream, struct{}](maxHeard, nil)
	t.writer = newWriter(&t.settings, &t.out)
	return t
}

// Append appends what a native frame becomes, which may be nothing.
func (t *Transformer) Append(dst []byte, f replay.Frame) []byte {
	if f.Stream == nil {
		return dst
	}
	d := t.decoder(f)
	t.write(d, f)
	return t.out.appendTo(dst)
}

// Evicted is how many decoders were forgotten for room since it was asked last.
func (t *Transformer) Evicted() int {
	n := t.evicted
	t.evicted = 0
	return n
}

// Gap notes that frames are missing before the next. It returns whether a frame of the native format may say so; if not, the next
// run says it.
func (t *Transformer) Gap(g *replay.Gap) bool { return t.writer.gap(g) }

func (t *Transformer) write(d *decoding, f replay.Frame) {
	t.out.begin(f.Number)
	switch {
	case d == nil:
	case f.Over:
		t.decoders.Remove(f.Stream)
		t.writer.over(f, &d.last)
	default:
		if b := t.decode(d, f); b != nil {
			t.writer.frame(f, b)
		}
	}
}

// decode returns nil where a frame says nothing.
func (t *Transformer) decode(d *decoding, f replay.Frame) *event.Batch {
	b := d.Decode(sse.Frame{Event: f.Name(), Data: t.data(f)})
	if b.Rejected != "" || b.Internal {
		return nil
	}
	d.last = event.Batch{Run: b.Run, Session: b.Session}
	return b
}

func (t *Transformer) data(f replay.Frame) []byte {
	if cap(t.scratch) > maxKept {
		t.scratch = nil
	}
	var data []byte
	data, t.scratch = f.Data(t.scratch)
	return data
}

// decoder is that of a frame's stream. A new one first reads what the ring holds of the stream: a frame often says only in the
// light of those before it what it says.
func (t *Transformer) decoder(f replay.Frame) *decoding {
	if d, known := t.decoders.Get(f.Stream); known {
		return d
	}
	begun := t.settings.Decoder(f.Source, f.Stream.Dialect, f.Stream.Answer)
	if begun == nil {
		return nil
	}
	d := &decoding{Decoder: begun}
	if t.decoders.Add(f.Stream, d) {
		t.evicted++
	}
	if t.settings.Earlier != nil && t.earlier > 0 {
		t.readAgain(d, f)
	}
	t.heard.Add(f.Stream, struct{}{})
	return d
}

// readAgain shows a new decoder the frames before one. What a stream said before the reader came is new to the writer too.
func (t *Transformer) readAgain(d *decoding, f replay.Frame) {
	news := !t.heard.Contains(f.Stream)
	t.writer.silent(true)
	t.earlier -= t.settings.Earlier(f, t.earlier, func(earlier replay.Frame) {
		if b := t.decode(d, earlier); b != nil && news {
			t.out.begin(earlier.Number)
			t.writer.frame(earlier, b)
		}
	})
	t.writer.silent(false)
}
