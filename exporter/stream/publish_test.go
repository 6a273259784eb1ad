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
	of := func(isInternal bool, k event.Kind) event.Batch {
		return event.Batch{WorkLeft: true, Internal: isInternal, Events: []event.Event{{Kind: k}}}
	}
	for name, c := range map[string]struct {
		batches []event.Batch
		end     event.End
		want    event.End
	}{
		"work left":                              {[]event.Batch{shown}, event.EndOfStream, event.EndUnfinished},
		"no work left":                           {[]event.Batch{shown, {}}, event.EndOfStream, event.EndOfStream},
		"work left by a withheld frame":          {[]event.Batch{{}, withheld(true)}, event.EndOfStream, event.EndUnfinished},
		"no work left, by a withheld frame":      {[]event.Batch{shown, withheld(false)}, event.EndOfStream, event.EndOfStream},
		"a question":                             {[]event.Batch{shown, of(false, event.KindInputRequested)}, event.EndOfStream, event.EndUnfinished},
		"an internal question":                   {[]event.Batch{shown, of(true, event.KindInputRequested), shown}, event.EndOfStream, event.EndOfStream},
		"an internal question before all frames": {[]event.Batch{of(true, event.KindInputRequested), shown}, event.EndOfStream, event.EndOfStream},
		"an internal question of a run before":   {[]event.Batch{shown, of(true, event.KindInputRequested), of(false, event.KindRunStarted)}, event.EndOfStream, event.EndUnfinished},
		"another internal frame":                 {[]event.Batch{shown, of(true, event.KindText)}, event.EndOfStream, event.EndUnfinished},
		"an internal question, and a break":      {[]event.Batch{shown, of(true, event.KindInputRequested)}, event.EndBroken, event.EndBroken},
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

// TestOnlyWithheldFrames checks that the end of a stream is not published if no frame was.
func TestOnlyWithheldFrames(t *testing.T) {
	p := NewPublisher(filter.Settings{}, func(e replay.Entry) { t.Errorf("published: %+v", e) }, func(filter.Reason) {})
	s := &event.Stream{Source: "s"}
	p.Consume(&event.Batch{Stream: s, Internal: true})
	p.Close(s, event.EndOfStream, time.Time{})
}

// TestWithheldFailures checks that a failure is published in the words of its table if the frame itself is withheld. Otherwise readers of
// other formats would take the run for a completed one.
func TestWithheldFailures(t *testing.T) {
	for name, c := range map[string]struct {
		data     string
		batch    event.Batch
		settings filter.Settings
		want     string
	}{
		"of an unknown type":           {`{"type":"BadRequestError"}`, event.Batch{StreamError: true}, filter.Settings{}, "failed"},
		"internal":                     {`{}`, event.Batch{StreamError: true, Internal: true}, filter.Settings{}, "failed"},
		"unreadable":                   {`{`, event.Batch{Events: []event.Event{{Kind: event.KindError}}}, filter.Settings{}, "failed"},
		"internal, and ends its run":   {`{}`, event.Batch{Internal: true, Events: []event.Event{{Kind: event.KindRunEnded, Error: event.AgentError}}}, filter.Settings{}, "failed"},
		"internal, an error":           {`{}`, event.Batch{Internal: true, Events: []event.Event{{Kind: event.KindError, Error: event.AgentError}}}, filter.Settings{}, "failed"},
		"internal, an error within":    {`{}`, event.Batch{Internal: true, Events: []event.Event{{Kind: event.KindError, Error: event.AgentError, Inline: true}}}, filter.Settings{}, ""},
		"internal, and was canceled":   {`{}`, event.Batch{Internal: true, Events: []event.Event{{Kind: event.KindRunEnded, Error: event.FailureCanceled}}}, filter.Settings{}, ""},
		"unreadable, and no failure":   {`{`, event.Batch{}, filter.Settings{}, ""},
		"internal, and no failure":     {`{}`, event.Batch{Internal: true}, filter.Settings{}, ""},
		"of a kind that is not wanted": {`{}`, event.Batch{StreamError: true, Internal: true}, filter.Settings{Exclude: []event.Kind{event.KindError}}, ""},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			table := event.Table{Discriminators: []string{"type"}, FailureData: "failed", FailureType: "error", Namespaces: true, Types: map[string]event.Type{"t": {Client: true, Public: &event.Rule{AllowAny: true}}}}
			got, sseName, dropped := "", "", 0
			c.settings.Policy = policy
			p := NewPublisher(c.settings, func(e replay.Entry) { got, sseName = string(e.Data), e.Name }, func(filter.Reason) { dropped++ })
			b := c.batch
			b.Dialect, b.Type, b.Table, b.Stream, b.Frame = "d", "t", &table, &event.Stream{Source: "s"}, sse.Frame{Data: []byte(c.data)}
			b.Rejected = b.Parse(8)
			p.Consume(&b)
			if got != c.want || dropped != 1 || got != "" && sseName != "error" {
				t.Errorf("%s, %s: %q %q is published and %d frames are dropped, want %q", name, policy, sseName, got, dropped, c.want)
			}
		}
	}
}
