package filter_test

import (
	"bytes"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestLineEnds checks that the public policy escapes the characters that some readers take for line
// ends, whether the agent escaped them or not.
func TestLineEnds(t *testing.T) {
	table := event.Table{Types: map[string]event.Type{"": {Public: &event.Rule{AllowAny: true}}}}
	want := `{"text":"a\u0085\u2028b\u2029c"}`
	for _, data := range []string{want, "{\"text\":\"a\u0085\u2028b\u2029c\"}"} {
		var doc strictjson.Doc
		b := decode(sse.Frame{Data: []byte(data)}, &table, &doc)
		frame, why := filter.New(filter.Settings{Policy: event.PolicyPublic}).Apply(b)
		if why != filter.Passed || !bytes.Equal(frame.Data, []byte(want)) {
			t.Errorf("Apply(%q) = %s, %q, want %s", data, frame.Data, why, want)
		}
	}
}
