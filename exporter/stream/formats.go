package stream

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// nativeFormat passes frames on as the filter returns them.
const nativeFormat = "native"

// checkFormat validates the format and kind parameters. Its errors are full sentences for the
// client.
func (h *Hub) checkFormat(params url.Values) error {
	known := []string{nativeFormat}
	if h.settings.Decoder != nil {
		for _, f := range format.Formats() {
			known = append(known, string(f))
		}
	}
	for _, name := range params["format"] {
		if !slices.Contains(known, name) {
			return fmt.Errorf("format must be one of %s", strings.Join(known, ", "))
		}
	}
	chosen := params.Get("format")
	switch {
	case len(params["format"]) > 1:
		return errors.New("give only one format")
	case len(params["kind"]) > 0 && chosen != "" && chosen != nativeFormat && chosen != string(format.Normalized):
		return fmt.Errorf("kind works only with the formats %s and %s; other formats need every event", nativeFormat, format.Normalized)
	}
	return nil
}

// isConverted reports whether a subscriber gets another format than the native one.
func isConverted(params url.Values) bool {
	chosen := params.Get("format")
	return chosen != "" && chosen != nativeFormat
}

// transformer returns the transformer for the requested format, or nil for native frames. It moves the kinds from the
// query to the transformer. A transformer has to read every frame that the subscriber may see, because the meaning of a
// frame often depends on earlier ones.
func (h *Hub) transformer(s *subscriber, params url.Values, session, lastEventID string, query *replay.Query) *format.Transformer {
	if !isConverted(params) {
		return nil
	}
	kinds := query.Kinds
	query.Kinds = 0
	return format.New(format.Settings{
		Format: format.Format(params.Get("format")), Session: session, Resumed: lastEventID != "", Kinds: kinds,
		Decodings: h.decodings,
		// Subscribers with an equal Selection see the same frames and share their decodings.
		Selection: fmt.Sprintf("%p%#v%#v%#v", s.attachment.Ring, query.Sources, query.Runs, query.Sessions),
		EarlierFrames: func(f replay.Frame, most int, each func(replay.Frame)) (int, bool) {
			return s.attachment.Ring.EarlierFrames(f.Stream, f.Sequence, s.selection, most, each)
		},
		AppendID: s.attachment.Ring.AppendID,
		AppendGap: func(dst []byte, number uint64, g *replay.Gap) []byte {
			return appendGap(dst, string(s.attachment.Ring.AppendID(nil, number)), g)
		},
	})
}

// maxFrames bounds the native frames that are read at once for another format.
const maxFrames = 256

// framePool holds buffers for frames. A subscriber holds one only while it encodes.
var framePool = sync.Pool{New: func() any { f := make([]replay.Frame, 0, maxFrames); return &f }}

// writeNextFormatted writes opening, which may be empty, and then the next native frames in the
// subscriber's format. If the last of these frames produce no output, it sends their position, so
// that the client can resume after them.
func (s *subscriber) writeNextFormatted(opening []byte) Disconnect {
	memory := s.hub.settings.Memory
	room := memory.Reserve(replay.MaxBatch)
	if room {
		defer memory.Release(replay.MaxBatch)
	}
	out, sent, alone, lost := s.encodeNext(opening, room)
	switch {
	case lost:
		return TooSlow
	case alone != nil:
		return s.writeLarge(opening, *alone)
	case len(out) == 0:
		return ""
	}
	return s.writeFrames(sent, out)
}

// encodeNext appends the next native frames to out in the subscriber's format, up to replay.MaxBatch bytes or the first
// large frame, and moves the cursor past them. If a frame must be written alone, because it is large or there is no room
// for more, it returns that frame and leaves the cursor before it.
func (s *subscriber) encodeNext(out []byte, room bool) (_ []byte, sent int, alone *replay.Frame, lost bool) {
	pooled := framePool.Get().(*[]replay.Frame)
	defer framePool.Put(pooled)
	var frames []replay.Frame
	defer func() { clear(frames) }() // the frames would keep evicted data alive
	var batch replay.Batch
	next, unsentID := 0, false
	s.hub.withProcessor(func() {
		frames, batch = s.attachment.Ring.Frames(s.cursor, s.selection, (*pooled)[:0])
		for ; room && next < len(frames) && len(out) < replay.MaxBatch && !frames[next].IsLarge(); next++ {
			before := len(out)
			if out = s.format.Append(out, frames[next]); len(out) > before {
				sent++
			}
			unsentID = len(out) == before
		}
	})
	switch {
	case batch.Lost:
		return nil, 0, nil, true
	case next == 0 && len(frames) > 0:
		first := frames[0]
		return nil, 0, &first, false
	case next < len(frames):
		batch = replay.Batch{Next: frames[next-1].Cursor()}
	}
	s.advance(batch)
	if next > 0 {
		s.unsentID = unsentID || s.cursor.Sequence() != frames[next-1].Cursor().Sequence()
	}
	if next > 0 && s.mustSendID() {
		out = s.appendComment(out, "")
	}
	return out, sent, nil, false
}
