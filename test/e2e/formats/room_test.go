package formats_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestFormatsForgetStreams reads more streams at once than a reader keeps decoders for. Evicted decoders are counted, and their
// streams are decoded again.
func TestFormatsForgetStreams(t *testing.T) {
	s := newServed(t, "client", 10_000)
	const streams = 1030
	pipeline := collector.New(collector.Dialects(), settings.Collector(config.Default()), s.sink)
	var decodings []*collector.StreamDecoder
	for i := range streams {
		text := fmt.Sprintf("data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t%d\",\"runId\":\"r%d\"}\n\ndata: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"assistant\"}\n\n", i, i) +
			"data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"hello\"}\n\ndata: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n"
		st := &event.Stream{Source: "s", Nonce: fmt.Sprint(i), SingleRun: true}
		s.sink.Open(st)
		decodings = append(decodings, pipeline.Decode(st, collector.Input{Reader: strings.NewReader(text), ReceivedAt: time.Now}, "agui"))
	}
	for range 4 { // in turns
		for _, d := range decodings {
			b, err := d.Next()
			if err != nil {
				t.Fatal(err)
			}
			s.sink.Consume(b)
		}
	}
	stream := s.read("format=normalized", 0)
	if n := strings.Count(string(stream), `"text":"hello","partial":false`); n != streams {
		t.Errorf("%d texts of %d are whole", n, streams)
	}
	if n := s.hub.EvictedDecoders(); n == 0 {
		t.Error("no decoder was forgotten")
	}
}

// TestFormatsWithoutRoom reads a stream where the memory budget has no room for more than a subscriber. Its frames are then written one
// by one.
func TestFormatsWithoutRoom(t *testing.T) {
	const file = "../../../collector/dialect/adk/adkserver/testdata/captures/python/text_and_tool.stream.sse"
	roomy := newServed(t, "public", 1000)
	roomy.play(file)
	for _, as := range format.Formats() {
		// Each format has its own memory: the reader before may not have left yet.
		full := newServedWithin(t, "public", 1000, budget.New(stream.SubscriberSize).Account("subscribers", 1, 1))
		full.play(file)
		want, got := harness.Frames(t, roomy.read("format="+string(as), 0)), harness.Frames(t, full.read("format="+string(as), 0))
		if len(want) == 0 || len(got) != len(want) {
			t.Errorf("%s: %d frames, want %d", as, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if !bytes.Equal(got[i].Data, want[i].Data) {
				t.Errorf("%s, frame %d: %s, want %s", as, i+1, got[i].Data, want[i].Data)
			}
		}
	}
}
