package stream

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// textDecoder makes one event of each frame.
type textDecoder struct{}

func (textDecoder) Decode(f sse.Frame) *event.Batch {
	b := &event.Batch{}
	b.Add(event.KindText).SetText(f.Data)
	return b
}

// TestUnsentFramesAreBounded checks that the large frames of readers that do not read stay within the memory for them, that other readers
// wait for room, and that they get the frame in the end.
func TestUnsentFramesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frame, room, readers = 1 << 20, 3 << 20, 20
		whole := budget.New(room)
		s := newStand(t, func(c *Settings) {
			c.Decoder = func(string, string, bool) format.Decoder { return textDecoder{} }
			c.Unsent = whole.Account("subscribers", 1, 1)
			c.Replay.Bytes = 8 * frame
		})
		var stalled []*client
		for range readers {
			stalled = append(stalled, s.request("GET", "/events?format=normalized"))
		}
		reading := s.get("/events?format=normalized")
		s.hub.Store().Publish(replay.Entry{Stream: &replay.Stream{}, Data: []byte(strings.Repeat("x", frame))})
		synctest.Wait()
		if used := whole.Usage()[0].Bytes; used == 0 || used > room {
			t.Errorf("%d bytes are charged for %d readers, want at most %d", used, readers, room)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if body := reading.take(); strings.Count(body, "x") < frame {
			t.Errorf("a reader that waited got %d bytes", len(body))
		}
		for _, c := range append(stalled, reading) {
			c.leave()
		}
		if used := whole.Usage()[0].Bytes; used != 0 {
			t.Errorf("%d bytes are charged without readers", used)
		}
		s.stop()
	})
}
