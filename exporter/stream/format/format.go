// Package format converts the frames that a reader of the external stream may see to another format: normalized
// events, A2A or AG-UI. Readers that select the same frames share the decoding, so that a frame is
// decoded and held in memory once; see Decodings. Each reader has a Transformer, which tracks what the reader has
// received. "The ring" is the buffer of recent frames in package replay.
package format

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Format is a format of the external stream besides the native one.
type Format string

// The formats.
const (
	Normalized Format = "normalized" // Delegraph's events, each in a frame of its own; see docs/reference/events.md
	A2A        Format = "a2a"        // Agent2Agent, JSON-RPC, version 1.0
	A2A03      Format = "a2a-0.3"    // the same in version 0.3
	AGUI       Format = "agui"       // Agent-User Interaction, version 1.0
)

// Formats lists every format.
func Formats() []Format { return []Format{Normalized, A2A, A2A03, AGUI} }

// Decoder decodes the frames of one agent stream, in order. The result of Decode stays valid.
type Decoder interface {
	Decode(sse.Frame) *event.Batch
}

// Settings configure a Transformer.
type Settings struct {
	Format  Format
	Session string       // the only session that the reader asked for; "" for any number of them
	Resumed bool         // the reader has received earlier frames
	Kinds   replay.Kinds // event kinds to write in the format Normalized; 0: all

	Decodings *Decodings
	Selection string // names the frames that the reader may see; readers with the same one share decodings

	// EarlierFrames calls each with the frames before f in its stream that the reader may see, in
	// order. If there are more than limit, it leaves out the oldest. It returns the number of calls, and whether it has come to the
	// first frame of the stream, which the reader may not see. nil: no frames are buffered.
	EarlierFrames func(f replay.Frame, limit int, each func(replay.Frame)) (n int, fromFirst bool)

	// AppendID appends the SSE id of the native frame with a number (replay.Frame.Number).
	AppendID func(dst []byte, number uint64) []byte

	// AppendGap appends a native gap frame with the same id as the native frame with a number.
	AppendGap func(dst []byte, number uint64, g *replay.Gap) []byte
}

// writer writes frames in one format.
type writer interface {
	// frame writes the events of a frame.
	frame(replay.Frame, *event.Batch)
	// streamEnded writes the end of a stream.
	streamEnded(replay.Frame, *event.Batch)
	// setRereading sets whether frames are only reread. They then update the state and are not written.
	setRereading(bool)
	// noteGap implements Transformer.NoteGap.
	noteGap(*replay.Gap) bool
}

func newWriter(s *Settings, out *output) writer {
	switch s.Format {
	case A2A, A2A03:
		return newA2A(s, out)
	case AGUI:
		return newAGUI(s, out)
	}
	return newNormalized(s, out)
}
