package stream

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// textDecoder decodes each frame as a text. The frame "quiet" says nothing.
type textDecoder struct{}

func (textDecoder) Decode(f sse.Frame) *event.Batch {
	b := &event.Batch{Run: "r"}
	if string(f.Data) == "quiet" {
		b.Add(event.KindOther)
		return b
	}
	b.Add(event.KindText).SetText(f.Data)
	return b
}

// TestUntoldGapComesAgain cuts the connection before a frame can tell the reader of a gap. A reader that resumes, as a client does, must
// still get the gap, and then no further one.
func TestUntoldGapComesAgain(t *testing.T) {
	within := replay.Gap{Reason: replay.GapLost, Head: "e-9"}
	for _, test := range []struct {
		id, reason string
		within     *replay.Gap // comes while the reader is connected
	}{
		{"e-1", "evicted", nil}, {"other-3", "restarted", nil}, {"e-9", "", nil}, {"<script>", "unknown", nil}, {"e-8", "lost", &within},
	} {
		for _, as := range append(format.Formats(), nativeFormat) {
			t.Run(test.id+" "+string(as), func(t *testing.T) {
				bubble(t, func(set *Settings) {
					set.Replay.Frames = 5
					set.Decoder = func(string, string, bool) format.Decoder { return textDecoder{} }
				}, func(s *stand) { s.testUntoldGap(as, test.id, test.reason, test.within) })
			})
		}
	}
}

func (s *stand) testUntoldGap(as format.Format, id, reason string, within *replay.Gap) {
	frames := uint64(0)
	publish := func(data string) {
		frames++
		s.hub.store.Publish(replay.Entry{Number: frames, Stream: &replay.Stream{}, Data: []byte(data)})
		synctest.Wait()
	}
	for range 8 {
		publish("quiet")
	}
	all := ""
	connect := func(talk string) (got string) {
		c := s.get("/events?format="+string(as), "Last-Event-ID: "+id)
		if within != nil {
			frames++
			s.hub.store.Publish(GapEntry(within, frames, ""))
			within = nil
		}
		publish(talk)
		time.Sleep(2 * s.hub.settings.Heartbeat)
		synctest.Wait()
		got = c.take()
		c.leave()
		if _, last := received(s.T, got); last != "" {
			id = last
		}
		all += got
		return got
	}
	connect("quiet")
	connect("quiet")
	if got := connect("hello"); !strings.Contains(all, `delegraph.gap`) || !strings.Contains(all, `"reason":"`+reason) || !strings.Contains(got, "hello") {
		s.Errorf("the gap and the text are not in %s", all)
	}
	if id != s.head() {
		s.Errorf("the reader would resume after %s, not %s", id, s.head())
	}
	if got := connect("bye"); strings.Contains(got, `"reason"`) || !strings.Contains(got, "bye") {
		s.Errorf("the reader gets a second gap, or no text: %s", got)
	}
}
