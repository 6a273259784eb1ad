package metrics

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// driveStream has something of everything that happens on the external stream.
func driveStream(m *Metrics) {
	s := m.Stream()
	s.Observe(func() replay.Stats { return replay.Stats{Frames: 5, Bytes: 600} },
		func() access.Counts { return access.Counts{FailedReadings: 2, EvictedTickets: 3} })
	s.Subscribers(4)
	s.Sent(10)
	s.Sent(7)
	s.Kept(filter.Internal)
	s.Dropped(replay.TooLarge)
	s.Dropped(replay.TooLarge)
	s.Disconnected(stream.FellOff)
	s.Resumed(stream.Continued)
	s.Refused(stream.Full, stream.AnswerRetry)
	store := m.Store(s)
	store.Observe(busyStore{})
	store.Published()
	store.Repeated()
	store.Repeated()
	store.Retried()
	store.Dropped(jetstream.QueueFull)
	store.FeedGap(replay.Lost)
	store.FeedRetried()
	store.FrameDropped(replay.BadName)
}

// busyStore has something of everything.
type busyStore struct{}

func (busyStore) Queued() int     { return 4096 }
func (busyStore) Feeds() int      { return 6 }
func (busyStore) Connected() bool { return true }

// drivenStream has every metric of the external stream, with its series after driveStream.
var drivenStream = map[string][]string{
	"delegraph_stream_subscribers":                {" 4"},
	"delegraph_stream_replay_frames":              {" 5"},
	"delegraph_stream_replay_bytes":               {" 600"},
	"delegraph_stream_frames_sent_total":          {" 17"},
	"delegraph_stream_tokens_file_failures_total": {" 2"},
	"delegraph_stream_tickets_evicted_total":      {" 3"},
	"delegraph_stream_frames_dropped_total":       {`reason="bad_name" 1`, `reason="internal" 1`, `reason="too_large" 2`},
	"delegraph_stream_disconnects_total":          each("reason", texts(stream.Disconnects()), map[string]int{string(stream.FellOff): 1}),
	"delegraph_stream_resumes_total":              {`outcome="continued" 1`},
	"delegraph_stream_refusals_total":             {`answer="retry",reason="full" 1`},

	"delegraph_stream_store_published_total":       {" 1"},
	"delegraph_stream_store_repeated_total":        {" 2"},
	"delegraph_stream_store_publish_retries_total": {" 1"},
	"delegraph_stream_feed_retries_total":          {" 1"},
	"delegraph_stream_store_queue_bytes":           {" 4096"},
	"delegraph_stream_store_connected":             {" 1"},
	"delegraph_stream_feeds":                       {" 6"},
	"delegraph_stream_store_dropped_total":         each("reason", texts(jetstream.Drops()), map[string]int{string(jetstream.QueueFull): 1}),
	"delegraph_stream_feed_gaps_total":             {`reason="evicted" 0`, `reason="lost" 1`},
}

func texts[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

func each(label string, values []string, counts map[string]int) (out []string) {
	for _, v := range values {
		out = append(out, fmt.Sprintf("%s=%q %d", label, v, counts[v]))
	}
	slices.Sort(out)
	return out
}

// TestStream holds all series of the external stream against the table.
func TestStream(t *testing.T) {
	m, reg := newTest(10, 100)
	driveStream(m)
	for _, name := range slices.Sorted(maps.Keys(drivenStream)) {
		if diff := cmp.Diff(drivenStream[name], series(t, reg, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNoStream shows that there are no metrics of what is not there.
func TestNoStream(t *testing.T) {
	_, reg := newTest(10, 100)
	for name := range drivenStream {
		if got := series(t, reg, name); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
