// Package format writes the frames that one subscriber may see in another form than the agent's own: as our events, for clients of A2A, or for clients of AG-UI.
package format

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Format is a form of the external stream besides the native one.
type Format string

// The formats.
const (
	Normalized Format = "normalized" // our events, one of each fact, as docs/reference/events.md has them
	A2A        Format = "a2a"        // Agent2Agent, JSON-RPC, version 1.0
	A2A03      Format = "a2a-0.3"    // the same in version 0.3
	AGUI       Format = "agui"       // Agent-User Interaction, version 1.0
)

// Formats lists every format.
func Formats() []Format { return []Format{Normalized, A2A, A2A03, AGUI} }

// Decoder reads the frames of one agent stream, in order. What Decode returns is valid until it is called again.
type Decoder interface {
	Decode(sse.Frame) *event.Batch
}

// Settings say what is written, and from what.
type Settings struct {
	Format  Format
	Session string       // the only one that the reader asked for; "" where there may be several
	Resumed bool         // the reader has had what came before its place
	Kinds   replay.Kinds // of Normalized: the facts to write; 0: all

	// Decoder begins to read a stream of a source and its dialect; nil where there is no such dialect.
	Decoder func(source, dialect string, answer bool) Decoder

	// Earlier calls each with at most as many as most of the frames before a sequence that are of its stream and that the reader
	// may see, in order, and returns how many they were; nil where nothing is held.
	Earlier func(f replay.Frame, most int, each func(replay.Frame)) int

	// AppendID appends the id of a number.
	AppendID func(dst []byte, number uint64) []byte
}

// writer writes what frames say in one format.
type writer interface {
	// frame writes what a frame says.
	frame(replay.Frame, *event.Batch)
	// over writes that a stream has ended.
	over(replay.Frame, *event.Batch)
	// silent says whether what comes is only to be known, since it is not for the reader.
	silent(bool)
	// gap notes that the reader has missed something. It returns whether a frame with a name of its own may say so.
	gap(*replay.Gap) bool
}

func newWriter(s *Settings, out *output) writer {
	switch s.Format {
	case A2A, A2A03:
		return newA2A(s, out)
	case AGUI:
		return newAGUI(s, out)
	}
	return &normalized{settings: s, out: out}
}
