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

// native is the format of the frames as the filter lets them out.
const native = "native"

// check reads what an URL asks of the format. Errors are whole sentences for whoever sent it.
func (h *Hub) check(params url.Values) error {
	known := []string{native}
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
		return errors.New("give one format")
	case len(params["kind"]) > 0 && chosen != "" && chosen != native && chosen != string(format.Normalized):
		return fmt.Errorf("kind goes with the formats %s and %s only: the others need every event", native, format.Normalized)
	}
	return nil
}

// transformer makes the one that a subscriber asked for; nil for native frames. It reads every frame that the subscriber may see,
// and then leaves out the kinds that were not asked for: what a frame says often follows from those before it.
func (h *Hub) transformer(s *subscriber, params url.Values, session, lastEventID string, query *replay.Query) *format.Transformer {
	chosen := params.Get("format")
	if chosen == "" || chosen == native {
		return nil
	}
	kinds := query.Kinds
	query.Kinds = 0
	return format.New(format.Settings{
		Format: format.Format(chosen), Session: session, Resumed: lastEventID != "", Kinds: kinds,
		Decoder: h.settings.Decoder,
		Earlier: func(f replay.Frame, most int, each func(replay.Frame)) int {
			return s.place.Ring.Earlier(f.Stream, f.Sequence, s.selection, most, each)
		},
		AppendID: s.place.Ring.AppendID,
	})
}

// maxFrames is how many native frames are read at once for another format.
const maxFrames = 256

// A subscriber has the space for them only while it writes.
var frames = sync.Pool{New: func() any { f := make([]replay.Frame, 0, maxFrames); return &f }}

// advanceFormatted writes what the next native frames become, behind an opening, which may be empty. Where the last of them become
// nothing, the subscriber learns of its place all the same.
func (s *subscriber) advanceFormatted(opening []byte) Disconnect {
	ring := s.place.Ring
	pooled := frames.Get().(*[]replay.Frame)
	defer frames.Put(pooled)
	some, batch := ring.Frames(s.cursor, s.selection, (*pooled)[:0])
	defer clear(some) // they keep what the ring has let go
	if batch.Lost {
		return FellOff
	}
	s.move(batch)
	out, sent := opening, 0
	for _, f := range some {
		before := len(out)
		switch {
		case f.Gap == nil:
			out = s.format.Append(out, f)
		case s.format.Gap(f.Gap):
			out = appendGap(out, string(ring.AppendID(nil, f.Number)), f.Gap)
		}
		if len(out) > before {
			sent, s.moved = sent+1, false
		} else {
			s.moved = true
		}
		if len(out) >= replay.MaxBatch {
			if why := s.write(out); why != "" {
				return why
			}
			out = out[:0]
		}
	}
	s.hub.evicted.Add(uint64(s.format.Evicted()))
	if len(some) > 0 && s.moved {
		out = s.say(out, "")
	}
	if len(out) > 0 {
		if why := s.write(out); why != "" {
			return why
		}
	}
	if sent > 0 {
		s.hub.settings.Observer.Sent(sent)
	}
	return ""
}
