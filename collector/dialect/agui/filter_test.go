package agui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/agui"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// withheld stands for the output of a withheld frame.
const withheld = "withheld"

// run starts a run.
const run = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`

// allSettings holds the most permissive settings of each policy.
var allSettings = []filter.Settings{
	{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, {Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed},
}

// filterFrames returns the filter's output for each frame: its data, or withheld.
func filterFrames(t *testing.T, s filter.Settings, sent ...string) (got []string) {
	t.Helper()
	f := filter.New(s)
	decodeEach(t, sent, func(b *event.Batch) {
		frame, why := f.Apply(b)
		if why != filter.Passed {
			got = append(got, withheld)
			return
		}
		got = append(got, string(frame.Data))
	})
	return got
}

func last(all []string) string { return all[len(all)-1] }

func decode(t *testing.T, sent string) (b *event.Batch) {
	t.Helper()
	decodeEach(t, []string{sent}, func(got *event.Batch) { b = got })
	return b
}

func decodeEach(t *testing.T, sent []string, each func(*event.Batch)) {
	t.Helper()
	decodeStream(t, &event.Stream{}, sent, each)
}

func decodeStream(t *testing.T, s *event.Stream, sent []string, each func(*event.Batch)) {
	t.Helper()
	var wire []byte
	for _, data := range sent {
		name, _, _ := strings.Cut(data, "{")
		f := sse.Frame{Event: []byte(name), Data: []byte(strings.TrimPrefix(data, name))}
		if !strings.Contains(data, "{") {
			f = sse.Frame{Data: []byte(data)}
		}
		if strings.HasPrefix(data, `{"error"`) {
			f.Event = []byte("error")
		}
		var err error
		if wire, err = sse.AppendFrame(wire, f); err != nil {
			t.Fatal(err)
		}
	}
	c := collector.New([]dialect.Dialect{agui.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	decoding := c.Decode(s, collector.Input{Reader: strings.NewReader(string(wire)), ReceivedAt: func() time.Time { return time.Time{} }}, "agui")
	for range sent {
		b, err := decoding.Next()
		if err != nil {
			t.Fatal(err)
		}
		each(b)
	}
}
