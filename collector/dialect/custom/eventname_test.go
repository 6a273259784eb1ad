package custom_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCallsOfEventNames checks that the result of a call leaves if SSE event names are the types of frames, unless the call was withheld.
func TestCallsOfEventNames(t *testing.T) {
	m := mapping()
	delete(m.Paths, custom.PathType)
	for start, want := range map[string]filter.Reason{
		`{"name":"pay","call":"c"}`:                   filter.Passed,
		`{"name":"pay","call":"c","kind":"internal"}`: filter.ReasonInternal,
	} {
		d, s := custom.New(m), &event.Stream{}
		decoder, client := d.New(s), filter.New(filter.Settings{Policy: event.PolicyClient})
		var why filter.Reason
		for _, f := range []sse.Frame{{Event: []byte("tool_started"), Data: []byte(start)}, {Event: []byte("tool_ended"), Data: []byte(`{"call":"c","result":"x"}`)}} {
			b := &event.Batch{}
			b.Begin(s, f, b.Received)
			b.Table = d.Table()
			malformed := b.Parse(32)
			decoder.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed}, b)
			_, why = client.Apply(b)
		}
		if why != want {
			t.Errorf("after the start %s, the end of the call is withheld for %q, want %q", start, why, want)
		}
	}
}
