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

// driveStream sends one of everything that happens on the external stream.
func driveStream(m *Metrics) {
	s := m.Stream()
	s.Observe(func() replay.Stats { return replay.Stats{Frames: 5, Bytes: 600} },
		func() access.Counts { return access.Counts{FailedReloads: 2, EvictedTickets: 3} })
	s.SetSubscribers(4)
	s.CountSent(10)
	s.CountSent(7)
	s.CountWithheld(filter.ReasonInternal)
	s.CountDropped(replay.TooLarge)
	s.CountDropped(replay.TooLarge)
	s.CountDisconnect(stream.TooSlow)
	s.CountResume(stream.ResumeContinued)
	s.CountRefusal(stream.SubscriberLimit, stream.RetryResponse)
	store := m.Store(s)
	store.Observe(busyStore{})
	store.CountPublished()
	store.CountRepeated()
	store.CountRepeated()
	store.CountRetry()
	store.CountDropped(jetstream.QueueFull)
	store.CountFeedGap(replay.GapLost)
	store.CountFeedRetry()
	store.CountDroppedFeedFrame(replay.BadName)
}

// busyStore is a store with work.
type busyStore struct{}

func (busyStore) QueuedBytes() int   { return 4096 }
func (busyStore) QueueCapacity() int { return 8192 }
func (busyStore) OpenFeeds() int     { return 6 }
func (busyStore) Connected() bool    { return true }

// drivenStream has the series of every metric of the external stream after driveStream.
var drivenStream = map[string][]string{
	"delegraph_stream_subscribers":                {" 4"},
	"delegraph_stream_replay_frames":              {" 5"},
	"delegraph_stream_replay_bytes":               {" 600"},
	"delegraph_stream_frames_sent_total":          {" 17"},
	"delegraph_stream_tokens_file_failures_total": {" 2"},
	"delegraph_stream_tickets_evicted_total":      {" 3"},
	"delegraph_stream_frames_dropped_total":       {`reason="bad_name" 1`, `reason="internal" 1`, `reason="too_large" 2`},
	"delegraph_stream_disconnects_total":          each("reason", words(stream.Disconnects()), map[string]int{string(stream.TooSlow): 1}),
	"delegraph_stream_resumes_total":              {`outcome="continued" 1`},
	"delegraph_stream_refusals_total":             refused(map[string]int{`answer="retry",reason="full"`: 1}),

	"delegraph_stream_store_published_total":       {" 1"},
	"delegraph_stream_store_repeated_total":        {" 2"},
	"delegraph_stream_store_publish_retries_total": {" 1"},
	"delegraph_stream_feed_retries_total":          {" 1"},
	"delegraph_stream_store_queue_bytes":           {" 4096"},
	"delegraph_stream_store_queue_capacity_bytes":  {" 8192"},
	"delegraph_stream_store_connected":             {" 1"},
	"delegraph_stream_feeds":                       {" 6"},
	"delegraph_stream_store_dropped_total":         each("reason", words(jetstream.Drops()), map[string]int{string(jetstream.QueueFull): 1}),
	"delegraph_stream_feed_gaps_total":             {`reason="evicted" 0`, `reason="lost" 1`},
}

func each(label string, values []string, counts map[string]int) (out []string) {
	for _, v := range values {
		out = append(out, fmt.Sprintf("%s=%q %d", label, v, counts[v]))
	}
	slices.Sort(out)
	return out
}

// refused returns the series of refusals with these counts; all others are 0.
func refused(counts map[string]int) (out []string) {
	for _, answer := range words(stream.RefusalResponses()) {
		for _, reason := range words(stream.Refusals()) {
			labels := fmt.Sprintf("answer=%q,reason=%q", answer, reason)
			out = append(out, fmt.Sprintf("%s %d", labels, counts[labels]))
		}
	}
	slices.Sort(out)
	return out
}

// TestStream checks all series of the external stream.
func TestStream(t *testing.T) {
	m, reg := newTest(10, 100)
	driveStream(m)
	for _, name := range slices.Sorted(maps.Keys(drivenStream)) {
		if diff := cmp.Diff(drivenStream[name], series(t, reg, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNoStream checks that there are no metrics of an external stream that is not configured.
func TestNoStream(t *testing.T) {
	_, reg := newTest(10, 100)
	for name := range drivenStream {
		if got := series(t, reg, name); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
