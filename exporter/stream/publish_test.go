package stream

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestUnfinishedEnd checks that the end of a stream says whether the run has work left. The frame that shows it may be withheld.
func TestUnfinishedEnd(t *testing.T) {
	table := event.Table{Discriminators: []string{"type"}, Types: map[string]event.Type{"t": {Client: true}}}
	shown := event.Batch{WorkLeft: true}
	withheld := func(workLeft bool) event.Batch { return event.Batch{WorkLeft: workLeft, Internal: true} }
	for name, c := range map[string]struct {
		batches []event.Batch
		end     event.End
		want    event.End
	}{
		"work left":                              {[]event.Batch{shown}, event.EndOfStream, event.EndUnfinished},
		"no work left":                           {[]event.Batch{shown, {}}, event.EndOfStream, event.EndOfStream},
		"work left by a withheld frame":          {[]event.Batch{{}, withheld(true)}, event.EndOfStream, event.EndUnfinished},
		"no work left, by a withheld frame":      {[]event.Batch{shown, withheld(false)}, event.EndOfStream, event.EndOfStream},
		"a connection that breaks in the middle": {[]event.Batch{shown}, event.EndBroken, event.EndBroken},
	} {
		var got *replay.Entry
		p := NewPublisher(filter.Settings{Policy: event.PolicyClient}, func(e replay.Entry) { got = &e }, func(filter.Reason) {})
		s := &event.Stream{Source: "s"}
		for i := range c.batches {
			b := &c.batches[i]
			b.Dialect, b.Type, b.Table, b.Stream = "d", "t", &table, s
			b.Frame = sse.Frame{Data: []byte(`{"type":"t"}`)}
			if why := b.Parse(8); why != "" {
				t.Fatal(why)
			}
			p.Consume(b)
		}
		p.Close(s, c.end, time.Time{})
		if got == nil || !got.StreamEnded || got.End != c.want {
			t.Errorf("%s: %+v, want the end %d", name, got, c.want)
		}
	}
}
